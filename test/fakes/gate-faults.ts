/**
 * Faults on the way of a call to its effect, in the whole program: what records it, what judges it, who answers, which clock
 * it is measured with. Whatever breaks, the call must not have its effect.
 */
import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "#base";
import type { EventDraft, ModelCall, ModelOutcome, Plugin, Provider, SessionStore, ToolContext } from "#engine";
import type { Event, EventKind } from "#protocol";
import { createMemoryStore } from "#stores";
import { createSystemClock, createWorkspaceFiles } from "#world";
import { openMemoryHarness } from "./memory-harness.ts";

/** Made for one run; what is absent works. */
export interface Fault {
  readonly name: string;
  readonly store?: (store: SessionStore) => SessionStore;
  readonly clock?: (clock: Clock, armed: () => boolean) => Clock;
  readonly plugin?: Plugin;
  /** Done when the question is on the table; the rest of the answer is up to it. */
  readonly atQuestion?: (run: FaultRun) => Promise<void> | void;
  /** Instead of `allow_once`; undefined: nobody answers. */
  readonly decision?: unknown;
  /** What the tool does instead of writing with its ports. */
  readonly misuse?: (context: ToolContext, kept: ToolContext[]) => Promise<void>;
}

interface FaultRun {
  readonly root: string;
  submit(command: object): Promise<unknown>;
}

const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
const MARK = "effect.txt";

/** Runs one turn with one call that changes something; true when it had its effect. */
export async function runWithFault(fault: Fault, call: "mark" | "fs.write" | "exec" = "mark"): Promise<boolean> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-fault-")));
  const outside = join(root, "..", `${root.split("/").at(-1)}-outside`);
  const workspace = join(root, "workspace");
  createFolder(workspace);
  let armed = false;
  const clock = fault.clock?.(createSystemClock(), () => armed) ?? createSystemClock();
  const kept: ToolContext[] = [];
  const plugins: Plugin[] = [
    {
      name: "parts",
      register: (host) => {
        host.addProvider(oneCall(call));
        host.setStore((fault.store ?? ((store) => store))(createMemoryStore()));
      },
    },
    ...(fault.plugin === undefined ? [] : [fault.plugin]),
  ];
  const harness = await openMemoryHarness({
    clock,
    workspace,
    model: "fault:one",
    permissionTimeoutMs: 50,
    plugins,
    ...(call === "mark" ? { toolSources: [markTool(fault, kept)] } : {}),
  });
  const client = harness.control.connect({
    identityClass: "human",
    interactive: true,
    onEvent: (event) => void answer(event).catch(() => undefined),
  });
  const { session } = await client.submit({ kind: "CreateSession" });
  const submit = (command: object) => client.submit({ ...command, session } as never);

  async function answer(event: Event): Promise<void> {
    if (event.kind !== "PermissionRequested") return;
    armed = true;
    await fault.atQuestion?.({ root: workspace, submit });
    const decision = "decision" in fault ? fault.decision : "allow_once";
    if (decision !== undefined) await submit({ kind: "AnswerPermission", call_id: event.payload.call_id, decision });
  }

  try {
    const { done } = (await submit({ kind: "SendInput", content: [{ type: "text", text: "go" }] })) as {
      done?: Promise<unknown>;
    };
    await done?.catch(() => undefined);
    return existsSync(join(workspace, MARK)) || existsSync(join(outside, MARK));
  } finally {
    armed = false;
    await harness.shutdown().catch(() => undefined);
    rmSync(root, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
  }
}

function createFolder(path: string): void {
  process.getBuiltinModule("node:fs").mkdirSync(path, { recursive: true });
}

function markTool(fault: Fault, kept: ToolContext[]) {
  const tools = [
    {
      name: "mark",
      label: "Mark",
      class: "mutating" as const,
      description: "",
      parameters: { type: "object" },
      async run(_args: unknown, context: ToolContext) {
        if (fault.misuse === undefined) await context.ports.files.write(MARK, Buffer.from("x"));
        else await fault.misuse(context, kept);
        kept.push(context);
        return { content: [] };
      },
    },
  ];
  return { name: "marks", tools: () => tools };
}

/** Makes its one call at the first step, says something at the second. */
function oneCall(call: string): Provider {
  const args = { mark: {}, "fs.write": { path: MARK, content: "x" }, exec: { command: `touch ${MARK}` } }[call];
  return {
    name: "fault",
    async chat({ request, emit }: ModelCall): Promise<ModelOutcome> {
      const done = { type: "done", model: request.model, usage } as const;
      if (request.messages.length > 1) {
        emit({ type: "text", block: 0, text: "done" });
        return { ...done, stop: "end" };
      }
      emit({ type: "tool_call", block: 0, name: call, arguments: JSON.stringify(args) });
      return { ...done, stop: "tool_calls" };
    },
    models: async () => [],
    countTokens: () => 0,
  };
}

