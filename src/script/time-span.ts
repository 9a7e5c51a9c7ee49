/** Time limits as scripts write them: seconds, though some scripts hand on milliseconds. */

/** Above this a number can only be meant in milliseconds. */
const MAX_SECONDS = 600;
const MAX_MS = MAX_SECONDS * 1000;

/** Milliseconds, at most ten minutes. */
export function spanMs(value: number | undefined, fallbackMs: number): number {
  if (value === undefined) return fallbackMs;
  if (!(value > 0)) throw new Error("a time limit must be above 0");
  return Math.min(MAX_MS, Math.ceil(value > MAX_SECONDS ? value : value * 1000));
}
