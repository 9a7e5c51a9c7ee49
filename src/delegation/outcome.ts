/** What comes out of a delegation: for the parent, as JSON that is all it ever sees; for hooks and the log, with more. Pure. */
import { beginningOf, defined, endOf } from "#base";
import type { Attributes, CancelCause, TurnSummary } from "#engine";
import { type EventPayload, type Reason, reasonText, type SessionId } from "#protocol";
import type { WorktreeNote } from "./worktree.ts";

/** Of the answer of a delegate; what is longer is cut in the middle. */
const RESULT_MAX_CHARS = 50_000;
const ERROR_MAX_CHARS = 4_000;

export type DelegationStatus = EventPayload<"DelegationEnded">["status"];
export type VerifyOutcome = "passed" | "failed" | "skipped";

export interface Verification {
  readonly outcome: VerifyOutcome;
  /** How often the verifiers ran. */
  readonly attempts: number;
}

export interface DelegationOutcome {
  readonly status: DelegationStatus;
  readonly agent: string;
  readonly session: SessionId;
  /** Of a delegate that is done, and nothing else: what was not accepted is never told. */
  readonly result?: string;
  readonly reason?: Reason;
  readonly error?: string;
  readonly verification: Verification;
  /** What it left in a worktree of its own. */
  readonly worktree?: WorktreeNote;
  readonly toolCalls: number;
  readonly durationMs: number;
  readonly summary: Pick<TurnSummary, "steps" | "usage" | "costUsd" | "treeTotal">;
}

/** How the turn of a delegate reads as the end of a delegation. `stopped`: why it was cancelled, if it was. */
export function statusOf(
  summary: Pick<TurnSummary, "outcome" | "reason" | "message">,
  stopped: CancelCause | undefined,
): { readonly status: DelegationStatus; readonly reason?: Reason; readonly error?: string } {
  const { outcome, reason = "InternalError", message } = summary;
  if (outcome === "answered" || outcome === "yielded") return { status: "ok" };
  if (outcome !== "cancelled") {
    return { status: "failed", reason, error: beginningOf(message ?? reasonText(reason), ERROR_MAX_CHARS) };
  }
  switch (stopped?.reason) {
    case "timeout":
      return {
        status: "timeout",
        reason: "ToolTimeout",
        error: "The delegate reached its time limit and was stopped.",
      };
    case "budget":
      return { status: "failed", reason: "BudgetExceeded", error: "The budget is used up; the delegate was stopped." };
    case "parent":
      return {
        status: "cancelled",
        reason: "Cancelled",
        error: "The turn that started the delegate ended before the delegate finished.",
      };
    default:
      return { status: "cancelled", reason: "Cancelled", error: "The delegate was cancelled." };
  }
}

/** The one thing that reaches the context of the parent. */
export function resultText(outcome: DelegationOutcome): string {
  const { status, agent, session, result, reason, error, worktree, verification, toolCalls, durationMs, summary } =
    outcome;
  const { input_tokens, output_tokens } = summary.usage;
  const cut = result === undefined ? undefined : cutMiddle(result);
  return JSON.stringify({
    status,
    ...(agent === "" ? {} : { agent }),
    session,
    ...defined({ result: cut }),
    ...(cut === undefined || cut === result ? {} : { truncated: true }),
    ...defined({ reason, error, worktree }),
    verification,
    metrics: {
      steps: summary.steps,
      tool_calls: toolCalls,
      input_tokens,
      output_tokens,
      ...defined({ cost_usd: summary.costUsd }),
      duration_ms: Math.round(durationMs),
    },
  });
}

export function attributesOf(
  { agent, verification, toolCalls, status }: DelegationOutcome,
  facts: {
    readonly depth: number;
    readonly model: string;
    readonly task: string;
    readonly toolNames: readonly string[];
  },
): Attributes {
  return {
    "delegation.agent": agent,
    "delegation.kind": agent === "" ? "inline" : agent,
    "delegation.depth": facts.depth,
    "delegation.model": facts.model,
    "delegation.task_len": Buffer.byteLength(facts.task),
    "delegation.tools_count": facts.toolNames.length,
    "delegation.tool_calls": toolCalls,
    "delegation.status": status,
    "delegation.verify_attempts": verification.attempts,
    "delegation.verify_passed": verification.outcome === "passed",
    "delegation.verify_outcome": verification.outcome,
  };
}

export function cutMiddle(text: string, maxChars = RESULT_MAX_CHARS): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const [first, last] = [beginningOf(text, half), endOf(text, half)];
  return `${first}\n… ${text.length - first.length - last.length} characters left out …\n${last}`;
}
