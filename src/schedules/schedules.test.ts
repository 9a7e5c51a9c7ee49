/** Ticks of a schedule, decided at moments that a test chooses: late, twice, over a clock that steps, and after a crash. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SessionId } from "#protocol";
import { LATE_MS } from "./decide.ts";
import { changeRun, decide, isOpen, loseOpen, type Schedule, scheduleRow, type TickRecord } from "./index.ts";
import { MAX_RECORDS } from "./schedule.ts";
import { cronTimes, intervalTimes, MAX_COUNTED_TICKS, nextTick, ticksBetween, timesText } from "./times.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const startMs = Date.UTC(2026, 0, 1);

function scheduled(times = intervalTimes("10m"), createdMs = startMs): Schedule {
  const totals = { claimed: 0, missed: 0, lost: 0 };
  return { name: "s", times, prompt: "p", folder: "/f", createdMs, decidedMs: createdMs, records: [], totals };
}

const at = (minutes: number, since = 0, hasRoom = true) => ({
  nowMs: startMs + minutes * MINUTE_MS,
  watchedSinceMs: startMs + since * MINUTE_MS,
  hasRoom,
});
const minuteOf = (ms: number): number => (ms - startMs) / MINUTE_MS;
const brief = ({ tickMs, state, cause, count }: TickRecord) =>
  [minuteOf(tickMs), state, ...(cause === undefined ? [] : [cause, count])].join(" ");
const ended = (schedule: Schedule, run: TickRecord | undefined): Schedule =>
  run === undefined ? schedule : changeRun(schedule, run, { state: "done" });

describe("a tick", () => {
  test("is claimed once, when it is due", () => {
    expect(decide(scheduled(), at(9)).run).toBeUndefined();
    const { schedule, run } = decide(scheduled(), at(10.5));
    expect(run).toEqual({ tickMs: startMs + 10 * MINUTE_MS, state: "claimed" });
    expect(schedule.records).toEqual([run]);
    const again = decide(ended(schedule, run), at(11));
    expect(again.run).toBeUndefined();
    expect(decide(again.schedule, at(20)).run?.tickMs).toBe(startMs + 20 * MINUTE_MS);
  });

  test("that is too late was missed, and it says why", () => {
    const late = at(10 + LATE_MS / MINUTE_MS + 0.1);
    expect(decide(scheduled(), late).missed.map(brief)).toEqual(["10 missed asleep 1"]);
    const { schedule, run } = decide(scheduled(), at(45, 25));
    expect(run).toBeUndefined();
    expect(schedule.records.map(brief)).toEqual(["10 missed no-daemon 2", "30 missed asleep 2"]);
    expect(schedule.totals).toEqual({ claimed: 0, missed: 4, lost: 0 });
  });

  test("after others that were missed runs when it is in time", () => {
    const { schedule, run } = decide(scheduled(), at(40, 39));
    expect(schedule.records.map(brief)).toEqual(["10 missed no-daemon 3", "40 claimed"]);
    expect(minuteOf(run?.tickMs ?? 0)).toBe(40);
  });

  test("waits for the run before it, and is missed when that works on or the next tick is due", () => {
    const { schedule: first, run } = decide(scheduled(), at(10));
    expect(decide(first, at(21))).toEqual({ schedule: first, missed: [] });
    expect(minuteOf(decide(ended(first, run), at(21.5)).run?.tickMs ?? 0)).toBe(20);
    const late = decide(first, at(22.1)).schedule;
    expect(late.records.map(brief)).toEqual(["10 claimed", "20 missed overlap 1"]);
    const each = scheduled(intervalTimes("1m"));
    const working = decide(each, at(1)).schedule;
    expect(decide(working, at(3)).schedule.records.map(brief)).toEqual(["1 claimed", "2 missed overlap 1"]);
  });

  test("waits for room, and is missed when there was none in time", () => {
    const waiting = decide(scheduled(), at(10, 0, false));
    expect(waiting.schedule.decidedMs).toBe(startMs);
    expect(minuteOf(decide(waiting.schedule, at(11)).run?.tickMs ?? 0)).toBe(10);
    expect(decide(waiting.schedule, at(13, 0, false)).missed.map(brief)).toEqual(["10 missed busy 1"]);
  });

  test("does not come again when the clock is set back", () => {
    const { schedule, run } = decide(scheduled(), at(10));
    const over = ended(schedule, run);
    for (let minute = 0; minute < 20; minute++) {
      expect(decide(over, at(minute))).toEqual({ schedule: over, missed: [] });
    }
    expect(scheduleRow(over, startMs).waits_until).toBe(new Date(startMs + 10 * MINUTE_MS).toISOString());
    expect(minuteOf(decide(over, at(20)).run?.tickMs ?? 0)).toBe(20);
  });

  test("that a crash left open is lost, and does not run again", () => {
    const session = SessionId.from("0".repeat(26));
    const { schedule, run } = decide(scheduled(), at(10));
    const working = changeRun(schedule, run as TickRecord, { state: "running", session });
    const { schedule: after, lost } = loseOpen(working, startMs + 11 * MINUTE_MS);
    expect(lost).toMatchObject([{ state: "lost", session, message: "the daemon ended during the run" }]);
    expect(after.totals.lost).toBe(1);
    expect(decide(after, at(11)).run).toBeUndefined();
    // A run that was only slow to notice cannot make it good again.
    expect(changeRun(after, run as TickRecord, { state: "done" })).toBe(after);
  });
});

test("whatever the clock does, every tick runs at most once, and what did not run is on the record", () => {
  const moves = fc.array(
    fc.record({
      minutes: fc.integer({ min: -90, max: 200 }),
      crash: fc.boolean(),
      ends: fc.boolean(),
      room: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(moves, (steps) => {
      let schedule = scheduled(intervalTimes("7m"));
      let nowMs = schedule.createdMs;
      let watchedSinceMs = nowMs;
      const ran: number[] = [];
      const missed = new Set<number>();
      for (const { minutes, crash, ends, room } of steps) {
        nowMs = Math.max(schedule.createdMs, nowMs + minutes * MINUTE_MS);
        if (crash) {
          schedule = loseOpen(schedule, nowMs).schedule;
          watchedSinceMs = nowMs;
        }
        const decision = decide(schedule, { nowMs, watchedSinceMs, hasRoom: room });
        schedule = decision.schedule;
        for (const { tickMs, lastMs = tickMs } of decision.missed) {
          for (const tick of ticksBetween(schedule, tickMs - 1, lastMs).ticks) missed.add(tick);
        }
        if (decision.run !== undefined) ran.push(decision.run.tickMs);
        if (ends)
          schedule = {
            ...schedule,
            records: schedule.records.map((one) => (isOpen(one) ? { ...one, state: "done" } : one)),
          };
      }
      expect(new Set(ran).size).toBe(ran.length);
      expect(ran.some((tick) => missed.has(tick))).toBe(false);
      const all = ticksBetween(schedule, schedule.createdMs, schedule.decidedMs).ticks;
      expect([...ran, ...missed].toSorted((a, b) => a - b)).toEqual(all);
      expect(schedule.totals).toMatchObject({ claimed: ran.length, missed: missed.size });
      expect(schedule.records.length).toBeLessThanOrEqual(MAX_RECORDS);
    }),
    { numRuns: 200, seed: 7 },
  );
});

describe("a request of a person", () => {
  const asked: TickRecord = { tickMs: startMs + MINUTE_MS, state: "requested", isManual: true };

  test("runs at once, and leaves the ticks as they are", () => {
    const { schedule, run } = decide({ ...scheduled(), records: [asked] }, at(1));
    expect(run).toEqual({ ...asked, state: "claimed" });
    expect(schedule.decidedMs).toBe(startMs);
    expect(decide(schedule, at(2)).run).toBeUndefined();
  });

  test("that nobody came for is missed", () => {
    const { schedule, run } = decide({ ...scheduled(), records: [asked] }, at(5, 4));
    expect(run).toBeUndefined();
    expect(schedule.records).toMatchObject([{ state: "missed", cause: "no-daemon", isManual: true }]);
  });
});

describe("times", () => {
  const ticks = (expression: string, zone: string, fromMs: number, count: number): string[] => {
    const times = cronTimes(expression, zone);
    const found: string[] = [];
    for (let ms = fromMs; found.length < count; ) {
      ms = nextTick({ times, createdMs: 0 }, ms) ?? 0;
      found.push(new Date(ms).toISOString().slice(0, 16));
    }
    return found;
  };

  test("a local time that the change to summer time skips comes at the end of the gap", () => {
    expect(ticks("30 2 * * *", "Europe/Berlin", Date.UTC(2026, 2, 28), 3)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
  });

  test("a local time that comes twice in autumn has one tick", () => {
    expect(ticks("30 2 * * *", "Europe/Berlin", Date.UTC(2026, 9, 24), 3)).toEqual([
      "2026-10-24T00:30",
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
  });

  test.each([
    ["0 0 1,30 * *", Date.UTC(2027, 1, 5), Date.UTC(2027, 2, 1)],
    ["0 0 */5 * 1", Date.UTC(2026, 1, 27), Date.UTC(2026, 2, 1)],
    ["0 0 31 * *", Date.UTC(2026, 1, 5), Date.UTC(2026, 2, 31)],
  ])("%s leaves out no day after a short month", (expression, afterMs, tickMs) => {
    expect(nextTick({ times: cronTimes(expression, "UTC"), createdMs: 0 }, afterMs)).toBe(tickMs);
  });

  test.each([
    ["61 * * * *", "UTC", "Invalid value for minute"],
    ["* * * * * *", "UTC", "five fields"],
    ["0 0 1 * 1 *", "UTC", "five fields"],
    ["@reboot", "UTC", "startup detection. It has five fields"],
    ["0 0 1 13 1", "UTC", "Invalid value for month"],
    ["0 0 30 2 *", "UTC", "it names no time that exists"],
    ["* * * * *", "Mars/Base", "is not a time zone"],
    ["*".repeat(300), "UTC", "at most 200 characters"],
  ])("%s in %s is refused: %s", (expression, zone, why) => {
    expect(() => cronTimes(expression, zone)).toThrow(why);
  });

  test.each(["", "5", "59s", "0m", "-1h", "400d", "1.5h"])("the interval '%s' is refused", (text) => {
    expect(() => intervalTimes(text)).toThrow("--every must be a time");
  });

  test("are shown as they were written", () => {
    expect(timesText(intervalTimes("90m"))).toBe("every 90m");
    expect(timesText(intervalTimes("24h"))).toBe("every 1d");
    expect(timesText(cronTimes(" 0 6 * * * ", "UTC"))).toBe("0 6 * * * (UTC)");
  });

  test("a long pause is counted up to a bound, and the last tick of it is known", () => {
    const schedule = scheduled(intervalTimes("1m"));
    const toMs = startMs + 48 * HOUR_MS;
    const { ticks: some, isCut } = ticksBetween(schedule, startMs, toMs);
    expect({ isCut, count: some.length, last: some.at(-1) }).toEqual({
      isCut: true,
      count: MAX_COUNTED_TICKS + 1,
      last: toMs,
    });
    const cron = ticksBetween({ ...schedule, times: cronTimes("* * * * *", "UTC") }, startMs, toMs + 5);
    expect(cron.ticks.at(-1)).toBe(toMs);
    expect(decide(schedule, at(48 * 60)).schedule.records).toMatchObject([{ isCountCut: true, count: 1_000 }, {}]);
  });
});
