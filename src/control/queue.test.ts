/** Inputs that wait and what a running turn is told: in the log first, delivered once, also over a restart. */

import { describe, expect, test } from "vitest";
import { createUlidFactory, defined } from "#base";
import { reopenSession } from "#engine";
import { type Command, createIdMint, type Event, SessionId, TokenId } from "#protocol";
import { createFakeProvider, done, type FakeResponse, says, text, toolCall } from "../../test/fakes/fake-provider.ts";
import { createFakeStore } from "../../test/fakes/fake-store.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createPlainSession, plainLiveSession } from "../../test/fakes/plain-session.ts";
import { createControl } from "./control.ts";

const id = SessionId.from("0".repeat(26));
const content = (value: string) => [{ type: "text" as const, text: value }];
const input = (value: string): Command => ({ kind: "SendInput", session: id, content: content(value) });
const queue = (value: string): Command => ({ kind: "QueueInput", session: id, content: content(value) });
const steer = (value: string): Command => ({ kind: "SteerTurn", session: id, content: content(value) });

/** Two of them on the same store are one program and the next. */
function program(store: ReturnType<typeof createFakeStore>, responses: FakeResponse[]) {
  const clock = createManualClock();
  const ids = createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } }));
  const provider = createFakeProvider(responses);
  const control = createControl({
    clock,
    ids,
    store: { ...store, update: async () => undefined },
    profile: "default",
    customHandlers: new Map(),
    async open(command) {
      const log = store.log(id);
      const earlier = command.resume === undefined ? undefined : await reopenSession(store, log, id);
      const engine = createPlainSession({
        id,
        clock,
        ids,
        store: { update: async () => undefined },
        log,
        provider,
        requestChain: [(call, next) => next({ ...call, request: { ...call.request, messages: [...call.history] } })],
        maxSteps: 4,
        ...defined({ earlier }),
      });
      return plainLiveSession(engine);
    },
  });
  const seen: Event[] = [];
  let wake = (): void => undefined;
  const client = control.connect({
    identityClass: "human",
    interactive: false,
    onEvent(event) {
      seen.push(event);
      wake();
    },
  });
  async function until(count: number, kind: Event["kind"]): Promise<void> {
    while (seen.filter((event) => event.kind === kind).length < count) {
      await new Promise<void>((resume) => {
        wake = resume;
      });
    }
  }
  const inputs = (): unknown[] =>
    seen
      .flatMap((event) => (event.kind === "TurnStarted" ? event.payload.content : []))
      .map((block) => Reflect.get(block, "text"));
  return { control, client, provider, seen, until, inputs };
}

