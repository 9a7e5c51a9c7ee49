import { describe, expect, test } from "vitest";
import { SessionId } from "#protocol";
import { createOutbox } from "./outbox.ts";

const one = SessionId.from("1".repeat(26));
const two = SessionId.from("2".repeat(26));
const never = new AbortController().signal;
const line = (text: string): string => `${text.padEnd(99, ".")}\n`;

/** A reader that takes one write at a time, when it is told to. */
function slowReader() {
  let taken = "";
  let next: (() => void) | undefined;
  return {
    write(text: string): Promise<void> {
      return new Promise((resolve) => {
        next = () => {
          taken += text;
          resolve();
        };
      });
    },
    async take(): Promise<void> {
      next?.();
      next = undefined;
      await new Promise(setImmediate);
    },
    lines: () => taken.split("\n").filter((text) => text !== ""),
  };
}

describe("outbox", () => {
  test("a reader that never reads costs no more than the bound; answers are kept", async () => {
    const outbox = createOutbox({ write: () => new Promise(() => undefined), maxBytes: 1000 });
    for (let id = 1; id <= 100_000; id++) outbox.notify(one, id, [line(`event ${id}`)]);
    outbox.answer(line("answer"));
    expect(outbox.waitingBytes).toBeLessThanOrEqual(1100);
    let waited = true;
    void outbox.room(never)?.then(() => {
      waited = false;
    });
    await new Promise(setImmediate);
    expect(waited).toBe(true);
  });

  test("a gap is told once there is room, with the events that are missing, each thread for itself", async () => {
    const reader = slowReader();
    const outbox = createOutbox({ write: reader.write, maxBytes: 1000 });
    for (let id = 1; id <= 30; id++) {
      outbox.notify(one, id, [line(`one ${id}`)]);
      if (id % 10 === 0) outbox.notify(two, id, [line(`two ${id}`)]);
    }
    await new Promise(setImmediate);
    await reader.take();
    outbox.notify(one, 31, [line("one 31")]);
    for (let i = 0; i < 5; i++) await reader.take();
    await outbox.drained();
    const told = reader.lines();
    expect(told.filter((text) => text.startsWith("one"))).toHaveLength(11);
    expect(told.at(-1)).toMatch(/^one 31/);
    const gaps = told.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text));
    expect(gaps).toEqual([
      { jsonrpc: "2.0", method: "stream.gap", params: { threadId: two, from: 10, to: 30, reason: "overflow" } },
      { jsonrpc: "2.0", method: "stream.gap", params: { threadId: one, from: 11, to: 30, reason: "overflow" } },
    ]);
  });

  test("the lines of an event are told together or not at all", async () => {
    const reader = slowReader();
    const outbox = createOutbox({ write: reader.write, maxBytes: 250 });
    outbox.notify(one, 1, [line("a"), line("b")]);
    outbox.notify(one, 2, [line("c"), line("d")]);
    await new Promise(setImmediate);
    for (let i = 0; i < 3; i++) await reader.take();
    expect(reader.lines().map((text) => text.slice(0, 1))).toEqual(["a", "b", "{"]);
  });

  test("an event larger than the bound is told to a reader that has nothing before it", async () => {
    const reader = slowReader();
    const outbox = createOutbox({ write: reader.write, maxBytes: 50 });
    outbox.notify(one, 1, [line("large")]);
    await new Promise(setImmediate);
    await reader.take();
    expect(reader.lines()).toHaveLength(1);
  });

  test("when nobody reads any more nothing is kept and nobody waits", async () => {
    let closed = 0;
    const outbox = createOutbox({
      write: () => Promise.reject(new Error("gone")),
      maxBytes: 100,
      onClosed: () => {
        closed += 1;
      },
    });
    for (let i = 0; i < 10; i++) outbox.answer(line("answer"));
    await outbox.room(never);
    await outbox.drained();
    outbox.answer(line("late"));
    expect({ closed, waiting: outbox.waitingBytes }).toEqual({ closed: 1, waiting: 0 });
  });

  test("who is in a hurry does not wait", async () => {
    const outbox = createOutbox({ write: () => new Promise(() => undefined), maxBytes: 100 });
    outbox.answer(line("answer"));
    const hurry = new AbortController();
    const waiting = outbox.room(hurry.signal);
    hurry.abort();
    await waiting;
  });
});
