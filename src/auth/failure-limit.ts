/** How often one source may fail before it has to wait. Sources are forgotten when their time is over; there is a bound on how many. */
import type { Clock } from "#base";
import { ReasonError } from "#protocol";

export const FAILURES_MAX = 10;
export const FAILURE_WINDOW_MS = 60_000;
const SOURCES_MAX = 10_000;

export interface FailureLimit {
  /** Throws TooManyFailures while `source` has to wait. */
  check(source: string): void;
  /** One more. */
  count(source: string): void;
}

export function createFailureLimit({
  clock,
  max = FAILURES_MAX,
  windowMs = FAILURE_WINDOW_MS,
}: {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly max?: number;
  readonly windowMs?: number;
}): FailureLimit {
  /** Oldest first. */
  const sources = new Map<string, { count: number; readonly untilMs: number }>();

  function current(source: string) {
    const known = sources.get(source);
    if (known === undefined || known.untilMs > clock.monotonicMs()) return known;
    sources.delete(source);
    return undefined;
  }

  return {
    check(source) {
      const known = current(source);
      if (known === undefined || known.count < max) return;
      const seconds = Math.ceil((known.untilMs - clock.monotonicMs()) / 1000);
      throw new ReasonError("TooManyFailures", { seconds });
    },
    count(source) {
      const known = current(source);
      if (known !== undefined) {
        known.count += 1;
        return;
      }
      const [oldest] = sources.keys();
      if (sources.size >= SOURCES_MAX && oldest !== undefined) sources.delete(oldest);
      sources.set(source, { count: 1, untilMs: clock.monotonicMs() + windowMs });
    },
  };
}
