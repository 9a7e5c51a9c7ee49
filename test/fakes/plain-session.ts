/** A session of the engine without tools, chains and redaction, and what the control needs around one. */
import type { LiveSession } from "#control";
import {
  createSession,
  createSessionCore,
  type EngineSession,
  type SessionCoreOptions,
  type SessionParts,
} from "#engine";
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
    begin: () => engine.begin(),
    release: async () => undefined,
    setPlanMode: async () => undefined,
    finish: async () => undefined,
    setContext: async () => undefined,
    rules: () => [],
    revokeRule: async () => undefined,
    promoteRule: async () => undefined,
    setModel: async () => undefined,
    restore: async () => undefined,
    ...change,
  };
}
