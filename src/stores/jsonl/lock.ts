/** One writer for the folder of a session. */
import { join } from "node:path";
import type { Clock } from "#base";
import { type FileLock, retryWaitMs, tryFileLock } from "#world";

/** Two that come at once may both see each other and step back; they try again after different waits. */
const ATTEMPTS = 6;

export type FolderLock = Pick<FileLock, "check" | "renew" | "release">;

/** The lock, or the owner who has it. */
export function lockFolder(folder: string, clock: Pick<Clock, "now">): FolderLock | { readonly heldBy: string } {
  for (let attempt = 1; ; attempt++) {
    const lock = tryFileLock(join(folder, "lock"), clock);
    if ("release" in lock || lock.isSettled || attempt === ATTEMPTS) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryWaitMs());
  }
}