/** A store whose append goes wrong for events of one kind. */
function brokenRecord(kind: EventKind, how: (drafts: readonly EventDraft[]) => Promise<number>) {
  return (store: SessionStore): SessionStore => ({
    ...store,
    async acquire(id) {
      const log = await store.acquire(id);
      return {
        ...log,
        append: (drafts, now) => (drafts.some((draft) => draft.kind === kind) ? how(drafts) : log.append(drafts, now)),
      };
    },
  });
}

const recorded: readonly EventKind[] = [
  "ToolCallStarted",
  "CallJudged",
  "PermissionRequested",
  "PermissionAnswered",
  "ToolIntent",
];
const failures: Readonly<Record<string, () => Promise<number>>> = {
  "the disk is full": () => Promise.reject(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" })),
  "the file is gone": () => Promise.reject(Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" })),
  "the store crashes": () => {
    throw new TypeError("undefined is not a function");
  },
  "the store gives garbage": () => Promise.reject("garbage"),
};

const nonsense: readonly unknown[] = [
  "yes",
  "",
  null,
  1,
  true,
  {},
  [],
  "ALLOW_ONCE",
  "allow",
  "deny",
  "allow_once ",
  undefined,
];
const middlewares: Readonly<Record<string, Parameters<Parameters<Plugin["register"]>[0]["useTool"]>[0]>> = {
  "a middleware throws": async () => {
    throw new Error("crash");
  },
  "a middleware rejects with garbage": () => Promise.reject(undefined),
  "a middleware gives garbage": async () => ({ content: "?" }) as never,
  "a middleware changes the arguments to nonsense": (call, next) => next({ ...call, args: null as never }),
};

const clocks: Readonly<Record<string, (clock: Clock, armed: () => boolean) => Clock>> = {
  "monotonic time is not a number": (clock, armed) => ({
    ...clock,
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    monotonicMs: () => (armed() ? Number.NaN : clock.monotonicMs()),
  }),
  "wall time is not a number": (clock, armed) => ({ ...clock, now: () => (armed() ? Number.NaN : clock.now()) }),
  "wall time throws": (clock, armed) => ({
    ...clock,
    now: () => {
      if (armed()) throw new Error("no clock");
      return clock.now();
    },
  }),
};

const misuses: Readonly<Record<string, NonNullable<Fault["misuse"]>>> = {
  "ports are used after the call": async (context) => {
    setImmediate(() =>
      setTimeout(() => void context.ports.files.write(MARK, Buffer.from("x")).catch(() => undefined), 5),
    );
    await Promise.resolve();
  },
  "a path leads out through a link": async (context) => {
    symlinkSync("/tmp", join(context.ports.files.root, "out"));
    const files = createWorkspaceFiles(context.ports.files.root);
    await context.ports.files.write(`out/${MARK}`, Buffer.from("x")).catch(() => undefined);
    await files.write(`../${MARK}`, Buffer.from("x")).catch(() => undefined);
  },
};

/** Every fault once; a campaign goes through them again and again with each kind of call. */
export function allFaults(): Fault[] {
  const faults: Fault[] = [];
  for (const kind of recorded) {
    for (const [how, fail] of Object.entries(failures)) {
      faults.push({ name: `${how} at ${kind}`, store: brokenRecord(kind, fail) });
    }
  }
  for (const decision of nonsense) faults.push({ name: `the answer is ${JSON.stringify(decision)}`, decision });
  for (const [name, useTool] of Object.entries(middlewares)) {
    faults.push({ name, plugin: { name, register: (host) => host.useTool(useTool) } });
  }
  for (const [name, clock] of Object.entries(clocks)) faults.push({ name, clock });
  for (const [name, misuse] of Object.entries(misuses)) faults.push({ name, misuse });
  faults.push(
    {
      name: "plan mode begins while it waits",
      atQuestion: async ({ submit }) => void (await submit({ kind: "EnterPlanMode" })),
    },
    {
      name: "it is cancelled while it waits",
      atQuestion: async ({ submit }) => void (await submit({ kind: "CancelTurn" })),
    },
    { name: "the workspace is gone", atQuestion: ({ root }) => rmSync(root, { recursive: true }) },
  );
  return faults;
}
