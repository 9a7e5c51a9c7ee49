/** A clock that stands still until a test moves it; sleepers wake in the order of their deadlines. */
import type { Clock } from "#base";

export interface ManualClock extends Clock {
  /** Moves time forward on both clocks and lets everything that became due run. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock ahead or back, as an NTP correction does; the monotonic clock and sleepers do not notice. */
  stepWall(ms: number): void;
  /** How many sleepers wait. */
  readonly sleeping: number;
}

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = startMs;
  let stepMs = 0;
  let sleepers: { dueMs: number; wake: () => void }[] = [];
  return {
    now: () => nowMs + stepMs,
    monotonicMs: () => nowMs - startMs,
    uptimeMs: () => nowMs - startMs,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { dueMs: nowMs + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener(
          "abort",
          () => {
            sleepers = sleepers.filter((other) => other !== sleeper);
            resolve();
          },
          { once: true },
        );
      });
    },
    async advance(ms) {
      const target = nowMs + ms;
      await settle();
      for (;;) {
        const due = sleepers.filter((sleeper) => sleeper.dueMs <= target).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (due === undefined) break;
        nowMs = Math.max(nowMs, due.dueMs);
        sleepers = sleepers.filter((other) => other !== due);
        due.wake();
        await settle();
      }
      nowMs = target;
    },
    stepWall(ms) {
      stepMs += ms;
    },
    get sleeping() {
      return sleepers.length;
    },
  };
}

/** Lets pending promise callbacks and immediates run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
