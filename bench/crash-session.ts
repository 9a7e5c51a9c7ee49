/**
 * A session of the real engine on a real store whose calls leave a mark on the disk, so that a call that ran twice or
 * without a record shows. Used by the crash campaign and by the test that fails at every commit.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createUlidFactory, type EffectPorts } from "#base";
import {
  createSession,
  createSessionCore,
  type EngineSession,
  type Provider,
  reopenSession,
  type SessionLog,
  type SessionStore,
  type Tool,
  textOutput,
} from "#engine";
import { createLedger } from "#governance";
import { ClientId, createIdMint, type Event, type EventOf, SessionId } from "#protocol";
import { createSystemClock, createSystemRandom } from "#world";
import { noRedaction } from "../test/fakes/no-redaction.ts";

export const CRASH_SESSION = SessionId.from("0".repeat(26));
export const CRASH_CLIENT = ClientId.from("1".repeat(26));
const READ_PAGE = 5000;
const MARK = "ran\n";

export interface CrashSessionOptions {
  readonly store: SessionStore;
  /** Folder with one file for each call that ran, one line for each time it did. */
  readonly marks: string;
  readonly onEvent: (event: Event) => void;
  /** Stands between the engine and its log. */
  readonly wrap?: (log: SessionLog) => SessionLog;
}

/** Takes the session, new or left behind; the caller runs its recovery. */
export async function openCrashSession(
  options: CrashSessionOptions,
): Promise<{ engine: EngineSession; log: SessionLog }> {
  const { store, marks } = options;
  const clock = createSystemClock();
  mkdirSync(marks, { recursive: true });
  if ((await store.get(CRASH_SESSION)) === undefined) {
    const createdAt = new Date(clock.now()).toISOString();
    await store.create({ id: CRASH_SESSION, workingDir: "/", profile: "default", model: "crash:one", createdAt });
  }
  const taken = await store.acquire(CRASH_SESSION);
  const log = options.wrap?.(taken) ?? taken;
  const core = createSessionCore({ id: CRASH_SESSION, clock, log, redaction: noRedaction, model: "crash:one" });
  const engine = createSession(core, {
    ids: createIdMint(createUlidFactory({ clock, random: createSystemRandom() })),
    store,
    provider: createBusyProvider(),
    requestChain: [],
    // The tools below have their effects at hand.
    toolChain: [
      (call, next) => next({ ...call, judged: { effect: "allow", by: "bench", why: "bench", trail: [] } }),
      createLedger({ bus: core.bus, clock, policyVersion: () => "bench" }),
      (call, next) => next({ ...call, ports: {} as EffectPorts }),
    ],
    toolSources: [
      { name: "marks", tools: () => [markTool(marks, "mark", "mutating"), markTool(marks, "look", "read_only")] },
    ],
    toolSettings: { execution: "auto", onError: "continue" },
    maxSteps: 10,
    earlier: await reopenSession(store, taken, CRASH_SESSION),
    subscribers: [options.onEvent],
  });
  return { engine, log: taken };
}

/** Two steps with calls of both kinds, then an answer. */
function createBusyProvider(): Provider {
  let asked = 0;
  return {
    name: "crash",
    async chat({ emit }) {
      asked += 1;
      emit({ type: "text", block: 0, text: `step ${asked} `.repeat(20) });
      const calls = asked % 3 === 0 ? [] : ["mark", "look", "mark"];
      calls.forEach((name, index) => {
        emit({ type: "tool_call", block: index + 1, name, arguments: `{"step":${asked}}` });
      });
      const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
      return { type: "done", model: "crash:one", stop: calls.length === 0 ? "end" : "tool_calls", usage };
    },
    models: async () => [],
    countTokens: () => 0,
  };
}

function markTool(marks: string, name: string, toolClass: Tool["class"]): Tool {
  return {
    name,
    label: name,
    class: toolClass,
    description: "Leaves a mark.",
    parameters: { type: "object" },
    async run(_, { callId }) {
      if (toolClass === "mutating") appendFileSync(join(marks, callId), MARK);
      return textOutput("ran");
    },
  };
}

export interface CrashVerdict {
  readonly events: number;
  readonly marks: number;
  /** Calls that ran more than once. */
  readonly twice: readonly string[];
  /** Calls that ran although the log does not know that they began. */
  readonly unrecorded: readonly string[];
  /** Mutating calls that wait for somebody's word. */
  readonly orphans: readonly string[];
  /** Begun and not ended by the events, but not told by `openCalls`, or the other way round. */
  readonly miscounted: readonly string[];
}

/** Reads log and marks after a crash. The writer must be gone. */
export async function judge(store: SessionStore, marks: string): Promise<CrashVerdict> {
  const events = await readAll(store);
  const intents = new Map(events.filter(isIntent).map((event) => [event.payload.call_id as string, event]));
  const ended = new Set(
    events.filter((event) => event.kind === "ToolOutcome").map((event): string => event.payload.call_id),
  );
  const open = [...intents.keys()].filter((id) => !ended.has(id));
  const log = await store.acquire(CRASH_SESSION);
  const told = (await log.openCalls()).map(({ payload }): string => payload.call_id);
  await log.release();
  const ran = readdirSync(marks);
  return {
    events: events.length,
    marks: ran.length,
    // A process killed between making the file and writing to it leaves an empty one.
    twice: ran.filter((id) => readFileSync(join(marks, id), "utf8").length > MARK.length),
    unrecorded: ran.filter((id) => !intents.has(id)),
    orphans: open.filter((id) => intents.get(id)?.payload.class === "mutating"),
    miscounted: [...open.filter((id) => !told.includes(id)), ...told.filter((id) => !open.includes(id))],
  };
}

function isIntent(event: Event): event is EventOf<"ToolIntent"> {
  return event.kind === "ToolIntent";
}

export async function readAll(store: SessionStore): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const page = await store.read(CRASH_SESSION, { after: events.at(-1)?.id ?? 0, limit: READ_PAGE });
    if (page.length === 0) return events;
    events.push(...page);
  }
}
