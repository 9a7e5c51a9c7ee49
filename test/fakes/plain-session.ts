/** A session of the engine without tools, chains and redaction, and what the control needs around one. */
import type { LiveSession } from "#control";
import { createSession, type EngineSession, type SessionParts } from "#engine";
import { noRedaction } from "./no-redaction.ts";

type Needed = "id" | "clock" | "ids" | "store" | "log" | "provider";

export function createPlainSession(parts: Pick<SessionParts, Needed> & Partial<SessionParts>): EngineSession {
  return createSession({
    redaction: noRedaction,
    model: "fake:one",
    requestChain: [],
    toolChain: () => ({ chain: [], last: async () => ({ content: [], outcome: "ok" }) }),
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
