/**
 * The checkpoint of a turn, a moment after its end: nobody waits for the signature, and turns that end in quick succession
 * share one. What a crash keeps from being signed is signed by the next writer.
 */

/** Longer than a commit by far, shorter than anybody notices. */
export const CHECKPOINT_DELAY_MS = 50;

export interface DelayedCheckpoint {
  /** A turn has ended, durably. */
  turnEnded(): void;
  /** Nothing is signed by itself any more. */
  stop(): void;
}

/** `sign` signs the end of the chain and stores that. When it throws, the next end of a turn or the release tries again. */
export function createDelayedCheckpoint(sign: () => void): DelayedCheckpoint {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  return {
    turnEnded() {
      if (isStopped) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        try {
          sign();
        } catch {
          // The release signs the same, or fails as this did and tells.
        }
      }, CHECKPOINT_DELAY_MS);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
