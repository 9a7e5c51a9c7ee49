/**
 * One line of JSON for each thing that happened to the program. Every line passes `clean` before anybody sees it, and where that
 * fails the line is withheld. Writing never throws and never waits: what could not be written is counted.
 */
import { beginningOf, type Clock, defined } from "#base";
import { LOG_LEVELS, type LogLevel, type LogLevels, levelOf } from "./log-level.ts";

export type LogFields = Readonly<Record<string, unknown>>;

/** Takes whole lines with their end. May throw. */
export type LogSink = (line: string) => void;

export interface ComponentLog {
  trace(msg: string, fields?: LogFields): void;
  debug(msg: string, fields?: LogFields): void;
  info(msg: string, fields?: LogFields): void;
  warn(msg: string, fields?: LogFields): void;
  error(msg: string, fields?: LogFields): void;
}

export interface OperationLog {
  of(component: string): ComponentLog;
  /** Of lines since the program began. `problem`: why the last one was lost, as long as none has been written since. */
  counters(): { readonly written: number; readonly withheld: number; readonly lost: number; readonly problem?: string };
}

export interface OperationLogOptions {
  readonly clock: Pick<Clock, "now">;
  readonly levels: LogLevels;
  /** On every line. */
  readonly always?: LogFields;
  /** The value without its secrets. */
  readonly clean: (value: LogFields) => LogFields;
  readonly sinks: readonly LogSink[];
}

/** A field holds a reason or a name, not a document. */
const MAX_TEXT_CHARS = 2_000;
const MAX_LINE_CHARS = 16_000;

export function createOperationLog({ clock, levels, clean, sinks, always = {} }: OperationLogOptions): OperationLog {
  let written = 0;
  let withheld = 0;
  let lost = 0;
  let problem: string | undefined;

  function write(level: LogLevel, component: string, msg: string, fields: LogFields): void {
    const head = { ts: new Date(clock.now()).toISOString(), level, component, ...always };
    let line: string;
    try {
      line = lineOf(head, clean({ msg, ...shortened(fields) }));
    } catch {
      withheld += 1;
      line = lineOf(head, { msg: "a line was withheld: its secrets could not be removed" });
    }
    let failure: string | undefined;
    for (const sink of sinks) {
      try {
        sink(line);
        written += 1;
      } catch (error) {
        lost += 1;
        failure = error instanceof Error ? error.message : String(error);
      }
    }
    problem = failure;
  }

  return {
    of(component) {
      const least = LOG_LEVELS.indexOf(levelOf(levels, component));
      const at =
        (level: LogLevel) =>
        (msg: string, fields: LogFields = {}) => {
          if (LOG_LEVELS.indexOf(level) >= least) write(level, component, msg, fields);
        };
      return { trace: at("trace"), debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
    },
    counters: () => ({ written, withheld, lost, ...defined({ problem }) }),
  };
}

/** The head wins over a field of the same name. */
function lineOf(head: LogFields, body: LogFields): string {
  const line = JSON.stringify({ ...head, ...body, ...head });
  if (line.length <= MAX_LINE_CHARS) return `${line}\n`;
  return `${JSON.stringify({ ...head, msg: body.msg, cut: line.length })}\n`;
}

function shortened(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      return [
        name,
        typeof value === "string" && value.length > MAX_TEXT_CHARS ? `${beginningOf(value, MAX_TEXT_CHARS)}…` : value,
      ];
    }),
  );
}
