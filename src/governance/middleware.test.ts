/** The smaller tool middlewares, each around a handler of the test's own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  compose,
  type EffectPorts,
  GET_PROMPT_TOOL,
  noServers,
  type ProcessPort,
  type ProcessSpec,
  READ_RESOURCE_TOOL,
  SAMPLE_TOOL,
} from "#base";
import type { CallResult, EventBus, Tool, ToolCall, ToolMiddleware } from "#engine";
import { CallId, ClientId, SessionId, TurnId } from "#protocol";
import { createSystemClock } from "#world";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { ALLOWED, createOpenGate, createUnwrittenLedger } from "../../test/fakes/passed-gate.ts";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createGate } from "./gate.ts";
import { createLedger } from "./ledger.ts";
import { createOutputLimit } from "./output-limit.ts";
import { createTimeLimit } from "./time-limit.ts";
import { createValidation } from "./validation.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const OK: CallResult = { content: [{ type: "text", text: "ok" }], outcome: "ok" };

function toolCall(
  change: Partial<Tool> = {},
  args: Record<string, unknown> = {},
  signal = new AbortController().signal,
) {
  const tool: Tool = {
    name: "t",
    label: "T",
    class: "mutating",
    description: "",
    parameters: { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false },
    run: async () => ({ content: [] }),
    ...change,
  };
  const call: ToolCall = {
    id: CallId.from(ULID),
    session: SessionId.from(ULID),
    turn: TurnId.from(ULID),
    step: 1,
    originator: ClientId.from(ULID),
    tool,
    args,
    signal,
    depth: 0,
    nesting: 0,
    judged: ALLOWED,
    progress: () => undefined,
    annotate: () => undefined,
  };
  return call;
}

describe("the time limit", () => {
  test("stops a call through its signal and says so", async () => {
    const clock = createManualClock();
    const limited = createTimeLimit(clock)(toolCall({ timeoutMs: 5000 }), ({ signal }) => {
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve({ ...OK, outcome: "cancelled" })));
    });
    await clock.advance(5000);
    expect(await limited).toMatchObject({ outcome: "timeout", reason: "ToolTimeout" });
  });

  test("leaves alone what ends in time, and does not hide a cancel", async () => {
    const clock = createManualClock();
    expect(await createTimeLimit(clock)(toolCall(), async () => OK)).toBe(OK);
    expect(clock.sleeping).toBe(0);
    const cancel = new AbortController();
    cancel.abort();
    const cancelled: CallResult = { ...OK, outcome: "cancelled" };
    expect(await createTimeLimit(clock)(toolCall({}, {}, cancel.signal), async () => cancelled)).toBe(cancelled);
  });
});

test("the output limit keeps head and tail, tells what is left out, and bounds the number of blocks", async () => {
  const text = `head${"x".repeat(1000)}tail`;
  const limited = await createOutputLimit(100)(toolCall(), async () => ({ ...OK, content: [{ type: "text", text }] }));
  expect(limited.content).toEqual([
    { type: "text", text: expect.stringMatching(/^head.*\n… 908 characters left out …\n.*tail$/s) },
  ]);
  const many = { ...OK, content: Array.from({ length: 500 }, () => ({ type: "text", text: "x" }) as const) };
  expect((await createOutputLimit()(toolCall(), async () => many)).content).toHaveLength(50);
});

describe("validation", () => {
  test("passes what matches the schema and refuses the rest with the field", async () => {
    const validation = createValidation();
    expect(await validation(toolCall({}, { n: 1 }), async () => OK)).toBe(OK);
    const refused = await validation(toolCall({}, { n: "one" }), async () => OK);
    expect(refused).toMatchObject({ outcome: "error", reason: "InvalidArguments" });
    expect(JSON.stringify(refused.content)).toContain("n:");
    const unknown = await validation(toolCall({}, { m: 1 }), async () => OK);
    expect(unknown).toMatchObject({ outcome: "error", reason: "InvalidArguments" });
  });
});

describe("the ledger", () => {
  test("records intent and outcome with hashes that do not depend on the order of keys", async () => {
    const recorded: [string, object][] = [];
    const ledger = ledgerOn(async (kind, payload) => void recorded.push([kind, payload]));
    await ledger(toolCall({}, { a: 1, b: { c: 2, d: 3 } }), async () => OK);
    await ledger(toolCall({}, { b: { d: 3, c: 2 }, a: 1 }), async () => OK);
    expect(recorded.map(([kind]) => kind)).toEqual(["ToolIntent", "ToolOutcome", "ToolIntent", "ToolOutcome"]);
    expect(recorded[0]).toEqual(recorded[2]);
    expect(recorded[0]?.[1]).toMatchObject({ args_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test.each(["mutating", "sensitive"] as const)(
    "a %s call whose intent cannot be recorded does not run",
    async (kind) => {
      let ran = false;
      const ledger = ledgerOn(() => Promise.reject(new Error("disk full")));
      const run = ledger(toolCall({ class: kind }), async () => {
        ran = true;
        return OK;
      });
      await expect(run).rejects.toThrow("disk full");
      expect(ran).toBe(false);
    },
  );
});

function ledgerOn(record: EventBus["publish"]): ToolMiddleware {
  const bus = { publish: record, publishSoon: record };
  return createLedger({ bus, clock: createSystemClock(), policyVersion: () => "v1" });
}

describe("the gate", () => {
  async function portsOf(change: Partial<Tool>, signal?: AbortSignal) {
    const workspace = createTemporaryWorkspace();
    workspace.put("a.txt", "a");
    let given: EffectPorts | undefined;
    let inside: Promise<unknown> = Promise.resolve();
    await compose<ToolCall, CallResult>(
      [createUnwrittenLedger(), createOpenGate(workspace.ports)],
      async ({ ports }) => {
        given = ports;
        inside = Promise.allSettled([
          ports?.files.read("a.txt", 10),
          ports?.files.write("b.txt", Buffer.from("b")),
          ports?.files.remove("a.txt", { recursive: false }),
          ports?.files.makeDirectory("made"),
        ]);
        await inside;
        return OK;
      },
    )(toolCall(change, {}, signal));
    const outcomes = (await inside) as PromiseSettledResult<unknown>[];
    return { given: given as EffectPorts, statuses: outcomes.map(({ status }) => status) };
  }

  test("hands a mutating call ports that work, and closes them when it has ended", async () => {
    const { given, statuses } = await portsOf({ class: "mutating" });
    expect(statuses).toEqual(["fulfilled", "fulfilled", "fulfilled", "fulfilled"]);
    await expect(given.files.read("a.txt", 10)).rejects.toMatchObject({ reason: "AccessDenied" });
    const spec = { file: "true", args: [], timeoutMs: 1000 };
    await expect(given.processes.run(spec, new AbortController().signal)).rejects.toMatchObject({
      reason: "AccessDenied",
    });
  });

  test.each(["read_only", "sensitive"] as const)("lets a %s call send nothing", async (toolClass) => {
    const { ports } = createTemporaryWorkspace();
    const gated = compose<ToolCall, CallResult>(
      [createUnwrittenLedger(), createOpenGate(ports)],
      async ({ ports: bound }) => {
        const post = { url: "http://127.0.0.1:1/", body: Buffer.from("x"), maxBytes: 1, timeoutMs: 1000 };
        await expect(bound?.web.post(post, new AbortController().signal)).rejects.toMatchObject({
          reason: "AccessDenied",
          message: expect.stringContaining("may not send data"),
        });
        return OK;
      },
    );
    await gated(toolCall({ class: toolClass }));
  });

  test.each(["read_only", "sensitive"] as const)("lets a %s call change no file", async (toolClass) => {
    expect((await portsOf({ class: toolClass })).statuses).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
  });

  test("has no effect after the outcome is written, whatever was under way", async () => {
    const { ports, root } = createTemporaryWorkspace();
    let late: Promise<unknown> | undefined;
    let judged: (() => void) | undefined;
    const gate = createGate({
      ports,
      clock: createSystemClock(),
      policyVersion: () => "v1",
      judgeEffect: () => new Promise((resolve) => (judged = () => resolve({}))),
      onNetwork: () => undefined,
      onRecall: () => undefined,
      isJudgedWhole: () => false,
    });
    const ledger = ledgerOn(async (kind) => (kind === "ToolOutcome" ? judged?.() : undefined));
    await compose<ToolCall, CallResult>([ledger, gate], async ({ ports: bound }) => {
      late = bound?.files.write("late.txt", Buffer.from("x"));
      late?.catch(() => undefined);
      return OK;
    })(toolCall({ class: "mutating" }));
    await expect(late).rejects.toMatchObject({ reason: "AccessDenied" });
    expect(existsSync(join(root, "late.txt"))).toBe(false);
  });

  test("takes no word of a tool for what holds its command", async () => {
    const { ports } = createTemporaryWorkspace();
    const started: ProcessSpec[] = [];
    const processes: ProcessPort = {
      async run(spec) {
        started.push(spec);
        return { code: 0, signal: null, ended: "exit", durationMs: 0 };
      },
    };
    for (const isWhole of [false, true]) {
      const gate = createGate({
        ports: { ...ports, processes },
        clock: createSystemClock(),
        policyVersion: () => "v1",
        judgeEffect: async () => ({ confinement: "workspace" }),
        onNetwork: () => undefined,
        onRecall: () => undefined,
        isJudgedWhole: () => isWhole,
      });
      await compose<ToolCall, CallResult>([ledgerOn(async () => undefined), gate], async ({ ports: bound }) => {
        const claims = { confinement: "outside", ownProgram: true, mayChangeSteering: true } as const;
        const spec = { file: "/bin/true", args: [], timeoutMs: 1000, ...claims };
        await bound?.processes.run(spec, new AbortController().signal);
        return OK;
      })(toolCall({ class: "mutating" }));
    }
    const plain = { file: "/bin/true", args: [], timeoutMs: 1000 };
    expect(started).toEqual([
      { ...plain, confinement: "workspace" },
      { ...plain, confinement: "reader" },
    ]);
  });

  test("lets a call reach the tool of a server that was judged, with its arguments, and nothing else", async () => {
    const { ports } = createTemporaryWorkspace();
    const reached: string[] = [];
    const gate = createGate({
      ports: {
        ...ports,
        servers: {
          ...noServers,
          async call({ server, tool }) {
            reached.push(`${server}/${tool}`);
            return { content: [], isError: false };
          },
          async read({ server, uri }) {
            reached.push(`${server} ${uri}`);
            return { content: [], isError: false };
          },
          async prompt({ server, prompt }) {
            reached.push(`${server} ${prompt}`);
            return { content: [], isError: false };
          },
        },
      },
      clock: createSystemClock(),
      policyVersion: () => "v1",
      judgeEffect: async () => ({}),
      onNetwork: () => undefined,
      onRecall: () => undefined,
      isJudgedWhole: () => true,
    });
    for (const name of ["mcp.notes.add", "notes.add"]) {
      const call = toolCall({ class: "mutating", name });
      await compose<ToolCall, CallResult>([ledgerOn(async () => undefined), gate], async ({ ports: bound, args }) => {
        const { signal } = new AbortController();
        const judged = { server: "notes", tool: "add", args, timeoutMs: 1000 };
        const others = [
          { ...judged, tool: "erase" },
          { ...judged, server: "mail" },
          { ...judged, args: { ...args } },
        ];
        for (const other of [...others, ...(name === "notes.add" ? [judged] : [])]) {
          await expect(bound?.servers.call(other, signal)).rejects.toMatchObject({ reason: "AccessDenied" });
        }
        if (name !== "notes.add") await bound?.servers.call(judged, signal);
        return OK;
      })(call);
    }
    expect(reached).toEqual(["notes/add"]);
    const reading = toolCall({ class: "sensitive", name: READ_RESOURCE_TOOL }, { server: "notes", uri: "n://1" });
    await compose<ToolCall, CallResult>([ledgerOn(async () => undefined), gate], async ({ ports: bound }) => {
      const { signal } = new AbortController();
      const judged = { server: "notes", uri: "n://1", timeoutMs: 1000 };
      for (const other of [
        { ...judged, uri: "n://2" },
        { ...judged, server: "mail" },
      ]) {
        await expect(bound?.servers.read(other, signal)).rejects.toMatchObject({ reason: "AccessDenied" });
      }
      await expect(bound?.servers.resources("notes", 1000, signal)).rejects.toMatchObject({ reason: "AccessDenied" });
      await bound?.servers.read(judged, signal);
      return OK;
    })(reading);
    const getting = { server: "notes", prompt: "review", arguments: { file: "a" } };
    const prompting = toolCall({ class: "sensitive", name: GET_PROMPT_TOOL }, getting);
    await compose<ToolCall, CallResult>([ledgerOn(async () => undefined), gate], async ({ ports: bound, args }) => {
      const { signal } = new AbortController();
      // The very arguments that were judged.
      const judged = { ...getting, args: args.arguments as Record<string, string>, timeoutMs: 1000 };
      for (const other of [
        { ...judged, prompt: "other" },
        { ...judged, server: "mail" },
        { ...judged, args: { file: "a" } },
      ]) {
        await expect(bound?.servers.prompt(other, signal)).rejects.toMatchObject({ reason: "AccessDenied" });
      }
      await bound?.servers.prompt(judged, signal);
      return OK;
    })(prompting);
    expect(reached).toEqual(["notes/add", "notes n://1", "notes review"]);
  });

  test("lets only the tool for it ask the model", async () => {
    const asked: string[] = [];
    const asking = createGate({
      ports: createTemporaryWorkspace().ports,
      clock: createSystemClock(),
      policyVersion: () => "v1",
      judgeEffect: async () => ({}),
      onNetwork: () => undefined,
      onRecall: () => undefined,
      isJudgedWhole: () => true,
      askModel: async (call) => {
        asked.push(call.tool.name);
        return { text: "Yes.", model: "fake:one", isCut: false };
      },
    });
    const question = { system: [], messages: [], maxTokens: 1 };
    for (const name of [SAMPLE_TOOL, "fs.read"]) {
      const call = toolCall({ class: "sensitive", name }, { server: "notes" });
      await compose<ToolCall, CallResult>([ledgerOn(async () => undefined), asking], async ({ ports: bound }) => {
        const answer = bound?.model?.ask(question, new AbortController().signal);
        if (name === SAMPLE_TOOL) expect(await answer).toMatchObject({ text: "Yes." });
        else await expect(answer).rejects.toMatchObject({ reason: "AccessDenied" });
        return OK;
      })(call);
    }
    expect(asked).toEqual([SAMPLE_TOOL]);
  });

  test("refuses once the call was cancelled", async () => {
    expect((await portsOf({}, AbortSignal.abort())).statuses).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  });
});
