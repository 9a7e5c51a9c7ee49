/** What the program says about itself while it runs: lines with a level and a component, in daily files. Not the session log. */
export { createDailyFiles, type DailyFiles, type DailyFilesOptions } from "./daily-files.ts";
export { isLogLevel, LOG_LEVELS, type LogLevel, type LogLevels, levelOf, parseLogLevels } from "./log-level.ts";
export {
  type ComponentLog,
  createOperationLog,
  type LogFields,
  type LogSink,
  type OperationLog,
} from "./operation-log.ts";
