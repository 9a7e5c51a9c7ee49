/** `time`: the wall clock. */
import { everyone, module, row } from "./definition.ts";

export const time = module("time", "The wall clock", everyone, [
  row(
    "now()",
    "string",
    "The time as RFC 3339 in UTC with nine digits of a second: `2026-01-01T00:00:00.000000000Z`.",
  ).runs((_args, call) => timestamp(call.services.clock.now())),
  row("unix()", "int", "Seconds since 1970.").runs((_args, call) => Math.floor(call.services.clock.now() / 1000)),
]);

/** RFC 3339 with nanoseconds, of which the clock knows the first three digits. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000000Z");
}