describe("a queued input", () => {
  test("starts at once when nothing runs", async () => {
    const { client, until, inputs } = program(createFakeStore(), [says(text("one"))]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(queue("first"));
    await until(1, "TurnEnded");
    expect(inputs()).toEqual(["first"]);
  });

  test("waits for the turn before it, and the inputs keep their order", async () => {
    const gate = Promise.withResolvers<void>();
    const slow: FakeResponse = async ({ emit }) => {
      await gate.promise;
      emit(text("slow"));
      return done();
    };
    const { client, until, inputs, seen } = program(createFakeStore(), [slow, says(text("b")), says(text("c"))]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(input("a"));
    await client.submit(queue("b"));
    await client.submit(queue("c"));
    await expect(client.submit(input("d"))).rejects.toMatchObject({ reason: "TurnInProgress" });
    gate.resolve();
    await until(3, "TurnEnded");
    expect(inputs()).toEqual(["a", "b", "c"]);
    const queued = seen.filter(({ kind }) => kind === "InputQueued").map((event) => event.id);
    const delivered = seen.flatMap((event) => (event.kind === "TurnStarted" ? [event.payload.queued] : []));
    expect(delivered).toEqual([undefined, ...queued]);
  });

  test("that a person takes back never begins, also in the next program; those behind it do", async () => {
    const gate = Promise.withResolvers<void>();
    const slow: FakeResponse = async ({ emit }) => {
      await gate.promise;
      emit(text("slow"));
      return done();
    };
    const store = createFakeStore();
    const { client, until, inputs, seen } = program(store, [slow, says(text("c"))]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(input("a"));
    await client.submit(queue("b"));
    await client.submit(queue("c"));
    const [queued = 0] = seen.flatMap((event) => (event.kind === "InputQueued" ? [event.id] : []));
    const withdraw: Command = { kind: "WithdrawInput", session: id, queued };
    const both = await Promise.allSettled([client.submit(withdraw), client.submit(withdraw)]);
    expect(both).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { reason: "InputNotQueued" } }]);
    expect(seen.at(-1)).toMatchObject({
      kind: "InputRefused",
      payload: { queued, by: client.id, reason: "InputWithdrawn" },
    });
    gate.resolve();
    await until(2, "TurnEnded");
    expect(inputs()).toEqual(["a", "c"]);
    const later = program(store, []);
    await later.client.submit({ kind: "CreateSession", resume: id });
    await new Promise((resolve) => setImmediate(resolve));
    expect(later.inputs()).toEqual([]);
  });

  test("whose turn has begun can no longer be taken back", async () => {
    const never: FakeResponse = () => new Promise(() => undefined);
    const { client, until, seen } = program(createFakeStore(), [never]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(queue("a"));
    await until(1, "TurnStarted");
    const [queued = 0] = seen.flatMap((event) => (event.kind === "InputQueued" ? [event.id] : []));
    const withdraw: Command = { kind: "WithdrawInput", session: id, queued };
    await expect(client.submit(withdraw)).rejects.toMatchObject({ reason: "InputNotQueued" });
  });

  test("that came with a token does not begin where tokens cannot be looked up", async () => {
    const { control, client, until, seen } = program(createFakeStore(), [says(text("one"))]);
    await client.submit({ kind: "CreateSession" });
    const allowed = { ids: [TokenId.from("0".repeat(26))], until: "2999-01-01T00:00:00.000Z" };
    const remote = control.connect({ identityClass: "human", interactive: false, token: allowed });
    await remote.submit(queue("first"));
    await until(1, "InputRefused");
    await client.submit(queue("second"));
    await until(1, "TurnEnded");
    const told = seen.flatMap((event) => (/^Input|^TurnStarted/.test(event.kind) ? [event.payload] : []));
    expect(told).toMatchObject([
      { by: remote.id, allowed_by: allowed },
      { by: remote.id, queued: 1, reason: "TokenInvalid", message: expect.stringContaining("does not use tokens") },
      { by: client.id },
      { content: [{ text: "second" }] },
    ]);
  });

  test("is delivered once by the next program when this one stops before its turn", async () => {
    const store = createFakeStore();
    const never: FakeResponse = () => new Promise(() => undefined);
    const first = program(store, [never]);
    await first.client.submit({ kind: "CreateSession" });
    await first.client.submit(input("a"));
    await first.until(1, "TurnStarted");
    await first.client.submit(queue("b"));
    // The first program is gone here: it writes nothing any more.
    const second = program(store, [says(text("b"))]);
    await second.client.submit({ kind: "CreateSession", resume: id });
    await second.until(2, "TurnEnded");
    expect(second.inputs()).toEqual(["b"]);
    const third = program(store, []);
    await third.client.submit({ kind: "CreateSession", resume: id });
    await new Promise((resolve) => setImmediate(resolve));
    expect(third.inputs()).toEqual([]);
  });

  test("is refused when too many wait", async () => {
    const never: FakeResponse = () => new Promise(() => undefined);
    const { client } = program(createFakeStore(), [never]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(input("a"));
    for (let n = 0; n < 32; n++) await client.submit(queue(String(n)));
    await expect(client.submit(queue("one too many"))).rejects.toMatchObject({ reason: "QueueFull" });
  });
});

describe("steering", () => {
  test("reaches the model at the next step, behind what it was doing", async () => {
    const gate = Promise.withResolvers<void>();
    const working: FakeResponse = async ({ emit }) => {
      await gate.promise;
      emit(toolCall("nothing", {}));
      return done("tool_calls");
    };
    const { client, until, provider } = program(createFakeStore(), [working, says(text("done"))]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(input("a"));
    await until(1, "TurnStarted");
    await client.submit(steer("use tabs"));
    gate.resolve();
    await until(1, "TurnEnded");
    const last = provider.requests[1]?.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(last[2])).toContain("use tabs");
    expect(JSON.stringify(last[0])).not.toContain("use tabs");
  });

  test("keeps a turn going that was about to end", async () => {
    const gate = Promise.withResolvers<void>();
    const slow: FakeResponse = async ({ emit }) => {
      await gate.promise;
      emit(text("finished"));
      return done();
    };
    const { client, until, provider, seen } = program(createFakeStore(), [slow, says(text("again"))]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(input("a"));
    await until(1, "TurnStarted");
    await client.submit(steer("one more thing"));
    gate.resolve();
    await until(1, "TurnEnded");
    expect(provider.requests).toHaveLength(2);
    expect(seen.find(({ kind }) => kind === "TurnEnded")).toMatchObject({ payload: { steps: 2, outcome: "answered" } });
  });

  test("is refused when nothing runs", async () => {
    const { client } = program(createFakeStore(), []);
    await client.submit({ kind: "CreateSession" });
    await expect(client.submit(steer("hello?"))).rejects.toMatchObject({ reason: "NoTurnRunning" });
  });
});

describe("a session", () => {
  test("takes no input once it ends, and two ends are one", async () => {
    const { client, seen } = program(createFakeStore(), []);
    await client.submit({ kind: "CreateSession" });
    const ends = [1, 2].map(() => client.submit({ kind: "EndSession", session: id }));
    await expect(client.submit(input("too late"))).rejects.toMatchObject({ reason: "SessionClosed" });
    await Promise.all(ends);
    expect(seen.filter(({ kind }) => kind === "SessionEnded")).toHaveLength(1);
  });

  test("lets no turn begin while the program drains", async () => {
    const gate = Promise.withResolvers<void>();
    const slow: FakeResponse = async () => {
      await gate.promise;
      return done();
    };
    const { control, client } = program(createFakeStore(), [slow]);
    await client.submit({ kind: "CreateSession" });
    await client.submit(input("a"));
    expect(control.sessions()).toMatchObject([{ id, activity: "running", attached: 1 }]);
    const drained = control.drain();
    await expect(client.submit(queue("b"))).rejects.toMatchObject({ reason: "ShuttingDown" });
    gate.resolve();
    await drained;
    expect(control.sessions()).toMatchObject([{ activity: "idle" }]);
  });
});
