/** A schedule as lists show it to people and programs: without its prompt, with its next tick and what became of the last ones. */
import { defined } from "#base";
import type { ReplyOf } from "#protocol";
import { LATE_MS } from "./decide.ts";
import type { Schedule, TickRecord } from "./schedule.ts";
import { nextTick, timesText } from "./times.ts";

export type ScheduleRow = ReplyOf<"ListSchedules">["result"][number];
type TickRow = ScheduleRow["ticks"][number];

const CAUSES = {
  "no-daemon": "no daemon ran",
  asleep: "the machine was asleep, or its clock was set ahead",
  overlap: "the previous run still worked",
  busy: "too many other schedules were running",
} as const;

/** The newest tick comes first. */
export function scheduleRow(schedule: Schedule, nowMs: number): ScheduleRow {
  const { name, times, folder, model, profile, plan, maxCostUsd, maxSteps, createdMs, decidedMs, totals } = schedule;
  const next = nextTick(schedule, Math.max(decidedMs, nowMs));
  return {
    ...{ name, times: timesText(times), folder },
    ...defined({ model, profile, plan, max_cost_usd: maxCostUsd, max_steps: maxSteps }),
    created_at: timeText(createdMs),
    ...(next === undefined ? {} : { next_at: timeText(next) }),
    ...(decidedMs > nowMs + LATE_MS ? { waits_until: timeText(decidedMs) } : {}),
    totals,
    ticks: schedule.records.toReversed().map(tickRow),
  };
}

export function brokenRow(name: string): ScheduleRow {
  const problem = `its file cannot be read, so it does not run. Remove it: harness schedule remove ${name}`;
  return { name, times: "", folder: "", problem, totals: { claimed: 0, missed: 0, lost: 0 }, ticks: [] };
}

function tickRow({
  tickMs,
  state,
  isManual,
  session,
  endedMs,
  message,
  cause,
  count,
  isCountCut,
  lastMs,
}: TickRecord): TickRow {
  return {
    at: timeText(tickMs),
    state,
    ...defined({ manual: isManual, session, count, at_least: isCountCut }),
    ...defined({ message: message ?? (cause && CAUSES[cause]) }),
    ...(endedMs === undefined ? {} : { ended_at: timeText(endedMs) }),
    ...(lastMs === undefined || lastMs === tickMs ? {} : { last_at: timeText(lastMs) }),
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
