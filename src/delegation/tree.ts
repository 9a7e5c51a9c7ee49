/** All delegates that work now below one root: how many there are, and one way to stop them all. */
import type { CancelCause } from "#engine";

export interface DelegationTree {
  readonly count: number;
  /** False when `max` work already. Whoever takes a place gives it back. */
  take(max: number): boolean;
  giveBack(): void;
  /** Until the returned function is called. */
  watch(stop: (cause: CancelCause) => void): () => void;
  stopAll(cause: CancelCause): void;
}

export function createDelegationTree(): DelegationTree {
  let count = 0;
  const running = new Set<(cause: CancelCause) => void>();
  return {
    get count() {
      return count;
    },
    take(max) {
      if (count >= max) return false;
      count += 1;
      return true;
    },
    giveBack() {
      count -= 1;
    },
    watch(stop) {
      running.add(stop);
      return () => void running.delete(stop);
    },
    stopAll(cause) {
      for (const stop of [...running]) stop(cause);
    },
  };
}
