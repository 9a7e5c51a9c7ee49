/** When events of one session happened, in the order of their ids: a wall clock that is set back does not turn the order around. */

/** The time of the next event: now, or the time of the event before it where the clock has gone back behind that. */
export function nextTs(before: string | undefined, nowMs: number): string {
  const beforeMs = before === undefined ? Number.NaN : Date.parse(before);
  return new Date(beforeMs > nowMs ? beforeMs : nowMs).toISOString();
}
