/** What `--json` prints for a failure that no event of a session tells: one object without an id. */
import { type Reason, reasons } from "#protocol";

export function errorLine(reason: Reason, message: string): string {
  return JSON.stringify({ error: { reason, message, exit_code: reasons[reason].exit } });
}
