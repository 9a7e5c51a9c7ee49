/** How a turn ends, and why it was stopped. */
import { messageOf } from "#base";
import { type ClientId, type EventPayload, type Reason, ReasonError, reasonText, type TurnOutcome } from "#protocol";

/** Why a turn's signal was aborted. */
export type CancelCause =
  | { readonly reason: "user" | "budget" | "shutdown" | "timeout" | "parent"; readonly by?: ClientId }
  | { readonly reason: "store"; readonly error: ReasonError };

export interface Ending {
  readonly outcome: TurnOutcome;
  readonly reason?: Reason;
  readonly message?: string;
  readonly cancelled?: Omit<EventPayload<"Cancelled">, "turn">;
}

/** Throws what stopped the turn when that was a store that failed. */
export function cancelledEnding(signal: AbortSignal): Ending {
  // Turn signals are aborted only by the session, always with a CancelCause.
  const cause = signal.reason as CancelCause;
  if (cause.reason === "store") throw cause.error;
  return { outcome: "cancelled", reason: "Cancelled", cancelled: cause };
}

/** Of a turn in which something was thrown. */
export function endingOf(cause: unknown): Ending {
  if (cause instanceof ReasonError) return { outcome: "error", reason: cause.reason, message: cause.message };
  const detail = messageOf(cause);
  return { outcome: "error", reason: "InternalError", message: reasonText("InternalError", { detail }) };
}
