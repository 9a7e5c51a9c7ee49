import { describe, expect, test } from "vitest";
import { type Event, type EventKind, SessionId, TurnId } from "#protocol";
import { createOutbox } from "./outbox.ts";

const session = SessionId.from("0".repeat(26));
const turn = TurnId.from("0".repeat(26));

function delta(id: number, text = "x"): Event {
  const ts = "2026-01-01T00:00:00.000Z";
  return { id, kind: "TextDelta", session, ts, payload: { turn, step: 1, block: 0, text } };
}

function rig(limits: { readonly maxEvents?: number; readonly maxChars?: number } = {}) {
  const sent: { readonly kind: EventKind; readonly id: number; readonly payload: unknown }[] = [];
  const connection = { takes: true };
  const outbox = createOutbox({
    encode: (event) => JSON.stringify(event),
    send(piece) {
      sent.push(JSON.parse(piece) as Event);
      return connection.takes;
    },
    ...limits,
  });
  return { outbox, sent, connection, ids: () => sent.map(({ id }) => id) };
}

describe("an outbox", () => {
  test("passes on what the connection takes, in order", () => {
    const { outbox, ids, connection } = rig();
    outbox.push(delta(1));
    connection.takes = false;
    outbox.push(delta(2));
    outbox.push(delta(3));
    outbox.push(delta(4));
    expect(ids()).toEqual([1, 2]);
    connection.takes = true;
    outbox.drained();
    expect(ids()).toEqual([1, 2, 3, 4]);
  });

  test("of a client that never reads stays as small as it was", () => {
    const { outbox, sent, connection } = rig({ maxEvents: 10 });
    connection.takes = false;
    for (let id = 1; id <= 100_000; id++) {
      outbox.push(delta(id, "some text that would add up"));
      expect(outbox.waiting).toBeLessThanOrEqual(10);
    }
    expect(sent).toHaveLength(1);
  });

  test("tells exactly which events are missing, and goes on behind them", () => {
    const { outbox, sent, ids, connection } = rig({ maxEvents: 2 });
    connection.takes = false;
    for (let id = 1; id <= 6; id++) outbox.push(delta(id));
    connection.takes = true;
    outbox.drained();
    outbox.push(delta(7));
    expect(sent[1]).toMatchObject({ kind: "StreamGap", payload: { from: 2, to: 6, reason: "overflow" } });
    expect(ids()).toEqual([1, 6, 7]);
  });

  test("tells the gaps of each session apart", () => {
    const { outbox, sent, connection } = rig({ maxEvents: 2 });
    const other = SessionId.from("1".repeat(26));
    connection.takes = false;
    for (let id = 1; id <= 4; id++) {
      outbox.push(delta(id));
      outbox.push({ ...delta(id + 100), session: other });
    }
    connection.takes = true;
    outbox.drained();
    expect(sent.slice(1)).toMatchObject([
      { kind: "StreamGap", session: other, payload: { from: 101, to: 104 } },
      { kind: "StreamGap", session, payload: { from: 2, to: 4 } },
    ]);
  });

  test("counts characters, so that few large events do not pass for small", () => {
    const { outbox, sent, connection } = rig({ maxChars: 1000 });
    connection.takes = false;
    for (let id = 1; id <= 4; id++) outbox.push(delta(id, "y".repeat(400)));
    connection.takes = true;
    outbox.drained();
    expect(sent[1]).toMatchObject({ kind: "StreamGap", payload: { from: 2, to: 4 } });
  });

  test("is ready when nothing waits, and when it is closed", async () => {
    const { outbox, connection } = rig();
    await outbox.ready();
    connection.takes = false;
    outbox.push(delta(1));
    let ready = 0;
    const waiting = Promise.all([outbox.ready(), outbox.ready()]).then(() => (ready += 1));
    await Promise.resolve();
    expect(ready).toBe(0);
    outbox.close();
    await waiting;
    outbox.push(delta(2));
    expect(outbox.waiting).toBe(0);
  });
});
