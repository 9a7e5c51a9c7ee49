/** Scheduled prompts: their times, the decision about each tick, and the files that keep both. */
export { changeRun, type Decision, decide, LATE_MS, loseOpen, type Moment } from "./decide.ts";
export { isOpen, type Schedule, type ScheduleTimes, type TickRecord } from "./schedule.ts";
export { brokenRow, type ScheduleRow, scheduleRow } from "./schedule-row.ts";
export { createScheduleStore, MAX_SCHEDULES, rekeySchedules, type ScheduleStore } from "./schedule-store.ts";
export { cronTimes, intervalTimes, nextTick, timesText } from "./times.ts";
