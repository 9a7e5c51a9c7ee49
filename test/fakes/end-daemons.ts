/** Ends the daemons that a test has left running. */
import { join } from "node:path";
import { lockContenders, processPlace } from "#world";

/** What `daemon start` put into the background there. */
export function endDaemons(claims: string): void {
  const { pid: own } = process;
  const daemons = lockContenders(join(claims, `${processPlace()}.lock`)).filter(({ pid }) => pid !== own);
  for (const { pid } of daemons) process.kill(pid, "SIGKILL");
}
