/** A line of the log for people: time, level, component, message, then the fields as `name=value`. */
import { visibleLine } from "#base";

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

const PLAIN_VALUE = /^[\w.:/@+-]+$/;

/** Takes a line as `createOperationLog` writes it, with its end. */
export function logText(line: string): string {
  // The log has just written it.
  const { ts, level, component, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
  return `${visibleLine(`${ts} ${String(level).toUpperCase().padEnd(5)} ${component}: ${msg}${rest.join("")}`)}\n`;
}

function fieldText(value: unknown): string {
  return typeof value === "string" && PLAIN_VALUE.test(value) ? value : JSON.stringify(value);
}
