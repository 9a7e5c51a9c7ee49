/**
 * The daemon's part of schedules in a process that is killed. Its wall clock begins at the time that it is given. It stands still while
 * something is stored and jumps to the next time that somebody waits for, so that no tick is late because the machine is slow. Each
 * minute of it is printed. A run puts down its tick in a file, which only grows.
 */
import { appendFileSync } from "node:fs";
import { setImmediate as idle } from "node:timers/promises";
import { createScheduleStore, isOpen } from "#schedules";
import { createSystemClock } from "#world";
import { watchSchedules } from "../src/daemon/schedule-watch.ts";

const RUN_MS = 10_000;
const MINUTE_MS = 60_000;
const [directory = "", effects = "", startText = "0"] = process.argv.slice(2);

let nowMs = Number(startText);
let changing = 0;
const sleepers = new Set<{ readonly dueMs: number; readonly wake: () => void }>();
const clock = {
  now: () => nowMs,
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const sleeper = { dueMs: nowMs + ms, wake: resolve };
      sleepers.add(sleeper);
      signal?.addEventListener("abort", () => resolve(), { once: true });
    }),
};

const store = createScheduleStore({ directory, key: () => Buffer.alloc(32, 1), clock: createSystemClock() });
const watching = watchSchedules({
  clock,
  store: {
    ...store,
    async change(...args) {
      changing += 1;
      try {
        return await store.change(...args);
      } finally {
        changing -= 1;
      }
    },
  },
  async run({ name, records }) {
    appendFileSync(effects, `${name} ${records.findLast(isOpen)?.tickMs}\n`);
    await clock.sleep(RUN_MS);
    return { state: "done" };
  },
  onRecord: () => undefined,
  onFailure: (failure) => void process.stderr.write(`${String(failure)}\n`),
});
process.on("SIGTERM", () => {
  watching.stop();
  void watching.settled().then(() => process.exit(0));
});

for (let toldMs = 0; ; ) {
  if (nowMs >= toldMs + MINUTE_MS) {
    process.stdout.write(`${nowMs}\n`);
    toldMs = nowMs;
  }
  await idle();
  const [next] = [...sleepers].toSorted((a, b) => a.dueMs - b.dueMs);
  if (changing > 0 || next === undefined) continue;
  sleepers.delete(next);
  nowMs = Math.max(nowMs, next.dueMs);
  next.wake();
}
