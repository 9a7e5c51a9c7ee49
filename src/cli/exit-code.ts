/** How a turn reads as a process exit code: 0 an answer, 1 no answer, 2 configuration or usage, 130 cancelled. 3 is of `audit verify`: intact, but not the newest. */
import { ReasonError, reasons } from "#protocol";
import type { EndedTurn } from "./session-view.ts";

export type ExitCode = 0 | 1 | 2 | 3 | 130;

export function exitCodeOf({ outcome, reason }: Pick<EndedTurn, "outcome" | "reason">): ExitCode {
  if (outcome === "answered" || outcome === "yielded") return 0;
  if (outcome === "cancelled") return 130;
  return reason === undefined ? 1 : reasons[reason].exit;
}

/** For an error that ended a command: its reason's code, else 1. */
export function exitCodeOfError(error: unknown): ExitCode {
  return error instanceof ReasonError ? reasons[error.reason].exit : 1;
}
