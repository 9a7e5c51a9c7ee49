/** Kills the process that runs schedules, again and again, with a wall clock that steps in between; counts what became of each tick. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { createScheduleStore, cronTimes, intervalTimes, type Schedule } from "#schedules";
import { createSystemClock } from "#world";
import { ticksBetween } from "../../src/schedules/times.ts";

const child = resolve(import.meta.dirname, "../../bench/schedule-child.ts");
const MINUTE_MS = 60_000;
/** The process is killed within this time after the minute that was chosen: in the middle of a minute, often while it stores. */
const KILLED_WITHIN_MS = 30;
const NAMES = ["cron", "interval"] as const;

export interface ScheduleKillReport {
  readonly kills: number;
  readonly ticks: number;
  readonly ran: number;
  readonly missed: number;
  readonly lost: number;
  /** Ticks that are reported as missed, although a process that had the right time was there. */
  readonly missedThere: readonly string[];
  /** Ticks of which nothing is on the record. */
  readonly unreported: number;
  /** Ticks that ran more than once, or ran although they are on the record as missed. */
  readonly twice: number;
  readonly errors: readonly string[];
}

export async function killSchedules(
  kills: number,
  minTicks: number,
  random: () => number,
): Promise<ScheduleKillReport> {
  const folder = mkdtempSync(join(tmpdir(), "harness-schedules-"));
  const [directory, effects] = [join(folder, "s"), join(folder, "effects")];
  const store = createScheduleStore({ directory, key: () => Buffer.alloc(32, 1), clock: createSystemClock() });
  // The night in which summer time begins.
  const createdMs = Date.UTC(2026, 2, 29, 0, 0, 30);
  for (const name of NAMES) await store.add(made(name, createdMs));
  const missed = new Set<string>();
  const lost = new Set<string>();
  const reported = new Set<string>();
  const errors: string[] = [];
  const missedThere = new Set<string>();
  let wallMs = createdMs;
  let done = 0;
  function collect(): number {
    return store.list().schedules.reduce((sum, schedule) => {
      for (const { tickMs, lastMs = tickMs, state } of schedule.records) {
        for (const tick of state === "missed" ? ticksBetween(schedule, tickMs - 1, lastMs).ticks : [tickMs]) {
          const key = `${schedule.name} ${tick}`;
          reported.add(key);
          if (state === "missed") missed.add(key);
          if (state === "lost") lost.add(key);
        }
      }
      return sum + ticksBetween(schedule, createdMs, schedule.decidedMs).ticks.length;
    }, 0);
  }
  try {
    for (let ticks = 0; done <= kills || ticks < minTicks; done++) {
      const isLast = done >= kills && ticks + minTicks / kills >= minTicks;
      const before = store.list().schedules;
      const program = spawn(process.execPath, [child, directory, effects, String(wallMs)]);
      program.stderr.on("data", (text: Buffer) => void errors.push(text.toString()));
      const gone = once(program, "exit");
      const diesMs = wallMs + (0.5 + random()) * (minTicks / kills / NAMES.length) * MINUTE_MS;
      const seenMs = await reached(createInterface(program.stdout), diesMs);
      await after(random() * KILLED_WITHIN_MS);
      program.kill(isLast ? "SIGTERM" : "SIGKILL");
      await gone;
      ticks = collect();
      for (const schedule of before) {
        const { ticks: there } = ticksBetween(schedule, Math.max(wallMs, schedule.decidedMs), seenMs);
        for (const key of there.map((tick) => `${schedule.name} ${tick}`)) if (missed.has(key)) missedThere.add(key);
      }
      wallMs = seenMs + step(random);
    }
    const ran = existsSync(effects) ? readFileSync(effects, "utf8").trimEnd().split("\n") : [];
    const all = store
      .list()
      .schedules.flatMap((schedule) =>
        ticksBetween(schedule, createdMs, schedule.decidedMs).ticks.map((tick) => `${schedule.name} ${tick}`),
      );
    return {
      kills: done - 1,
      ticks: all.length,
      ran: new Set(ran).size,
      missed: missed.size,
      lost: lost.size,
      missedThere: [...missedThere],
      unreported: all.filter((key) => !reported.has(key)).length,
      twice: ran.length - new Set(ran).size + ran.filter((key) => missed.has(key)).length,
      errors,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The first time from this one on that the child says it has. */
async function reached(minutes: AsyncIterable<string>, wantedMs: number): Promise<number> {
  for await (const line of minutes) if (Number(line) >= wantedMs) return Number(line);
  throw new Error("the child ended by itself");
}

/** Mostly the time without a daemon; sometimes a clock that is set back, or far ahead. */
function step(random: () => number): number {
  const kind = random();
  if (kind < 0.2) return -10 * MINUTE_MS * random();
  return (kind < 0.3 ? 30 : 2) * MINUTE_MS * random();
}

function made(name: (typeof NAMES)[number], createdMs: number): Schedule {
  const times = name === "cron" ? cronTimes("* * * * *", "Europe/Berlin") : intervalTimes("1m");
  const totals = { claimed: 0, missed: 0, lost: 0 };
  return { name, times, prompt: "p", folder: "/f", createdMs, decidedMs: createdMs, records: [], totals };
}
