/**
 * Lets the outside in, one thing at a time. Time stands still between two arrivals, and nothing arrives before everything that
 * the last one set off has come to rest. What a session does is then a function of what arrives and in which order, however
 * fast the machine is. Knows neither sessions nor files.
 */
import type { Clock } from "#base";

/** What the outside has next. */
export interface Due {
  /** Virtual time in whole milliseconds; sleepers that are due by then wake before. */
  readonly at: number;
  /** Absent: nothing can arrive yet, but time may pass until `at`. */
  readonly deliver?: () => void;
}

export interface TurnstileOptions {
  /** Wall time of virtual 0. */
  readonly startMs: number;
  /** Asked when everything has come to rest. */
  readonly next: (nowMs: number) => Due;
  /** Everything rests and nothing is due: told when the first sleeper would wake, in virtual time. */
  readonly onIdle: (wakeAtMs: number | undefined) => void;
}

export interface Turnstile {
  readonly clock: Clock;
  /** Virtual milliseconds since the start. */
  readonly nowMs: number;
  /** As a timer does, on the virtual clock; returns how to call it off. */
  schedule(action: () => void, ms: number): () => void;
  /**
   * Something of our own that takes a while: files, the log. Begins at once; its result is let in ahead of all that arrives, in the
   * order in which it was begun.
   */
  inside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Something may be due now. */
  wake(): void;
  /** From now on nothing is held back. */
  open(): void;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

interface Inside {
  readonly settled: Promise<unknown>;
  readonly release: () => void;
}

export function createTurnstile({ startMs, next, onIdle }: TurnstileOptions): Turnstile {
  let nowMs = 0;
  let isOpen = false;
  let isRunning = false;
  let isWoken = false;
  /** By time, then by age. */
  const sleepers: Sleeper[] = [];
  const begun: Inside[] = [];

  async function run(): Promise<void> {
    for (;;) {
      await rest();
      const [first] = begun;
      if (first !== undefined) {
        await first.settled;
        begun.shift();
        first.release();
        continue;
      }
      isWoken = false;
      const due = next(nowMs);
      const [sleeper] = sleepers;
      if (sleeper !== undefined && (isOpen || sleeper.dueMs <= due.at)) {
        sleepers.shift();
        nowMs = Math.max(nowMs, sleeper.dueMs);
        sleeper.wake();
      } else if (due.deliver !== undefined) {
        nowMs = Math.max(nowMs, due.at);
        due.deliver();
      } else if (!isWoken) {
        isRunning = false;
        onIdle(sleeper?.dueMs);
        return;
      }
    }
  }

  function wake(): void {
    isWoken = true;
    if (isRunning) return;
    isRunning = true;
    void run();
  }

  function sleepUntil(dueMs: number, action: () => void): () => void {
    const sleeper = { dueMs, wake: action };
    let at = sleepers.length;
    while (at > 0 && (sleepers[at - 1]?.dueMs ?? 0) > dueMs) at--;
    sleepers.splice(at, 0, sleeper);
    wake();
    return () => {
      const index = sleepers.indexOf(sleeper);
      if (index >= 0) sleepers.splice(index, 1);
    };
  }

  const schedule = (action: () => void, ms: number): (() => void) =>
    sleepUntil(nowMs + Math.max(0, Math.ceil(ms)), action);

  return {
    clock: {
      now: () => startMs + nowMs,
      monotonicMs: () => nowMs,
      uptimeMs: () => nowMs,
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          const stop = (): void => {
            callOff();
            resolve();
          };
          const callOff = schedule(() => {
            signal?.removeEventListener("abort", stop);
            resolve();
          }, ms);
          signal?.addEventListener("abort", stop, { once: true });
        }),
    },
    get nowMs() {
      return nowMs;
    },
    schedule,
    inside(work) {
      const result = work();
      return new Promise((resolve, reject) => {
        const settled = result.then(
          () => undefined,
          () => undefined,
        );
        begun.push({ settled, release: () => void result.then(resolve, reject) });
        wake();
      });
    },
    wake,
    open() {
      isOpen = true;
      wake();
    },
  };
}

/** Two turns of the event loop: promises have settled, and so has what they put off by one turn. */
async function rest(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
