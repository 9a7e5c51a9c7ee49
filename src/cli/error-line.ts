/** What `--json` prints for a failure that no event of a session tells: one object without an id. */
import { fileErrorText } from "#base";
import { type Reason, ReasonError, reasons } from "#protocol";

export function errorLine(reason: Reason, message: string): string {
  return JSON.stringify({ error: { reason, message, exit_code: reasons[reason].exit } });
}

/** An error of the file system that nobody has put into words is told as such; every other one stays what it is. */
export function withReason(thrown: unknown): unknown {
  const detail = thrown instanceof ReasonError ? undefined : fileErrorText(thrown, "a file");
  return detail === undefined ? thrown : new ReasonError("FileFailed", detail, { cause: thrown });
}

export function reasonOf(error: unknown): Reason {
  return error instanceof ReasonError ? error.reason : "InternalError";
}
