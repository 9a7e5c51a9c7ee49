/** The times of a schedule: read from what a person wrote, and the ticks that follow from them. Pure. */
import { Cron } from "croner";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";
import type { Schedule, ScheduleTimes } from "./schedule.ts";

export const MIN_INTERVAL_MS = 60_000;
const MAX_INTERVAL_MS = 366 * 24 * 60 * 60 * 1000;
const MAX_EXPRESSION_CHARS = 200;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type CronTimes = ScheduleTimes & { readonly kind: "cron" };

/** Missed ticks that are counted one by one; a count beyond says that it is cut. */
export const MAX_COUNTED_TICKS = 1_000;

/** Throws UsageInvalid. Five fields, so that no tick comes more often than once a minute. */
export function cronTimes(expression: string, timezone: string): ScheduleTimes {
  const text = expression.trim();
  const times = { kind: "cron", expression: text, timezone } as const;
  if (!isTimezone(timezone)) {
    throw usage(`'${timezone.slice(0, 100)}' is not a time zone. Use a name like Europe/Berlin, or UTC`);
  }
  if (text.length > MAX_EXPRESSION_CHARS)
    throw usage(`a cron expression has at most ${MAX_EXPRESSION_CHARS} characters`);
  try {
    if (nextTick({ times, createdMs: 0 }, 0) === undefined) throw new Error("it names no time that exists");
  } catch (error) {
    const why = messageOf(error).replace(/^Cron\w+: |\.+$/g, "");
    throw usage(
      `the cron expression '${text}' cannot be used: ${why}. It has five fields: minute, hour, day, month, day of the week`,
    );
  }
  return times;
}

/** `30m`, `6h`, `1d`. Throws UsageInvalid. */
export function intervalTimes(text: string): ScheduleTimes {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text.trim()) ?? [];
  const everyMs = count === undefined ? 0 : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (everyMs < MIN_INTERVAL_MS || everyMs > MAX_INTERVAL_MS) {
    throw usage(`--every must be a time from 1m to 366d, for example 30m, 6h or 1d, not '${text.slice(0, 50)}'`);
  }
  return { kind: "interval", everyMs };
}

/** The first tick after this time; undefined when there is none any more. */
export function nextTick(
  { times, createdMs }: Pick<Schedule, "times" | "createdMs">,
  afterMs: number,
): number | undefined {
  if (times.kind === "cron") return nextRun(times, afterMs);
  const passed = Math.max(0, Math.floor((afterMs - createdMs) / times.everyMs));
  return createdMs + (passed + 1) * times.everyMs;
}

export interface TickRange {
  /** Oldest first. With `isCut` not all of them, but the last one is. */
  readonly ticks: readonly number[];
  readonly isCut: boolean;
}

/** The ticks after one time and up to another. */
export function ticksBetween(
  schedule: Pick<Schedule, "times" | "createdMs">,
  afterMs: number,
  toMs: number,
): TickRange {
  const ticks: number[] = [];
  for (let from = afterMs; ticks.length < MAX_COUNTED_TICKS; ) {
    const tick = nextTick(schedule, from);
    if (tick === undefined || tick > toMs) return { ticks, isCut: false };
    ticks.push(tick);
    from = tick;
  }
  const last = lastTick(schedule, toMs);
  return { ticks: last === ticks.at(-1) ? ticks : [...ticks, last], isCut: last !== ticks.at(-1) };
}

/** For one that has ticks before this time. */
function lastTick({ times, createdMs }: Pick<Schedule, "times" | "createdMs">, toMs: number): number {
  if (times.kind === "interval") return createdMs + Math.floor((toMs - createdMs) / times.everyMs) * times.everyMs;
  // The library drops the milliseconds and leaves out the time itself.
  const runs = cron(times.expression, times.timezone).previousRuns(2, new Date(toMs + 1_000));
  return runs.map((run) => run.getTime()).find((tick) => tick <= toMs) ?? toMs;
}

export function timesText(times: ScheduleTimes): string {
  if (times.kind === "cron") return `${times.expression} (${times.timezone})`;
  const [unit, ms] = Object.entries(UNIT_MS).findLast(([, size]) => times.everyMs % size === 0) ?? ["m", UNIT_MS.m];
  return `every ${times.everyMs / ms}${unit}`;
}

/**
 * The library takes the 30th and 31st of February for days of March, and leaves out ticks before them. So a search that passes the
 * beginning of March is made once more from there.
 */
function nextRun({ expression, timezone }: CronTimes, afterMs: number): number | undefined {
  const nextMs = cron(expression, timezone).nextRun(new Date(afterMs))?.getTime();
  if (nextMs === undefined || !mayPassMarch(afterMs, nextMs)) return nextMs;
  const marchMs = cron("0 0 1 3 *", timezone).nextRun(new Date(afterMs))?.getTime() ?? nextMs;
  const fromMarchMs = cron(expression, timezone)
    .nextRun(new Date(marchMs - 1_000))
    ?.getTime();
  return Math.min(nextMs, fromMarchMs ?? nextMs);
}

/** The zone may be up to a day from UTC. */
function mayPassMarch(afterMs: number, nextMs: number): boolean {
  const year = new Date(afterMs).getUTCFullYear();
  return [year, year + 1].some((one) => {
    const marchMs = Date.UTC(one, 2, 1);
    return marchMs > afterMs - UNIT_MS.d && marchMs < nextMs + UNIT_MS.d;
  });
}

function cron(expression: string, timezone: string): Cron {
  return new Cron(expression, { timezone, mode: "5-part" });
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // the contract of the constructor: it throws for a name that it does not know
  }
}

function usage(detail: string): ReasonError {
  return new ReasonError("UsageInvalid", detail);
}
