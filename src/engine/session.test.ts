import { describe, expect, test } from "vitest";
import { createUlidFactory, type EffectPorts } from "#base";
import {
  createSession,
  createSessionCore,
  type EngineSession,
  type HookDispatcher,
  type RequestMiddleware,
  type SessionCoreOptions,
  type SessionParts,
  type Tool,
  textOutput,
} from "#engine";
import { ClientId, createIdMint, type Event, type EventKind, type EventOf, SessionId } from "#protocol";
import { createFakeProvider, done, type FakeResponse, says, text, toolCall } from "../../test/fakes/fake-provider.ts";
import { createFakeStore, type FakeStore } from "../../test/fakes/fake-store.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { noRedaction } from "../../test/fakes/no-redaction.ts";

const session = SessionId.from("0".repeat(26));
const client = ClientId.from("1".repeat(26));
const noPorts = {} as EffectPorts; // the tools below have no effects

interface Rig {
  readonly engine: EngineSession;
  readonly store: FakeStore;
  readonly provider: ReturnType<typeof createFakeProvider>;
  readonly seen: Event[];
  send(input?: string): ReturnType<EngineSession["send"]>["done"];
  kinds(): EventKind[];
  of<Kind extends EventKind>(kind: Kind): EventOf<Kind>["payload"][];
}

function rig(
  responses: FakeResponse[],
  options: Partial<SessionParts & SessionCoreOptions> & { tools?: Tool[] } = {},
): Rig {
  const clock = createManualClock();
  const store = createFakeStore();
  const provider = createFakeProvider(responses);
  const seen: Event[] = [];
  const history: RequestMiddleware = (call, next) =>
    next({ ...call, request: { ...call.request, messages: call.history } });
  const core = createSessionCore({
    redaction: noRedaction,
    id: session,
    clock,
    log: store.log(session),
    model: "fake:one",
    ...options,
  });
  const engine = createSession(core, {
    ids: createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } })),
    store,
    provider,
    requestChain: [history],
    toolChain: [(call, next) => next({ ...call, ports: noPorts })],
    toolSources: [{ name: "test", tools: () => options.tools ?? [] }],
    toolSettings: { execution: "auto", onError: "stop" },
    maxSteps: 5,
    subscribers: [(event) => seen.push(event)],
    ...options,
  });
  return {
    engine,
    store,
    provider,
    seen,
    send: (input = "hello") => engine.send(client, [{ type: "text", text: input }]).done,
    kinds: () => seen.map((event) => event.kind),
    of: (kind) => seen.filter((event) => event.kind === kind).map((event) => event.payload) as never,
  };
}

function tool(name: string, toolClass: Tool["class"], run: Tool["run"]): Tool {
  return { name, label: name, class: toolClass, description: "", parameters: { type: "object" }, run };
}

