/** Work that is given up after a time on the clock, or with the signal around it. */
import type { Clock } from "#base";

export interface Deadline {
  /** Aborts when the time is over, or with the signal around it. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  clear(): void;
}

export function startDeadline(clock: Clock, ms: number, around: AbortSignal): Deadline {
  const over = new AbortController();
  const cleared = new AbortController();
  void clock.sleep(ms, cleared.signal).then(() => {
    if (!cleared.signal.aborted) over.abort();
  });
  return {
    signal: AbortSignal.any([around, over.signal]),
    isOver: () => over.signal.aborted,
    clear: () => cleared.abort(),
  };
}

/** Rejects as soon as the signal aborts, also when the work goes on. */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  work.catch(() => undefined); // raced below; nobody is left for a late rejection
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new Error("it was given up"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
