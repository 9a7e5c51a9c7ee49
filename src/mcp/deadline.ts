/** Work that is given up after a time on the clock, or with the signal around it. */
import type { Clock } from "#base";

export interface Deadline {
  /** Aborts when the time is over, or with the signal around it. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  /** What the work takes does not count. */
  whilePaused<Result>(work: () => Promise<Result>): Promise<Result>;
  clear(): void;
}

export function startDeadline(clock: Clock, ms: number, around: AbortSignal): Deadline {
  const over = new AbortController();
  let leftMs = ms;
  let pauses = 0;
  let isCleared = false;
  let stop = run();

  /** The returned function stops it and keeps what is left. */
  function run(): () => void {
    const stopped = new AbortController();
    const startedMs = clock.monotonicMs();
    void clock.sleep(leftMs, stopped.signal).then(() => {
      if (!stopped.signal.aborted) over.abort();
    });
    return () => {
      if (stopped.signal.aborted) return;
      stopped.abort();
      leftMs -= clock.monotonicMs() - startedMs;
    };
  }

  return {
    signal: AbortSignal.any([around, over.signal]),
    isOver: () => over.signal.aborted,
    async whilePaused(work) {
      pauses += 1;
      stop();
      try {
        return await work();
      } finally {
        pauses -= 1;
        if (pauses === 0 && !isCleared) stop = run();
      }
    },
    clear() {
      isCleared = true;
      stop();
    },
  };
}

/** Rejects as soon as the signal aborts, also when the work goes on. */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  work.catch(() => undefined); // raced below; nobody is left for a late rejection
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new Error("it was abandoned"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
