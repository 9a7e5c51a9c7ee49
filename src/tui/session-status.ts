/** What the status line shows besides the conversation: what the session runs with, what is used of the context, and the cost. Pure. */
import { type Event, MODES, type ReplyOf, type SessionId, type Usage } from "#protocol";
import type { Effect } from "./effects.ts";

export type SessionFacts = ReplyOf<"DescribeSession">["result"];

export interface SessionStatus {
  /** Absent until it was asked for, and where the server cannot say. */
  readonly facts: SessionFacts | undefined;
  /** Of the newest model call: what it was sent and what it answered. */
  readonly contextTokens: number;
  /** Of the turn, by provider. */
  readonly turnCosts: ReadonlyMap<string, number>;
  readonly sessionCostUsd: number;
  /** Whether commands are confined; undefined before the first one. */
  readonly isSandboxed: boolean | undefined;
}

export const noStatus: SessionStatus = {
  facts: undefined,
  contextTokens: 0,
  turnCosts: new Map(),
  sessionCostUsd: 0,
  isSandboxed: undefined,
};

/** Events of delegates change nothing: they have contexts of their own. */
export function withStatusEvent(before: SessionStatus, event: Event, session: SessionId): SessionStatus {
  if (event.session !== session) return before;
  switch (event.kind) {
    case "TurnStarted":
      return { ...before, turnCosts: new Map() };
    case "CostIncremented": {
      const { provider, usage, cost_usd: cost = 0 } = event.payload;
      const turnCosts = new Map(before.turnCosts).set(provider, (before.turnCosts.get(provider) ?? 0) + cost);
      return { ...before, turnCosts, contextTokens: tokensOf(usage), sessionCostUsd: before.sessionCostUsd + cost };
    }
    case "TurnEnded": {
      const total = event.payload.session_total?.cost_usd;
      return total === undefined ? before : { ...before, sessionCostUsd: total };
    }
    case "ModeChanged": {
      const { facts } = before;
      return { ...before, facts: facts && { ...facts, mode: event.payload.mode } };
    }
    case "SandboxStatus":
      return { ...before, isSandboxed: event.payload.active };
    default:
      return before;
  }
}

const CHANGING: ReadonlySet<string> = new Set(["TurnEnded", "ModelChanged", "ModeChanged", "MCPServerDown"]);

/** Whether the facts may be others after it. */
export function changesFacts({ kind }: Event): boolean {
  return CHANGING.has(kind);
}

/** The modes in turn; none as long as it is not known which one the session has. */
export function nextMode({ facts }: SessionStatus): readonly Effect[] {
  if (facts === undefined) return [];
  const modes: readonly string[] = MODES;
  const mode = MODES[(modes.indexOf(facts.mode) + 1) % MODES.length] ?? "ask";
  return [{ type: "submit", command: { kind: "SetMode", mode } }];
}

function tokensOf({ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: Usage): number {
  return input_tokens + output_tokens + cache_read_tokens + cache_write_tokens;
}
