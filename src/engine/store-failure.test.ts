/** A store that takes nothing for a while: the turn ends, what has happened is written when there is room, and work goes on. */
import { describe, expect, test } from "vitest";
import { createUlidFactory, type EffectPorts } from "#base";
import { createSession, createSessionCore, type EventDraft, type Tool, textOutput } from "#engine";
import { createLedger } from "#governance";
import { ClientId, createIdMint, type Event, SessionId } from "#protocol";
import { createFakeProvider, type FakeResponse, says, text, toolCall } from "../../test/fakes/fake-provider.ts";
import { createFakeStore } from "../../test/fakes/fake-store.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { noRedaction } from "../../test/fakes/no-redaction.ts";
import { OWED_RETRY_MS } from "./owed-events.ts";

const id = SessionId.from("0".repeat(26));
const client = ClientId.from("1".repeat(26));
const full = (): Error => Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
const disk: Tool = {
  name: "disk",
  label: "disk",
  class: "mutating",
  description: "",
  parameters: { type: "object" },
  run: async () => textOutput("changed"),
};

function rig(responses: FakeResponse[]) {
  const clock = createManualClock();
  const store = createFakeStore();
  const seen: Event[] = [];
  /** Which batches the disk does not take. */
  const state: { refuses?: ((drafts: readonly EventDraft[]) => boolean) | undefined } = {};
  const refused: string[][] = [];
  const timers = new Set<{ readonly action: () => void; readonly ms: number }>();
  const log = store.log(id);
  const core = createSessionCore({
    redaction: noRedaction,
    id,
    clock,
    model: "fake:one",
    log: {
      ...log,
      async append(drafts, now) {
        if (state.refuses?.(drafts) !== true) return log.append(drafts, now);
        refused.push(drafts.map(({ kind }) => kind));
        throw full();
      },
    },
    schedule(action, ms) {
      const entry = { action, ms };
      timers.add(entry);
      return () => timers.delete(entry);
    },
  });
  const engine = createSession(core, {
    ids: createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } })),
    store,
    provider: createFakeProvider(responses),
    requestChain: [(call, next) => next({ ...call, request: { ...call.request, messages: call.history } })],
    toolChain: [
      (call, next) => next({ ...call, judged: { effect: "allow", by: "rule", source: "test", why: "", trail: [] } }),
      createLedger({ bus: core.bus, clock, policyVersion: () => "1" }),
      (call, next) => next({ ...call, ports: {} as EffectPorts }), // the tool has no effects
    ],
    toolSources: [{ name: "test", tools: () => [disk] }],
    toolSettings: { execution: "auto", onError: "stop" },
    maxSteps: 5,
    subscribers: [(event) => seen.push(event)],
  });
  return {
    engine,
    store,
    state,
    refused,
    timers,
    kinds: () => seen.map(({ kind }) => kind),
    of: (kind: Event["kind"]) => seen.filter((event) => event.kind === kind).map(({ payload }) => payload),
    send: (input = "hello") => engine.send(client, [{ type: "text", text: input }]).done,
    /** As if the longest wait were over. */
    async wait() {
      for (const entry of [...timers]) {
        timers.delete(entry);
        entry.action();
      }
      for (let turns = 0; turns < 50; turns++) await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const holds =
  (kind: string) =>
  (drafts: readonly EventDraft[]): boolean =>
    drafts.some((draft) => draft.kind === kind);

describe("a disk that is full", () => {
  test("refuses an input whole: nothing of its turn is told or kept", async () => {
    const { send, state, store, kinds, timers } = rig([says(text("hi"))]);
    state.refuses = holds("TurnStarted");
    const failure = await send().catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: "StoreFailed" });
    // Said once.
    expect(String(failure).match(/could not be stored/g)).toHaveLength(1);
    expect(String(failure)).toMatch(/no space is left.*goes on by itself/);
    expect([kinds(), store.events, timers.size]).toEqual([[], [], 0]);
    state.refuses = undefined;
    expect(await send()).toMatchObject({ outcome: "answered" });
  });

  test("is no unhandled rejection for an input that nobody waits for", async () => {
    const { engine, state } = rig([]);
    state.refuses = () => true;
    const rejections: unknown[] = [];
    const note = (error: unknown): void => void rejections.push(error);
    process.on("unhandledRejection", note);
    engine.send(client, [{ type: "text", text: "hello" }]);
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
    expect(engine.running).toBeUndefined();
  });

  test("ends the turn; what a call did and how the turn ended are written when there is room", async () => {
    const { send, state, kinds, of, wait, store, timers } = rig([says(toolCall("disk", {})), says(text("unasked"))]);
    state.refuses = (drafts) => {
      if (!holds("ToolOutcome")(drafts)) return false;
      state.refuses = () => true;
      return true;
    };
    await expect(send()).rejects.toMatchObject({ reason: "StoreFailed" });
    const before = kinds();
    expect(before.slice(-2)).toEqual(["ToolCallStarted", "ToolIntent"]);
    await wait();
    expect(kinds()).toEqual(before);
    expect([...timers].map(({ ms }) => ms)).toEqual([OWED_RETRY_MS]);
    state.refuses = undefined;
    await wait();
    expect(kinds().slice(before.length)).toEqual(["ToolOutcome", "ToolResult", "Error", "TurnTiming", "TurnEnded"]);
    expect(of("ToolResult")).toMatchObject([{ outcome: "ok", content: [{ text: "changed" }] }]);
    expect(of("Error")).toMatchObject([{ reason: "StoreFailed", terminal: true }]);
    expect(of("TurnEnded")).toMatchObject([{ outcome: "error", reason: "StoreFailed" }]);
    expect(store.events.map((event) => event.id)).toEqual(store.events.map((_, index) => index + 1));
    expect(timers.size).toBe(0);
  });

  test("that has room again for the next input only writes first what it owes", async () => {
    const { send, state, kinds } = rig([says(text("one")), says(text("two"))]);
    state.refuses = holds("TurnEnded");
    await expect(send()).rejects.toMatchObject({ reason: "StoreFailed" });
    state.refuses = undefined;
    expect(await send()).toMatchObject({ outcome: "answered" });
    expect(kinds().filter((kind) => /^Turn(?:Started|Ended)$/.test(kind))).toEqual([
      "TurnStarted",
      "TurnEnded",
      "TurnStarted",
      "TurnEnded",
    ]);
  });

  test("that lost text in one turn does not end the next one", async () => {
    const { engine, send, state, of, wait } = rig([says(toolCall("disk", {})), says(text("two"))]);
    state.refuses = () => of("ToolIntent").length > 0;
    engine.bus.subscribe(({ kind, payload }) => {
      if (kind !== "ToolIntent") return;
      const { turn, call_id } = payload;
      // What the call prints, which nobody waits for; then time passes.
      engine.bus.publishDelta({ kind: "ToolCallProgress", payload: { turn, call_id, text: "printed" } });
    });
    await expect(send()).rejects.toMatchObject({ reason: "StoreFailed" });
    state.refuses = undefined;
    await wait();
    expect(await send()).toMatchObject({ outcome: "answered" });
    expect(of("Error")).toHaveLength(1);
  });

  test("keeps an input that waits: its turn begins by itself when there is room", async () => {
    const { engine, state, kinds, of, wait } = rig([says(text("one")), says(text("two"))]);
    await engine.queue(client, [{ type: "text", text: "first" }]);
    await wait();
    state.refuses = holds("TurnStarted");
    await engine.queue(client, [{ type: "text", text: "second" }]);
    await wait();
    await wait();
    expect(of("TurnStarted")).toHaveLength(1);
    state.refuses = undefined;
    await wait();
    expect(of("TurnStarted")).toMatchObject([{}, { content: [{ text: "second" }] }]);
    expect(kinds().filter((kind) => kind === "TurnEnded")).toHaveLength(2);
  });

  test("is not asked again once the session lets its log go", async () => {
    const { engine, send, state, wait, refused, timers } = rig([says(text("one"))]);
    state.refuses = holds("TurnEnded");
    await expect(send()).rejects.toMatchObject({ reason: "StoreFailed" });
    await engine.settled();
    const tries = refused.length;
    state.refuses = undefined;
    await wait();
    expect([refused.length, timers.size]).toEqual([tries, 0]);
  });

  test("changes nothing that the log does not have: the model stays", async () => {
    const { engine, state } = rig([]);
    state.refuses = () => true;
    await expect(engine.setModel("fake:two")).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(engine.model).toBe("fake:one");
  });
});

test("what the store will never take is not tried again", async () => {
  const { send, store, timers, wait, kinds } = rig([says(text("one")), says(text("two"))]);
  const first = send();
  await Promise.resolve();
  store.failWith = new Error("the payload is too long");
  await expect(first).rejects.toMatchObject({ reason: "StoreFailed" });
  store.failWith = undefined;
  expect(timers.size).toBe(0);
  await wait();
  expect(await send()).toMatchObject({ outcome: "answered" });
  expect(kinds().filter((kind) => kind === "TurnEnded")).toHaveLength(1);
});
