/**
 * The daemon's part of schedules in a process that is killed. Its wall clock begins at the time that it is given and runs so much faster
 * that a minute takes some milliseconds. A run puts down its tick in a file, which only grows.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { createScheduleStore, isOpen } from "#schedules";
import { createSystemClock } from "#world";
import { watchSchedules } from "../src/daemon/schedule-watch.ts";

const RUN_MS = 8;
const [directory = "", effects = "", startText = "0", minuteText = "40"] = process.argv.slice(2);
const faster = 60_000 / Number(minuteText);
const began = performance.now();
const clock = {
  ...createSystemClock(),
  now: () => Math.round(Number(startText) + (performance.now() - began) * faster),
  sleep: async (ms: number, signal?: AbortSignal) => {
    await after(Math.max(1, ms / faster), undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};
const store = createScheduleStore({ directory, key: () => Buffer.alloc(32, 1), clock: createSystemClock() });
const watching = watchSchedules({
  clock,
  store,
  async run({ name, records }) {
    appendFileSync(effects, `${name} ${records.findLast(isOpen)?.tickMs}\n`);
    await after(RUN_MS);
    return { state: "done" };
  },
  onRecord: () => undefined,
  onFailure: (failure) => void process.stderr.write(`${String(failure)}\n`),
});
process.on("SIGTERM", () => {
  watching.stop();
  void watching.settled().then(() => process.exit(0));
});
process.stdout.write("ready\n");