describe("a turn", () => {
  test("is bracketed by TurnStarted and TurnEnded and numbered by the log", async () => {
    const { send, seen, store } = rig([says(text("Hello "), text("there."))]);
    const summary = await send();
    expect(seen.map((event) => event.kind)).toEqual([
      "TurnStarted",
      "TextDelta",
      "CostIncremented",
      "TurnTiming",
      "TurnEnded",
    ]);
    expect(seen.map((event) => event.id)).toEqual([1, 2, 3, 4, 5]);
    expect(seen).toEqual(store.events);
    expect(seen.every((event) => event.originator === client)).toBe(true);
    expect(summary).toMatchObject({ outcome: "answered", steps: 1, costUsd: 0.001 });
  });

  test("merges deltas of one block that arrive together, and keeps blocks apart", async () => {
    const { send, of } = rig([says(text("a"), text("b"), text("c"), text("d", 1))]);
    await send();
    expect(of("TextDelta").map(({ block, text: merged }) => [block, merged])).toEqual([
      [0, "abc"],
      [1, "d"],
    ]);
  });

  test("feeds tool results back until the model answers", async () => {
    const echo = tool("echo", "read_only", async (args) => textOutput(`got ${String(args.word)}`));
    const { send, provider, of } = rig([says(toolCall("echo", { word: "x" })), says(text("done"))], { tools: [echo] });
    expect(await send()).toMatchObject({ outcome: "answered", steps: 2 });
    const [call] = of("ToolCallStarted");
    expect(provider.requests[1]?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "hello" }] },
      { role: "assistant", content: [{ type: "tool_use", id: call?.call_id, name: "echo", input: { word: "x" } }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: call?.call_id,
            content: [{ type: "text", text: "got x" }],
            is_error: false,
          },
        ],
      },
    ]);
  });

  test("stops at the step limit with an error that says so", async () => {
    const echo = tool("echo", "read_only", async () => textOutput("again"));
    const { send, of } = rig(
      Array.from({ length: 9 }, () => says(toolCall("echo", {}))),
      { tools: [echo], maxSteps: 3 },
    );
    expect(await send()).toMatchObject({ outcome: "step_limit", reason: "StepLimit", steps: 3 });
    expect(of("Error")).toMatchObject([{ reason: "StepLimit", terminal: true }]);
  });

  test("ends when the model yields, even with calls in the same response", async () => {
    const echo = tool("echo", "read_only", async () => textOutput("x"));
    const { send } = rig([says(toolCall("echo", {}), { type: "yield", block: 1 })], { tools: [echo] });
    expect(await send()).toMatchObject({ outcome: "yielded", steps: 1 });
  });

  test("refuses a second input while it runs, and accepts one afterwards", async () => {
    let release = (): void => undefined;
    const waits: FakeResponse = () => new Promise((resolve) => (release = () => resolve(done())));
    const { engine, send } = rig([waits, says(text("second"))]);
    const first = send();
    expect(() => engine.send(client, [{ type: "text", text: "more" }])).toThrowError(
      expect.objectContaining({ reason: "TurnInProgress" }),
    );
    await tick();
    release();
    await first;
    expect(await send("again")).toMatchObject({ outcome: "answered" });
  });

  test("a failing provider ends the turn with an Error, not the session", async () => {
    const failed: FakeResponse = () => ({ type: "failed", reason: "ProviderRefused", message: "no", retryable: false });
    const { send, of } = rig([failed, says(text("fine"))]);
    expect(await send()).toMatchObject({ outcome: "error", reason: "ProviderRefused", message: "no" });
    expect(of("Error")).toMatchObject([{ reason: "ProviderRefused", terminal: true }]);
    expect(await send()).toMatchObject({ outcome: "answered" });
  });

  test("a provider or middleware that throws is an InternalError of the turn", async () => {
    const throws: FakeResponse = () => {
      throw new Error("bug");
    };
    const { send, kinds } = rig([throws, says(text("fine"))]);
    expect(await send()).toMatchObject({ outcome: "error", reason: "InternalError" });
    expect(kinds().at(-1)).toBe("TurnEnded");
    expect(await send()).toMatchObject({ outcome: "answered" });
  });

  test("a retry voids what its step has written", async () => {
    const retried: FakeResponse = ({ emit }) => {
      emit(text("half an ans"));
      emit(toolCall("echo", {}, 1));
      emit({ type: "retrying", reason: "ProviderStreamCut", message: "cut", retryAfterMs: 5 });
      emit(text("whole answer"));
      return done();
    };
    const { send, provider, of } = rig([retried, says(text("ok"))]);
    expect(await send()).toMatchObject({ outcome: "answered" });
    expect(of("Error")).toMatchObject([{ reason: "ProviderStreamCut", terminal: false, retry_after_ms: 5, step: 1 }]);
    await send("next");
    expect(provider.requests[1]?.messages[1]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "whole answer" }],
    });
  });

  test("measures its timing", async () => {
    const clock = createManualClock();
    const slowTool = tool("slow", "mutating", async () => {
      await clock.advance(30);
      return textOutput("");
    });
    const slow: FakeResponse = async ({ emit }) => {
      await clock.advance(20);
      emit(toolCall("slow", {}));
      await clock.advance(10);
      return done("tool_calls");
    };
    const { send, of } = rig([slow, says(text("x"))], { clock, tools: [slowTool] });
    await send();
    expect(of("TurnTiming")).toMatchObject([
      { total_ms: 60, provider_ttfb_ms: 20, provider_total_ms: 30, tools: [{ name: "slow", duration_ms: 30 }] },
    ]);
  });

  test("the sum of the cost is unknown when one step has no price", async () => {
    const unpriced: FakeResponse = ({ emit }) => {
      emit(toolCall("echo", {}));
      const { costUsd: _, ...outcome } = done("tool_calls") as ReturnType<typeof done> & { costUsd?: number };
      return outcome;
    };
    const echo = tool("echo", "read_only", async () => textOutput("x"));
    const { send } = rig([unpriced, says(text("x"))], { tools: [echo] });
    expect(await send()).not.toHaveProperty("costUsd");
  });
});

