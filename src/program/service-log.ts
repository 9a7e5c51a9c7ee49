/** The program's own log as settings, environment and flags ask for it; every line passes the redactor. */

import { join } from "node:path";
import type { LogSettings } from "#artifacts";
import { defined } from "#base";
import {
  createDailyFiles,
  createOperationLog,
  LOG_FORMATS,
  type LogFormat,
  type LogLevels,
  logText,
  type OperationLog,
  parseLogLevels,
} from "#logs";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#stores/keys";
import { type EventWatch, watchEvents } from "./event-watch.ts";
import type { ProgramPorts } from "./ports.ts";
import { userFlags } from "./projects.ts";
import type { RunFlags } from "./run-flags.ts";
import { loadConfig } from "./user-config-file.ts";

/** For a command that runs for long: its log, and what the events of its sessions say there. */
export async function openServiceLog(
  ports: ProgramPorts,
  flags: LogFlags & Pick<RunFlags, "config">,
): Promise<{ readonly log: OperationLog; readonly watch: EventWatch }> {
  const { settings } = await loadConfig(ports, userFlags(flags).config);
  ports.outward.use(settings);
  const log = await openProgramLog(ports, settings.log, flags);
  return { log, watch: watchEvents(log) };
}

export interface LogFlags {
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly logToStderr?: boolean;
}

export function logFolder(env: ProgramPorts["env"]): string {
  return join(harnessPaths(env).stateDir, "log");
}

/** Rejects with RedactionFailed: without it there is no log. Throws UsageInvalid for a level that is none. */
export async function openProgramLog(
  ports: Pick<ProgramPorts, "env" | "clock" | "outward" | "terminal">,
  settings: LogSettings,
  flags: LogFlags,
): Promise<OperationLog> {
  const { env, clock, outward, terminal } = ports;
  const levels = levelsOf(settings, env.HARNESS_LOG_LEVEL, flags.logLevel);
  const { value } = await outward.load();
  const files = createDailyFiles({
    folder: logFolder(env),
    clock,
    ...defined({ keepDays: settings.keepDays, maxMb: settings.maxMb }),
  });
  const format = formatOf(env.HARNESS_LOG_FORMAT, flags.logFormat);
  const print = (line: string): void => terminal.err(format === "json" ? line : logText(line));
  const sinks = flags.logToStderr === true ? [files.write, print] : [files.write];
  // Several processes write to one file.
  return createOperationLog({ clock, levels, clean: value, sinks, always: { pid: process.pid } });
}

/** Later wins: settings, environment, flag; for a component as for all. */
function levelsOf(settings: LogSettings, variable: string | undefined, flag: string | undefined): LogLevels {
  let levels: LogLevels = { level: settings.level ?? "info", components: settings.components };
  for (const [name, text] of [
    ["HARNESS_LOG_LEVEL", variable],
    ["--log-level", flag],
  ] as const) {
    if (text === undefined || text === "") continue;
    const given = parseLogLevels(text);
    if (given === undefined) {
      const detail = `${name}: '${text.slice(0, 100)}' is not a log level. Use one of trace, debug, info, warn, error, off, or component=level, separated by commas.`;
      throw new ReasonError("UsageInvalid", detail);
    }
    levels = { level: given.level ?? levels.level, components: { ...levels.components, ...given.components } };
  }
  return levels;
}

/** Of what is printed: the files are JSON lines. */
function formatOf(variable: string | undefined, flag: string | undefined): LogFormat {
  const [name, text] = flag === undefined ? ["HARNESS_LOG_FORMAT", variable || "text"] : ["--log-format", flag];
  const format = LOG_FORMATS.find((known) => known === text);
  if (format !== undefined) return format;
  throw new ReasonError("UsageInvalid", `${name}: '${text.slice(0, 100)}' is not a log format. Use text or json.`);
}
