/** How much each component says. A component is a dotted name; what is set for `provider` holds for `provider.openai`. */
import { defined } from "#base";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "off"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLevels {
  readonly level: LogLevel;
  readonly components: Readonly<Record<string, LogLevel>>;
}

/** Without a level for all: that of somebody else holds. */
export type GivenLevels = Pick<LogLevels, "components"> & Partial<Pick<LogLevels, "level">>;

const COMPONENT = /^[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/;
const MAX_PARTS = 100;

export function isLogLevel(text: string): text is LogLevel {
  return LOG_LEVELS.some((level) => level === text);
}

/** `debug`, `engine=debug,provider.openai=trace`, or both. Undefined when it makes no sense. */
export function parseLogLevels(text: string): GivenLevels | undefined {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > MAX_PARTS) return undefined;
  let level: LogLevel | undefined;
  const components: Record<string, LogLevel> = {};
  for (const part of parts) {
    const [name = "", value] = part.split("=", 2).map((side) => side.trim());
    if (value === undefined && isLogLevel(name)) level = name;
    else if (value !== undefined && COMPONENT.test(name) && isLogLevel(value)) components[name] = value;
    else return undefined;
  }
  return { ...defined({ level }), components };
}

/** That of the component, else of what it is part of, else of all. */
export function levelOf({ level, components }: LogLevels, component: string): LogLevel {
  for (let name = component; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const own = components[name];
    if (own !== undefined) return own;
  }
  return level;
}
