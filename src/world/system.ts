/** The real clock and the real random source. The effect ports have files of their own. */
import { uptime } from "node:os";
import type { Clock, Random } from "#base";

/** The longest delay a Node timer takes; a longer sleep is slept in pieces. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    uptimeMs: () => uptime() * 1000,
    async sleep(ms, signal) {
      let restMs = ms;
      while (restMs > MAX_TIMER_MS && !signal?.aborted) {
        await pause(MAX_TIMER_MS, signal);
        restMs -= MAX_TIMER_MS;
      }
      await pause(restMs, signal);
    },
  };
}

export function createSystemRandom(): Random {
  return { bytes: (count) => process.getBuiltinModule("node:crypto").randomFillSync(new Uint8Array(count)) };
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
