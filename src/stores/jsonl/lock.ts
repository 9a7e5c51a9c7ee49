/** One writer for the folder of a session. */
import { join } from "node:path";
import type { Clock } from "#base";
import { type FileLock, retryWaitMs, tryFileLock } from "#world";
import { LEASE_MS } from "../lease.ts";

/** Two that come at once may both see each other and step back; they try again after different waits. */
const ATTEMPTS = 6;
/** A changed time has to be synced with the events; this often is enough to stay within the lease. */
const RENEW_MS = LEASE_MS / 4;

/** A sign of life is due every now and then. Throws when the lock is gone. */
export type FolderLock = Pick<FileLock, "renew" | "release">;

/** The lock, or the owner who has it. */
export function lockFolder(folder: string, clock: Pick<Clock, "now">): FolderLock | { readonly heldBy: string } {
  for (let attempt = 1; ; attempt++) {
    const lock = tryFileLock(join(folder, "lock"), clock);
    if ("release" in lock) return renewedSeldom(lock, clock.now());
    if (lock.isSettled || attempt === ATTEMPTS) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryWaitMs());
  }
}

function renewedSeldom(lock: FileLock, takenMs: number): FolderLock {
  let renewedMs = takenMs;
  return {
    renew(nowMs) {
      // Also when the clock went backwards.
      if (Math.abs(nowMs - renewedMs) < RENEW_MS) lock.check();
      else {
        lock.renew(nowMs);
        renewedMs = nowMs;
      }
    },
    release: () => lock.release(),
  };
}
