/** A session of the engine without tools, chains and redaction, and what the control needs around one. */
import type { LiveSession } from "#control";
import {
  createSession,
  createSessionCore,
  createSlashRegistry,
  type EngineSession,
  type SessionCoreOptions,
  type SessionParts,
} from "#engine";
import type { ReplyOf, SessionId } from "#protocol";
import { noRedaction } from "./no-redaction.ts";

type Needed = Pick<SessionCoreOptions, "id" | "clock" | "log"> & Pick<SessionParts, "ids" | "store" | "provider">;

export function createPlainSession(parts: Needed & Partial<SessionParts & SessionCoreOptions>): EngineSession {
  return createSession(createSessionCore({ redaction: noRedaction, model: "fake:one", ...parts }), {
    requestChain: [],
    toolChain: [async () => ({ content: [], outcome: "ok" })],
    toolSources: [],
    toolSettings: { execution: "auto", onError: "stop" },
    maxSteps: 3,
    ...parts,
  });
}

/** Whatever a test does not name changes nothing. */
export function plainLiveSession(engine: EngineSession, change: Partial<LiveSession> = {}): LiveSession {
  return {
    engine,
    slash: createSlashRegistry([], {}),
    completeInput: async () => [],
    begin: () => engine.begin(),
    release: async () => undefined,
    takesImages: () => true,
    agreements: { setMode: nothing, approve: nothing, closePlan: nothing },
    work: () => ({ mode: "ask", todos: [], plan: undefined, jobs: 0, keptJobs: 0 }),
    finish: async () => undefined,
    setContext: async () => undefined,
    describe: async () => ({
      mode: "ask",
      sandbox: "auto",
      models: [],
      servers: [],
      hooks: [],
      jobs: [],
      todos: [],
      queued: [],
    }),
    describeAck: () => ({ file: "AGENTS.md" }),
    changes: async () => ({ changes: [], more: 0, unknown: [], interrupted: [] }),
    rules: () => [],
    revokeRule: async () => undefined,
    promoteRule: async () => undefined,
    setModel: async () => undefined,
    restore: async (command) => undoneNothing(engine.id, command.kind === "Redo" ? "redo" : "undo"),
    ...change,
  };
}

async function nothing(): Promise<void> {}

export function undoneNothing(session: SessionId, action: "undo" | "redo"): ReplyOf<"UndoTurn">["result"] {
  const nothing = {
    turns: [],
    calls: [],
    restored: [],
    conflicts: [],
    failed: [],
    kept: [],
    uncovered: [],
    leftOut: [],
  };
  return { action, outcome: "done", session, ...nothing, interrupted: [] };
}
