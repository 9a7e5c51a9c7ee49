/**
 * Which tick of a schedule runs now, and what becomes of the others: a fold over the durable state of the schedule. Pure. A tick is
 * decided once, by `decidedMs`, which never goes back: neither a clock that is set back nor a second daemon can decide it again.
 */
import { isOpen, type MissedCause, type Schedule, type TickRecord, withRecord } from "./schedule.ts";
import { ticksBetween } from "./times.ts";

/** A tick that could not begin within this time is missed. */
export const LATE_MS = 2 * 60_000;

export interface Moment {
  readonly nowMs: number;
  /** Since when, by the wall clock, this daemon has watched: an earlier tick was missed because there was none. */
  readonly watchedSinceMs: number;
  /** Whether another run may begin. */
  readonly hasRoom: boolean;
}

export interface Decision {
  /** To be stored before `run` begins. The same object when nothing was decided. */
  readonly schedule: Schedule;
  /** The claim of the tick that runs now. */
  readonly run?: TickRecord;
  /** New records of ticks that do not run. */
  readonly missed: readonly TickRecord[];
}

export function decide(schedule: Schedule, moment: Moment): Decision {
  const asked = schedule.records.find(({ state }) => state === "requested");
  if (asked !== undefined) return decideRequest(schedule, asked, moment);
  const { nowMs, watchedSinceMs, hasRoom } = moment;
  const { ticks, isCut } = ticksBetween(schedule, schedule.decidedMs, nowMs);
  const last = ticks.at(-1);
  if (last === undefined) return { schedule, missed: [] };
  const isInTime = nowMs - last <= LATE_MS;
  const isWorking = schedule.records.some(isOpen);
  const cause = (tick: number): MissedCause => {
    if (tick < watchedSinceMs) return "no-daemon";
    if (isWorking) return "overlap";
    return hasRoom ? "asleep" : "busy";
  };
  let next = schedule;
  const missed: TickRecord[] = [];
  const miss = (some: readonly number[], why: MissedCause, cut: boolean): void => {
    const [first] = some;
    if (first === undefined) return;
    const record: TickRecord = {
      ...{ tickMs: first, lastMs: some.at(-1) ?? first, state: "missed", cause: why, count: some.length },
      ...(cut ? { isCountCut: true } : {}),
    };
    next = { ...addMissed(next, record), decidedMs: some.at(-1) ?? first };
    missed.push(record);
  };
  const tooLate = isInTime ? ticks.slice(0, -1) : ticks;
  const unwatched = tooLate.filter((tick) => cause(tick) === "no-daemon");
  const watched = tooLate.slice(unwatched.length);
  miss(unwatched, "no-daemon", isCut);
  const [first] = watched;
  if (first !== undefined) miss(watched, cause(first), isCut && unwatched.length === 0);
  // One that waits for the run before it or for room is decided when it can begin, when the next is due, or when it is too late.
  if (!isInTime || isWorking || !hasRoom) return { schedule: next, missed };
  const run: TickRecord = { tickMs: last, state: "claimed" };
  return { schedule: claimed(next, run, last), run, missed };
}

/** A request waits for a run of the same schedule and for room. One that nobody came for in time is missed. */
function decideRequest(schedule: Schedule, asked: TickRecord, { nowMs, watchedSinceMs, hasRoom }: Moment): Decision {
  const others = { ...schedule, records: schedule.records.filter((record) => record !== asked) };
  if (Math.abs(nowMs - asked.tickMs) > LATE_MS) {
    const cause: MissedCause = asked.tickMs < watchedSinceMs ? "no-daemon" : hasRoom ? "overlap" : "busy";
    const record: TickRecord = { ...asked, state: "missed", cause, count: 1, lastMs: asked.tickMs };
    return { schedule: addMissed(others, record), missed: [record] };
  }
  if (!hasRoom || schedule.records.some(isOpen)) return { schedule, missed: [] };
  const run: TickRecord = { ...asked, state: "claimed" };
  return { schedule: claimed(others, run, schedule.decidedMs), run, missed: [] };
}

/** The daemon has just begun: what an earlier one had claimed is lost, and is not run again. */
export function loseOpen(
  schedule: Schedule,
  nowMs: number,
): { readonly schedule: Schedule; readonly lost: readonly TickRecord[] } {
  const lost: TickRecord[] = [];
  const records = schedule.records.map((record): TickRecord => {
    if (!isOpen(record)) return record;
    const message =
      record.session === undefined ? "the daemon ended before the session began" : "the daemon ended during the run";
    const next: TickRecord = { ...record, state: "lost", endedMs: nowMs, message };
    lost.push(next);
    return next;
  });
  if (lost.length === 0) return { schedule, lost };
  const { totals } = schedule;
  return { schedule: { ...schedule, records, totals: { ...totals, lost: totals.lost + lost.length } }, lost };
}

/** The record of a claim, changed. The same schedule when that is gone or over. */
export function changeRun(schedule: Schedule, claim: TickRecord, change: Partial<TickRecord>): Schedule {
  const isIt = (record: TickRecord): boolean =>
    isOpen(record) && record.tickMs === claim.tickMs && record.isManual === claim.isManual;
  if (!schedule.records.some(isIt)) return schedule;
  return { ...schedule, records: schedule.records.map((record) => (isIt(record) ? { ...record, ...change } : record)) };
}

function claimed(schedule: Schedule, run: TickRecord, decidedMs: number): Schedule {
  const { totals } = schedule;
  return { ...withRecord(schedule, run), decidedMs, totals: { ...totals, claimed: totals.claimed + 1 } };
}

/** Of missed ticks in a row one record: a long pause must not push out all others. */
function addMissed(schedule: Schedule, record: TickRecord): Schedule {
  const count = record.count ?? 1;
  const { totals } = schedule;
  const counted = { ...schedule, totals: { ...totals, missed: totals.missed + count } };
  const before = schedule.records.at(-1);
  if (before?.state !== "missed" || before.cause !== record.cause || before.isManual || record.isManual) {
    return withRecord(counted, record);
  }
  const { tickMs } = before;
  const both = { ...before, ...record, tickMs, count: (before.count ?? 1) + count };
  return { ...counted, records: [...schedule.records.slice(0, -1), both] };
}
