/** What the program says about itself while it runs: lines with a level and a component, in daily files. Not the session log. */
export { createDailyFiles } from "./daily-files.ts";
export { type LogLevels, parseLogLevels } from "./log-level.ts";
export { LOG_FORMATS, type LogFormat, logText } from "./log-text.ts";
export { type ComponentLog, createOperationLog, type OperationLog } from "./operation-log.ts";
