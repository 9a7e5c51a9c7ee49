/** Scheduled prompts: their times, the decision about each tick, and the files that keep both. */
export { changeRun, type Decision, decide, loseOpen } from "./decide.ts";
export { isOpen, type Schedule, type TickRecord } from "./schedule.ts";
export { brokenRow, type ScheduleRow, scheduleRow } from "./schedule-row.ts";
export { createScheduleStore, rekeySchedules, type ScheduleStore } from "./schedule-store.ts";
export { cronTimes, intervalTimes, nextTick } from "./times.ts";
