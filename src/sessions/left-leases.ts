/**
 * Leases that this process has given up and whose end could not be stored: nobody writes under them any more. They are forgotten as
 * soon as the disk takes it, so that other processes can have the sessions; this one may have them at once.
 */

const RETRY_MS = 1_000;

export interface LeftLeases {
  /** Runs what ends the lease; when it throws, the lease is over here all the same. */
  leave(owner: string, end: () => void): void;
  has(owner: string): boolean;
}

/** `forget` takes the owner off its session, or throws; it is called again until it does not. */
export function createLeftLeases(forget: (owner: string) => void): LeftLeases {
  const owners = new Set<string>();
  let isWaiting = false;

  function tryLater(): void {
    if (isWaiting) return;
    isWaiting = true;
    // Nothing waits for it: with the end of the process its leases are over anyway.
    setTimeout(() => {
      isWaiting = false;
      try {
        for (const owner of owners) {
          forget(owner);
          owners.delete(owner);
        }
      } catch {
        tryLater(); // the disk still takes nothing
      }
    }, RETRY_MS).unref();
  }

  return {
    leave(owner, end) {
      try {
        end();
      } catch (error) {
        owners.add(owner);
        tryLater();
        throw error;
      }
    },
    has: (owner) => owners.has(owner),
  };
}
