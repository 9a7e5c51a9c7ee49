/** The tool chain: what one call is, and what every middleware around it sees. Embeds no policy. */
import type { EffectPorts, Handler, Middleware } from "#base";
import type { CallId, CallOutcome, ClientId, Reason, SessionId, ToolOutputBlock, TurnId } from "#protocol";
import type { Tool } from "./tool.ts";

export interface ToolCall {
  readonly id: CallId;
  readonly session: SessionId;
  readonly turn: TurnId;
  readonly step: number;
  /** The client whose input started the turn. */
  readonly originator: ClientId;
  readonly tool: Tool;
  /** Validated against the tool's schema once past the validation middleware. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Aborts on cancel; middleware may narrow it (timeouts). */
  readonly signal: AbortSignal;
  /** Absent until the gate has bound them to this call. */
  readonly ports?: EffectPorts;
  progress(text: string): void;
}

export interface CallResult {
  readonly content: readonly ToolOutputBlock[];
  readonly outcome: CallOutcome;
  readonly reason?: Reason;
  readonly memoized?: boolean;
}

export type ToolHandler = Handler<ToolCall, CallResult>;
export type ToolMiddleware = Middleware<ToolCall, CallResult>;

/** A result that never reached the tool, or a failure of it, worded for the model. */
export function refusal(outcome: Exclude<CallOutcome, "ok">, reason: Reason, text: string): CallResult {
  return { content: [{ type: "text", text }], outcome, reason };
}
