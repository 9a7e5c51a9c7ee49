/**
 * Ends a daemon. A process is signalled only when the mark of its start says that it is the one that called itself the daemon.
 */
import type { Clock } from "#base";
import { ReasonError } from "#protocol";
import { isSameProcess } from "#world";
import type { DaemonClaim } from "./claim.ts";
import type { DaemonState } from "./state.ts";

/** A daemon lets running turns end for ten seconds; then it has ended by itself. */
export const DRAIN_PATIENCE_MS = 12_000;
/** One that does not answer is not expected to end in an orderly way, but may. */
const HUNG_PATIENCE_MS = 2_000;
const KILL_PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 25;

/** A daemon that has a process here. */
export type FoundDaemon = DaemonState & { readonly claim: DaemonClaim };

/** SIGTERM lets it drain; what is still there after its time is killed. Rejects with DaemonFailed when it cannot be ended. */
export async function endDaemon(clock: Clock, state: FoundDaemon): Promise<"ended" | "killed"> {
  const { claim } = state;
  // One that is stopping would take a second one for an order to stop at once.
  if (state.kind !== "ending") signal(claim, "SIGTERM");
  // A stopped process takes its signals when it goes on.
  signal(claim, "SIGCONT");
  if (await isGone(clock, claim, isStuck(state) ? HUNG_PATIENCE_MS : DRAIN_PATIENCE_MS)) return "ended";
  signal(claim, "SIGKILL");
  if (await isGone(clock, claim, KILL_PATIENCE_MS)) return "killed";
  throw new ReasonError("DaemonFailed", `the process ${claim.pid} did not end, even after SIGKILL`);
}

/** Only to the very process that made the claim; one that has ended needs no signal. */
function signal({ pid, mark }: DaemonClaim, name: NodeJS.Signals): void {
  if (mark === "") {
    throw new ReasonError(
      "DaemonFailed",
      `this system cannot tell whether process ${pid} is the daemon. If it is, end it yourself: kill ${pid}`,
    );
  }
  if (!isSameProcess(pid, mark)) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended in this very moment.
    if (isSameProcess(pid, mark))
      throw new ReasonError("DaemonFailed", `the process ${pid} cannot be signalled: ${String(error)}`);
  }
}

export async function isGone(clock: Clock, { pid, mark }: DaemonClaim, patienceMs: number): Promise<boolean> {
  const startMs = clock.monotonicMs();
  while (isSameProcess(pid, mark)) {
    if (clock.monotonicMs() - startMs > patienceMs) return false;
    await clock.sleep(LOOK_EVERY_MS);
  }
  return true;
}

/** It will not drain: it does nothing at all. */
function isStuck(state: DaemonState): boolean {
  return (state.kind === "hung" && state.how !== "unreachable") || state.kind === "starting";
}