describe("tool calls of one response", () => {
  /** Records when each call starts and ends. */
  function traced(name: string, toolClass: Tool["class"], trace: string[], fail = false): Tool {
    return tool(name, toolClass, async () => {
      trace.push(`+${name}`);
      await tick();
      trace.push(`-${name}`);
      if (fail) throw new Error(`${name} broke`);
      return textOutput(name);
    });
  }

  test("read-only ones run together, mutating ones alone and in order", async () => {
    const trace: string[] = [];
    const tools = [traced("r1", "read_only", trace), traced("r2", "read_only", trace), traced("m", "mutating", trace)];
    const calls = ["r1", "r2", "m", "r1", "m", "m"].map((name, block) => toolCall(name, {}, block));
    const { send, provider } = rig([says(...calls), says(text("x"))], { tools });
    await send();
    expect(trace).toEqual(["+r1", "+r2", "-r1", "-r2", "+m", "-m", "+r1", "-r1", "+m", "-m", "+m", "-m"]);
    const results = provider.requests[1]?.messages.at(-1)?.content;
    expect(results).toHaveLength(6);
  });

  test("after a failure later mutating calls are not executed, read-only ones are; each has a result", async () => {
    const trace: string[] = [];
    const tools = [
      traced("bad", "mutating", trace, true),
      traced("m", "mutating", trace),
      traced("r", "read_only", trace),
    ];
    const calls = ["bad", "m", "r", "m"].map((name, block) => toolCall(name, {}, block));
    const { send, of } = rig([says(...calls), says(text("x"))], { tools });
    await send();
    expect(trace).toEqual(["+bad", "-bad", "+r", "-r"]);
    expect(of("ToolResult").map(({ name, outcome, reason }) => [name, outcome, reason])).toEqual([
      ["bad", "error", "ToolFailed"],
      ["m", "not_executed", "NotExecuted"],
      ["r", "ok", undefined],
      ["m", "not_executed", "NotExecuted"],
    ]);
  });

  test("on_error: continue runs them all; sequential runs one at a time", async () => {
    const trace: string[] = [];
    const tools = [traced("bad", "mutating", trace, true), traced("r", "read_only", trace)];
    const calls = ["bad", "bad", "r", "r"].map((name, block) => toolCall(name, {}, block));
    const { send } = rig([says(...calls), says(text("x"))], {
      tools,
      toolSettings: { execution: "sequential", onError: "continue" },
    });
    await send();
    expect(trace).toEqual(["+bad", "-bad", "+bad", "-bad", "+r", "-r", "+r", "-r"]);
  });

  test("no more than eight run at the same time", async () => {
    let now = 0;
    let most = 0;
    const busy = tool("busy", "read_only", async () => {
      now += 1;
      most = Math.max(most, now);
      await tick();
      now -= 1;
      return textOutput("x");
    });
    const calls = Array.from({ length: 30 }, (_, block) => toolCall("busy", { block }, block));
    const { send, of } = rig([says(...calls), says(text("x"))], { tools: [busy] });
    await send();
    expect(of("ToolResult")).toHaveLength(30);
    expect(most).toBe(8);
  });

  test("arguments nested too deeply are refused before anything walks them", async () => {
    const echo = tool("echo", "read_only", async () => textOutput("x"));
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const { send, of } = rig([says(toolCall("echo", deep)), says(text("sorry"))], { tools: [echo] });
    expect(await send()).toMatchObject({ outcome: "answered" });
    expect(of("ToolResult")).toMatchObject([{ reason: "InvalidArguments", is_error: true }]);
  });

  test("an unknown tool and arguments that are not JSON are results the model can read", async () => {
    const echo = tool("echo", "read_only", async () => textOutput("x"));
    const { send, of } = rig(
      [says(toolCall("nope", {}), toolCall("echo", "{broken", 1), toolCall("echo", "[1]", 2)), says(text("sorry"))],
      { tools: [echo] },
    );
    expect(await send()).toMatchObject({ outcome: "answered" });
    const results = of("ToolResult").toSorted((a, b) => a.call_id.localeCompare(b.call_id));
    expect(results.map(({ reason, is_error }) => [reason, is_error])).toEqual([
      ["UnknownTool", true],
      ["InvalidArguments", true],
      ["InvalidArguments", true],
    ]);
    expect(of("ToolCallStarted")[1]).toMatchObject({ args: "{broken" });
  });

  test("a tool never runs when the intent of a mutating call cannot be stored", async () => {
    let ran = false;
    const write = tool("write", "mutating", async () => {
      ran = true;
      return textOutput("x");
    });
    const failing: FakeResponse = ({ emit }) => {
      emit(toolCall("write", {}));
      store.failWith = new Error("disk full");
      return done("tool_calls");
    };
    const { send, store } = rig([failing, says(text("ok"))], { tools: [write] });
    await expect(send()).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(ran).toBe(false);
    store.failWith = undefined;
    expect(await send()).toMatchObject({ outcome: "answered" });
  });
});

