/**
 * The wall clock for those who delete what has become old. A clock that is set ahead by mistake would make everything old at once, and
 * what is deleted does not come back when the clock does. So a leap ahead of the time that has really passed, as the uptime of the
 * machine shows it, counts only after it has stood for a while. What is known of it is kept in a small file between runs.
 */

import { type Clock, diskTrouble, isRecord, jsonIn } from "#base";

import { readPrivateFile, writePrivateFile } from "./private-file.ts";
import { bootMark } from "./process-mark.ts";

/** Its name in the state folder of a user. */
export const SETTLED_TIME_FILE = "settled-time";
/** A leap counts after the machine has been up for so long with it. */
export const LEAP_SETTLES_MS = 12 * 60 * 60 * 1000;
/** A restart with it counts as so much: a machine that is never up for long has a clock all the same. */
const RESTART_COUNTS_MS = LEAP_SETTLES_MS / 6;
/** Clocks drift, and are slewed. */
const DRIFT_MS = 60_000;

export interface Sighting {
  /** By the wall clock. */
  readonly wallMs: number;
  /** Since the machine was started, suspended time included. */
  readonly uptimeMs: number;
  /** Which start that was. */
  readonly boot: string;
}

export interface SettledState {
  /** What the time was taken to be at the last look. */
  readonly settledMs: number;
  readonly uptimeMs: number;
  readonly boot: string;
  /** By how much the clock was ahead of that, and for how long it has been. */
  readonly leapMs: number;
  readonly leapStoodMs: number;
}

/** The state after another look. Pure. Never ahead of the wall clock. */
export function settle(before: SettledState | undefined, { wallMs, uptimeMs, boot }: Sighting): SettledState {
  const seen = { uptimeMs, boot };
  if (before === undefined) return { ...seen, settledMs: wallMs, leapMs: 0, leapStoodMs: 0 };
  // Of a machine that was off in between, only what it has been up since is known to have passed.
  const isSameBoot = boot === before.boot;
  const passedMs = Math.max(0, isSameBoot ? uptimeMs - before.uptimeMs : uptimeMs);
  const expectedMs = before.settledMs + passedMs;
  const aheadMs = wallMs - expectedMs;
  if (aheadMs <= DRIFT_MS) return { ...seen, settledMs: wallMs, leapMs: 0, leapStoodMs: 0 };
  if (before.leapMs === 0) return { ...seen, settledMs: expectedMs, leapMs: aheadMs, leapStoodMs: 0 };
  // Only as much of it as has stood all the time.
  const leapMs = Math.min(before.leapMs, aheadMs);
  const leapStoodMs = before.leapStoodMs + Math.max(passedMs, isSameBoot ? 0 : RESTART_COUNTS_MS);
  if (leapStoodMs < LEAP_SETTLES_MS) return { ...seen, settledMs: expectedMs, leapMs, leapStoodMs };
  return { ...seen, settledMs: expectedMs + leapMs, leapMs: aheadMs - leapMs, leapStoodMs: 0 };
}

/** What may count as old now. Throws what the file system throws; a file that is damaged counts as none. */
export function settledTime(file: string, clock: Pick<Clock, "now" | "uptimeMs">): number {
  const sighting = { wallMs: clock.now(), uptimeMs: Math.round(clock.uptimeMs()), boot: bootMark() };
  const state = settle(stateFrom(readPrivateFile(file)), sighting);
  try {
    writePrivateFile(file, `${JSON.stringify(state)}\n`, { durable: false });
  } catch (error) {
    // What deletes by age makes room on a full disk: it must not wait for room itself. The next look keeps what this one saw.
    if (diskTrouble(error) === undefined) throw error;
  }
  return state.settledMs;
}

function stateFrom(bytes: Buffer | undefined): SettledState | undefined {
  const raw = jsonIn(bytes?.toString("utf8") ?? "");
  if (raw === undefined) return undefined; // none yet, or cut off: the next one begins with the clock as it is
  if (!isRecord(raw) || typeof raw.boot !== "string") return undefined;
  const { boot, settledMs, uptimeMs, leapMs, leapStoodMs } = raw;
  if (!isNumber(settledMs) || !isNumber(uptimeMs) || !isNumber(leapMs) || !isNumber(leapStoodMs)) return undefined;
  return { boot, settledMs, uptimeMs, leapMs, leapStoodMs };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
