/** Ticks of cron expressions against an oracle that goes through every minute and asks `Intl.DateTimeFormat` what a clock there shows. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cronTimes, MAX_COUNTED_TICKS, ticksBetween } from "../../src/schedules/times.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Two days around changes of the clock: by an hour, by half an hour, at midnight, and a day that a country left out. */
const CHANGES = [
  ["Europe/Berlin", Date.UTC(2026, 2, 28, 12)],
  ["Europe/Berlin", Date.UTC(2026, 9, 24, 12)],
  ["America/New_York", Date.UTC(2026, 2, 7, 18)],
  ["America/New_York", Date.UTC(2026, 10, 1, 0)],
  ["Australia/Lord_Howe", Date.UTC(2026, 3, 4, 0)],
  ["Australia/Lord_Howe", Date.UTC(2026, 9, 3, 0)],
  ["Africa/Cairo", Date.UTC(2026, 3, 23, 12)],
  ["Africa/Cairo", Date.UTC(2026, 9, 29, 12)],
  ["Pacific/Apia", Date.UTC(2011, 11, 29, 12)],
  // The end of a short month, and of February.
  ["Asia/Kolkata", Date.UTC(2026, 1, 27, 12)],
  ["America/Anchorage", Date.UTC(2028, 1, 29, 0)],
  ["Pacific/Kiritimati", Date.UTC(2026, 3, 29, 12)],
] as const;

interface LocalMinute {
  readonly ms: number;
  /** What a clock on the wall shows, as if it were UTC. */
  readonly wallMs: number;
}

/** Minutes from a day before the window, so that a time that comes twice is known as such. */
function localMinutes([zone, fromMs]: (typeof CHANGES)[number]): readonly LocalMinute[] {
  const format = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
    ...{ hour: "numeric", minute: "numeric" },
  });
  return Array.from({ length: (3 * DAY_MS) / MINUTE_MS }, (_, index) => {
    const ms = fromMs - DAY_MS + index * MINUTE_MS;
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(ms).match(/\d+/g) ?? []).map(Number);
    return { ms, wallMs: Date.UTC(year, month - 1, day, hour, minute) };
  });
}

const minutesOf = new Map(CHANGES.map((change) => [change, localMinutes(change)]));

/** A field: `*`, a step, a value, a range, or a list of these. */
function valuesOf(field: string, first: number, last: number): ReadonlySet<number> {
  const values = field.split(",").flatMap((part) => {
    const [range = "", step = "1"] = part.split("/");
    const [from = first, to = range === "*" ? last : from] = range === "*" ? [] : range.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
      (value) => (value - from) % Number(step) === 0,
    );
  });
  return new Set(values);
}

function expectedTicks(expression: string, change: (typeof CHANGES)[number]): readonly number[] {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = expression.split(" ");
  const [minutes, hours, days] = [valuesOf(minute, 0, 59), valuesOf(hour, 0, 23), valuesOf(day, 1, 31)];
  const [months, weekdays] = [valuesOf(month, 1, 12), valuesOf(weekday, 0, 6)];
  const matches = (wallMs: number): boolean => {
    const wall = new Date(wallMs);
    const [isDay, isWeekday] = [days.has(wall.getUTCDate()), weekdays.has(wall.getUTCDay())];
    const isIn = day === "*" || weekday === "*" ? isDay && isWeekday : isDay || isWeekday;
    return (
      isIn && months.has(wall.getUTCMonth() + 1) && hours.has(wall.getUTCHours()) && minutes.has(wall.getUTCMinutes())
    );
  };
  const isFixed = minutes.size === 1 && hours.size === 1;
  const seen = new Set<number>();
  let previous: LocalMinute | undefined;
  const ticks: number[] = [];
  for (const { ms, wallMs } of minutesOf.get(change) ?? []) {
    const skipped: number[] = [];
    for (let at = (previous?.wallMs ?? wallMs) + MINUTE_MS; at < wallMs; at += MINUTE_MS) skipped.push(at);
    const sameDay = skipped.filter((at) => Math.floor(at / DAY_MS) === Math.floor(wallMs / DAY_MS));
    const isNew = matches(wallMs) && !(isFixed && seen.has(wallMs));
    if (isNew || (isFixed && sameDay.some(matches))) ticks.push(ms);
    seen.add(wallMs);
    previous = { ms, wallMs };
  }
  return ticks.filter((ms) => ms > change[1]);
}

const field = (first: number, last: number): fc.Arbitrary<string> => {
  const value = fc.integer({ min: first, max: last });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: last }).map((count) => `*/${count}`);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant("*") },
    { weight: 3, arbitrary: value.map(String) },
    ...[range, step, fc.tuple(value, range).map((parts) => parts.join(","))].map((arbitrary) => ({
      weight: 1,
      arbitrary,
    })),
  );
};
/** Each has a month with 31 days, so that every day exists. */
const months = fc.constantFrom("*", "*/2", "1-3", "2,3", "3", "4,5,10");
const expressions = fc
  // Hours in which clocks change, more often than others.
  .tuple(field(0, 59), fc.oneof(field(0, 23), field(0, 3)), field(1, 31), months, field(0, 6))
  .map((fields) => fields.join(" "));
const mostlyDaily = fc
  .tuple(field(0, 59), fc.oneof(field(0, 23), field(0, 3)))
  .map((fields) => `${fields.join(" ")} * * *`);

test("an expression has the ticks that a clock on the wall shows, also where the clock changes", () => {
  fc.assert(
    fc.property(fc.oneof(mostlyDaily, expressions), fc.constantFrom(...CHANGES), (expression, change) => {
      const [zone, fromMs] = change;
      const toMs = fromMs + 2 * DAY_MS - MINUTE_MS;
      const expected = expectedTicks(expression, change);
      const schedule = { times: cronTimes(expression, zone), createdMs: fromMs };
      const { ticks, isCut } = ticksBetween(schedule, fromMs, toMs);
      expect(isCut).toBe(expected.length > MAX_COUNTED_TICKS);
      expect(ticks.slice(0, MAX_COUNTED_TICKS)).toEqual(expected.slice(0, MAX_COUNTED_TICKS));
      expect(ticks.at(-1)).toBe(expected.at(-1));
    }),
    { numRuns: 200, seed: 11 },
  );
});
