/**
 * Leases that this process has given up and whose end could not be stored: nobody writes under them any more. Their end is tried again
 * until the disk takes it, so that other processes can have the sessions; this one may have them at once.
 */

const RETRY_MS = 1_000;

export interface LeftLeases {
  /** Runs what ends the lease; when it throws, the lease is over here all the same, and `end` is called again later. */
  leave(owner: string, end: () => void): void;
  has(owner: string): boolean;
}

/** `isOpen`: whether there is still a store to tell. `schedule` calls back after a while; default: a timer. */
export function createLeftLeases(
  isOpen: () => boolean,
  schedule: (action: () => void, ms: number) => void = unreferencedTimer,
): LeftLeases {
  const ends = new Map<string, () => void>();
  let isWaiting = false;

  function tryLater(): void {
    if (isWaiting) return;
    isWaiting = true;
    schedule(() => {
      isWaiting = false;
      if (!isOpen()) return;
      try {
        for (const [owner, end] of ends) {
          end();
          ends.delete(owner);
        }
      } catch {
        tryLater(); // the disk still takes nothing
      }
    }, RETRY_MS);
  }

  return {
    leave(owner, end) {
      try {
        end();
      } catch (error) {
        ends.set(owner, end);
        tryLater();
        throw error;
      }
    },
    has: (owner) => ends.has(owner),
  };
}

/** The process does not wait for it: with its end its leases are over anyway. */
function unreferencedTimer(action: () => void, ms: number): void {
  setTimeout(action, ms).unref();
}
