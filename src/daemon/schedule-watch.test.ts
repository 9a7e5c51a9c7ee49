/** The daemon's part of schedules, on a clock that is moved by hand and a store on a real disk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SessionId } from "#protocol";
import { createScheduleStore, intervalTimes, type Schedule, type ScheduleStore, type TickRecord } from "#schedules";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { RUNS_AT_ONCE, type RunEnd, watchSchedules } from "./schedule-watch.ts";

const MINUTE_MS = 60_000;
const session = SessionId.from("0".repeat(26));
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function rig(names: readonly string[] = ["a"]) {
  const folder = mkdtempSync(join(tmpdir(), "schedules-"));
  folders.push(folder);
  const clock = createManualClock();
  const startMs = clock.now();
  const store = createScheduleStore({ directory: join(folder, "s"), key: () => Buffer.alloc(32, 1), clock });
  for (const name of names) await store.add(made(name, startMs));
  const seen: string[] = [];
  const failures: string[] = [];
  const open: ((end: RunEnd) => void)[] = [];
  const minute = (ms: number): number => (ms - startMs) / MINUTE_MS;
  const disk = { isFull: false };
  const change: ScheduleStore["change"] = async (...args) => {
    if (disk.isFull) throw new Error("no room");
    return store.change(...args);
  };
  const watch = () =>
    watchSchedules({
      clock,
      store: { ...store, change },
      async run(_schedule, onSession) {
        await onSession(session);
        return new Promise((resolve) => open.push(resolve));
      },
      onRecord: ({ name }, { tickMs, state, count }: TickRecord) =>
        void seen.push([name, minute(tickMs), state, ...(count === undefined ? [] : [count])].join(" ")),
      onFailure: (failure, schedule) => void failures.push(`${schedule}: ${String(failure)}`),
    });
  return { clock, store, watch, seen, failures, open, disk };
}

function made(name: string, createdMs: number): Schedule {
  const totals = { claimed: 0, missed: 0, lost: 0 };
  const times = intervalTimes("10m");
  return { name, times, prompt: "p", folder: "/f", createdMs, decidedMs: createdMs, records: [], totals };
}

test("runs a tick at its time, and what became of it is stored", async () => {
  const { clock, store, watch, seen, open } = await rig();
  const watching = watch();
  await clock.advance(9 * MINUTE_MS);
  expect([seen, watching.isAwaited()]).toEqual([[], true]);
  await clock.advance(2 * MINUTE_MS);
  expect(store.get("a").records).toMatchObject([{ state: "running", session }]);
  open[0]?.({ state: "done", session });
  await clock.advance(MINUTE_MS);
  expect(seen).toEqual(["a 10 claimed", "a 10 done"]);
  expect(store.get("a").records).toMatchObject([{ state: "done", session }]);
  watching.stop();
  await watching.settled();
  expect(clock.sleeping).toBe(0);
});

test("a daemon that begins reports what an earlier one left and what nobody ran", async () => {
  const { clock, watch, seen, store } = await rig();
  const first = watch();
  await clock.advance(10 * MINUTE_MS);
  // Killed: nothing of it is told any more, and its run never ends.
  first.stop();
  await clock.advance(35 * MINUTE_MS);
  const second = watch();
  await clock.advance(1_000);
  expect(seen).toEqual(["a 10 claimed", "a 10 lost", "a 20 missed 3"]);
  expect(store.get("a").totals).toEqual({ claimed: 1, missed: 3, lost: 1 });
  second.stop();
});

test("the end of a run that cannot be stored is tried again, and later ticks run", async () => {
  const { clock, watch, seen, open, failures, disk } = await rig();
  const watching = watch();
  await clock.advance(10 * MINUTE_MS);
  disk.isFull = true;
  open[0]?.({ state: "done", session });
  await clock.advance(MINUTE_MS);
  expect([seen, failures]).toEqual([["a 10 claimed"], ["a: Error: no room"]]);
  disk.isFull = false;
  await clock.advance(9 * MINUTE_MS);
  expect(seen).toEqual(["a 10 claimed", "a 10 done", "a 20 claimed"]);
  disk.isFull = true;
  open[1]?.({ state: "done", session });
  await clock.advance(1_000);
  watching.stop();
  await watching.settled();
});

test("a tick that cannot be claimed does not run; it is tried again while it is in time", async () => {
  const { clock, watch, seen, failures, disk } = await rig();
  disk.isFull = true;
  const watching = watch();
  await clock.advance(11 * MINUTE_MS);
  expect([seen, failures]).toEqual([[], ["a: Error: no room"]]);
  disk.isFull = false;
  await clock.advance(1_000);
  expect(seen).toEqual(["a 10 claimed"]);
  watching.stop();
});

test("so many runs work at a time, and the others wait for room", async () => {
  const names = Array.from({ length: RUNS_AT_ONCE + 1 }, (_, index) => `s${index}`);
  const { clock, watch, seen, open } = await rig(names);
  const watching = watch();
  await clock.advance(10 * MINUTE_MS + 1_000);
  expect(seen).toHaveLength(RUNS_AT_ONCE);
  open[0]?.({ state: "done", session });
  await clock.advance(2_000);
  expect(seen).toContain(`s${RUNS_AT_ONCE} 10 claimed`);
  watching.stop();
});

test("a wall clock that is set ahead misses ticks aloud, and one that is set back repeats none", async () => {
  const { clock, watch, seen, open } = await rig();
  const watching = watch();
  await clock.advance(10 * MINUTE_MS);
  open[0]?.({ state: "done", session });
  await clock.advance(MINUTE_MS);
  clock.stepWall(25 * MINUTE_MS);
  await clock.advance(MINUTE_MS);
  clock.stepWall(-25 * MINUTE_MS);
  await clock.advance(20 * MINUTE_MS);
  expect(seen).toEqual(["a 10 claimed", "a 10 done", "a 20 missed 2"]);
  await clock.advance(8 * MINUTE_MS + 1_000);
  expect(seen.at(-1)).toBe("a 40 claimed");
  watching.stop();
});

test("no tick of a schedule that was removed is run, and the daemon is not kept for it", async () => {
  const { clock, watch, seen, store } = await rig();
  const watching = watch();
  await clock.advance(MINUTE_MS);
  await store.remove("a");
  await clock.advance(20 * MINUTE_MS);
  expect([seen, watching.isAwaited()]).toEqual([[], false]);
  watching.stop();
});
