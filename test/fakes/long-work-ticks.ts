/** What became of the ticks of schedules, as `GET /v1/schedules` shows it: each ran once or is reported, and none is left out. */

export interface ScheduleView {
  readonly name: string;
  readonly times: string;
  readonly created_at: string;
  readonly totals: { readonly claimed: number; readonly missed: number };
  readonly ticks: readonly TickView[];
}

interface TickView {
  readonly at: string;
  readonly last_at?: string;
  readonly state: string;
  readonly count?: number;
  readonly session?: string;
}

const MINUTE_MS = 60_000;

/** No run is at work, and no tick is due. */
export function isSettled({ times, created_at, ticks }: ScheduleView, nowMs: number): boolean {
  const last = ticks[0];
  if (ticks.some(({ state }) => state === "claimed" || state === "running")) return false;
  return nowMs < Date.parse(last?.last_at ?? last?.at ?? created_at) + periodOf(times);
}

export function problemsOfTicks(schedules: readonly ScheduleView[]): readonly string[] {
  return schedules.flatMap(({ name, times, totals, ticks }) => {
    const problems: string[] = [];
    const records = ticks.toReversed();
    let next: number | undefined;
    for (const { at, last_at = at, state, count } of records) {
      const [fromMs, toMs] = [Date.parse(at), Date.parse(last_at)];
      if (next !== undefined && fromMs !== next) problems.push(`${name}: after a tick came ${at}`);
      const covered = (toMs - fromMs) / periodOf(times) + 1;
      if (state === "missed" ? count !== covered : covered !== 1) problems.push(`${name}: ${covered} ticks at ${at}`);
      next = toMs + periodOf(times);
    }
    const ran = records.filter(({ state }) => state !== "missed");
    const missed = records.reduce((sum, { count = 0 }) => sum + count, 0);
    if (ran.length !== totals.claimed || missed !== totals.missed) problems.push(`${name}: records are missing`);
    const odd = ran.filter(({ state }) => state !== "done" && state !== "lost");
    if (new Set(ran.map(({ session }) => session)).size !== ran.length) problems.push(`${name}: a session ran twice`);
    return [...problems, ...odd.map(({ at, state }) => `${name}: the run of ${at} is ${state}`)];
  });
}

function periodOf(times: string): number {
  return times.startsWith("every 2m") ? 2 * MINUTE_MS : MINUTE_MS;
}