describe("cancel", () => {
  test("reaches the provider call", async () => {
    const waits: FakeResponse = ({ signal }) =>
      new Promise((resolve) => {
        const outcome = { type: "failed", reason: "Cancelled", message: "", retryable: false } as const;
        signal.addEventListener("abort", () => resolve(outcome));
      });
    const { engine, send, of } = rig([waits]);
    const running = send();
    await tick();
    engine.cancel({ reason: "user", by: client });
    expect(await running).toMatchObject({ outcome: "cancelled", reason: "Cancelled" });
    expect(of("Cancelled")).toMatchObject([{ reason: "user", by: client }]);
  });

  test("reaches running tools; calls after it are not run; the conversation stays legal", async () => {
    const hang = tool("hang", "mutating", (_args, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    });
    const { engine, send, of, provider } = rig(
      [says(toolCall("hang", {}), toolCall("hang", {}, 1)), says(text("ok"))],
      {
        tools: [hang],
      },
    );
    const running = send();
    await tick();
    engine.cancel({ reason: "user" });
    expect(await running).toMatchObject({ outcome: "cancelled" });
    expect(of("ToolResult").map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
    await send("go on");
    expect(provider.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("does nothing when idle", async () => {
    const { engine, kinds } = rig([]);
    engine.cancel({ reason: "user" });
    expect(kinds()).toEqual([]);
  });
});

describe("the store", () => {
  test("no subscriber sees an event that could not be stored; the turn stops", async () => {
    const streaming: FakeResponse = async ({ emit, signal }) => {
      store.failWith = new Error("disk full");
      emit(text("lost"));
      await tick();
      return signal.aborted ? { type: "failed", reason: "Cancelled", message: "", retryable: false } : done();
    };
    const { send, store, kinds } = rig([streaming]);
    await expect(send()).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(kinds()).toEqual(["TurnStarted"]);
  });

  test("a subscriber that throws is removed and told of; the others go on", async () => {
    const { engine, send, kinds } = rig([says(text("x")), says(text("y"))]);
    engine.bus.subscribe(() => {
      throw new Error("bad subscriber");
    });
    await send();
    await tick();
    expect(kinds().filter((kind) => kind === "Error")).toEqual(["Error"]);
    expect(await send()).toMatchObject({ outcome: "answered" });
  });

  test("SetModel takes effect at the next step and is recorded", async () => {
    const echo = tool("echo", "read_only", async () => {
      await engine.setModel("fake:two");
      return textOutput("x");
    });
    const { engine, send, provider, of } = rig([says(toolCall("echo", {})), says(text("x"))], { tools: [echo] });
    await send();
    expect(provider.requests.map(({ model }) => model)).toEqual(["fake:one", "fake:two"]);
    expect(of("ModelChanged")).toEqual([{ model: "fake:two", previous: "fake:one" }]);
  });
});

/** Lets everything that is already due happen. */
function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

describe("what is told of an input", () => {
  /** A log whose writes wait until they are let through. */
  function slowLog(store: FakeStore) {
    const gate = Promise.withResolvers<void>();
    const log = store.log(session);
    return {
      open: gate.resolve,
      log: {
        ...log,
        append: async (...batch: Parameters<typeof log.append>) => {
          await gate.promise;
          return log.append(...batch);
        },
      },
    };
  }

  test("is told when the log has it, and the session is taken before that", async () => {
    const kept = createFakeStore();
    const { log, open } = slowLog(kept);
    const { engine, provider } = rig([says(text("hi"))], { log });
    const { turn, recorded, done } = engine.send(client, [{ type: "text", text: "hello" }]);
    let isTold = false;
    void recorded.then(() => {
      isTold = true;
    });
    expect(engine.running?.turn).toBe(turn);
    expect(() => engine.send(client, [])).toThrowError(expect.objectContaining({ reason: "TurnInProgress" }));
    await tick();
    expect([isTold, provider.requests.length]).toEqual([false, 0]);
    open();
    await recorded;
    expect(kept.events[0]).toMatchObject({ kind: "TurnStarted", payload: { turn } });
    await done;
  });

  test("a log that does not take it: the sender gets the reason, no model is asked, the session is free", async () => {
    const { engine, store, provider, send } = rig([says(text("hi"))]);
    store.failWith = new Error("disk full");
    const { recorded, done } = engine.send(client, [{ type: "text", text: "hello" }]);
    await expect(recorded).rejects.toMatchObject({ reason: "StoreFailed" });
    expect([engine.running, provider.requests.length]).toEqual([undefined, 0]);
    await expect(done).rejects.toMatchObject({ reason: "StoreFailed" });
    store.failWith = undefined;
    expect(await send()).toMatchObject({ outcome: "answered" });
  });

  test("a log that does not take it: there is no turn, and the session is free for the next one", async () => {
    const { engine, store, kinds, send } = rig([says(text("hi"))]);
    store.failWith = new Error("busy");
    const { recorded, done } = engine.send(client, [{ type: "text", text: "hello" }]);
    await expect(recorded).rejects.toMatchObject({ reason: "StoreFailed" });
    await expect(done).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(kinds()).not.toContain("TurnEnded");
    store.failWith = undefined;
    expect(await send()).toMatchObject({ outcome: "answered" });
  });

  test("one that a hook refuses is on the record with its turn, and so is one that could not be looked at", async () => {
    const hooks: HookDispatcher = {
      idle: (event) => event !== "turn.start",
      dispatch: async () => ({ blocked: true, reason: "not now", hook: "guard", source: "guard.star:1" }),
    };
    const refused = rig([], { hooks });
    const first = refused.engine.send(client, [{ type: "text", text: "hello" }]);
    await first.recorded;
    expect(refused.of("TurnStarted")).toMatchObject([{ turn: first.turn }]);
    expect(await first.done).toMatchObject({ reason: "HookBlocked" });
    const broken = rig([], { beforeTurn: () => Promise.reject(new Error("no keys")) });
    const second = broken.engine.send(client, [{ type: "text", text: "hello" }]);
    await second.recorded;
    expect(broken.of("TurnEnded")).toMatchObject([{ turn: second.turn, outcome: "error" }]);
    expect(broken.kinds()).not.toContain("TurnStarted");
  });

  test("a model that could not be recorded is not used", async () => {
    const { engine, store } = rig([]);
    store.failWith = new Error("disk full");
    await expect(engine.setModel("fake:two")).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(engine.model).toBe("fake:one");
  });
});
