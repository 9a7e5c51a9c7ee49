/** A prompt that the daemon sends at set times, and what became of its ticks. Plain data: whoever keeps it is in `schedule-store.ts`. */
import type { SessionId } from "#protocol";

/** When the ticks of a schedule are. */
export type ScheduleTimes =
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
  /** From the time when the schedule was added. */
  | { readonly kind: "interval"; readonly everyMs: number };

/** Why a tick was missed. */
export type MissedCause = "no-daemon" | "asleep" | "overlap" | "busy";

/** What became of one tick, or of several missed ones in a row. */
export interface TickRecord {
  readonly tickMs: number;
  /**
   * `requested`: by a person, outside the times. `claimed`: durable before anything runs. `lost`: the daemon ended while it was
   * claimed or running, so nobody knows how far it came.
   */
  readonly state: "requested" | "claimed" | "running" | "done" | "failed" | "refused" | "missed" | "lost";
  readonly isManual?: true;
  readonly session?: SessionId;
  readonly endedMs?: number;
  /** Why it failed, was refused or got lost. */
  readonly message?: string;
  /** For missed ticks: why, how many, and the last of them. */
  readonly cause?: MissedCause;
  readonly count?: number;
  /** There were more than could be counted. */
  readonly isCountCut?: true;
  readonly lastMs?: number;
}

export interface Schedule {
  readonly name: string;
  readonly times: ScheduleTimes;
  /** Redacted. */
  readonly prompt: string;
  /** Absolute path. */
  readonly folder: string;
  readonly model?: string;
  readonly profile?: string;
  /** Its sessions begin in plan mode. */
  readonly plan?: true;
  readonly maxCostUsd?: number;
  readonly maxSteps?: number;
  /** Tells it from an earlier schedule of the same name. */
  readonly createdMs: number;
  /** Every tick up to here has run or is on the record as missed. It never goes back. */
  readonly decidedMs: number;
  /** Oldest first, at most {@link MAX_RECORDS}. */
  readonly records: readonly TickRecord[];
  /** Of all ticks, also those whose record has gone. */
  readonly totals: { readonly claimed: number; readonly missed: number; readonly lost: number };
}

export const MAX_RECORDS = 50;

export function isOpen({ state }: TickRecord): boolean {
  return state === "claimed" || state === "running";
}

export function withRecord(schedule: Schedule, record: TickRecord): Schedule {
  const { records } = schedule;
  const added = [...records, record];
  if (added.length <= MAX_RECORDS) return { ...schedule, records: added };
  // Those that still change are found by their tick later on.
  const oldest = added.findIndex(({ state }) => state !== "requested" && state !== "claimed" && state !== "running");
  return { ...schedule, records: added.filter((_, index) => index !== Math.max(0, oldest)) };
}
