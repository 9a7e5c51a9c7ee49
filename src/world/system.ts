/** The real clock and the real random source. The effect ports have files of their own. */
import { uptime } from "node:os";
import type { Clock, Random } from "#base";
import { sleep } from "./sleep.ts";

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    uptimeMs: () => uptime() * 1000,
    sleep,
  };
}

export function createSystemRandom(): Random {
  return { bytes: (count) => process.getBuiltinModule("node:crypto").randomFillSync(new Uint8Array(count)) };
}
