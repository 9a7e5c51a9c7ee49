/** Bounds the time of work that cannot be trusted to end. */
import type { Clock } from "./ports.ts";

/**
 * What `work` comes to, or `late()` thrown when it takes longer than `ms`. Its signal aborts then; nobody waits for it any more, and
 * what it still does has no effect here.
 */
export async function withinTime<Result>(
  clock: Pick<Clock, "sleep">,
  ms: number,
  work: (signal: AbortSignal) => Result | Promise<Result>,
  late: () => Error,
): Promise<Result> {
  const over = new AbortController();
  const settled = new AbortController();
  const tooLate = Promise.withResolvers<never>();
  void clock.sleep(ms, settled.signal).then(() => {
    if (settled.signal.aborted) return;
    over.abort();
    tooLate.reject(late());
  });
  try {
    return await Promise.race([(async () => work(over.signal))(), tooLate.promise]);
  } finally {
    settled.abort();
  }
}
