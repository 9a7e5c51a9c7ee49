/** How often and how long a client tries to get back to its server. */
import type { Clock, Random } from "#base";

export interface ReconnectOptions {
  /** Tries in a row that lead nowhere before it gives up. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Awaited before each further try, for whoever can do something about it: start the server, say. What it rejects with ends the tries. */
  readonly beforeRetry?: () => Promise<void>;
}

/** A minute and a half in all: a daemon is started again within that. */
export const DEFAULT_RECONNECT: ReconnectOptions = { attempts: 50, firstDelayMs: 50, maxDelayMs: 2000 };

export interface RetryPorts {
  readonly clock: Pick<Clock, "sleep">;
  readonly random: Random;
}

/** Doubles up to the longest; a random half of it is left out, so that many clients of one server do not come back at once. */
export function delayMs({ firstDelayMs, maxDelayMs }: ReconnectOptions, failures: number, random: Random): number {
  const whole = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(30, failures - 1));
  const [byte = 0] = random.bytes(1);
  return whole * (1 - byte / 512);
}

/** Does `work` again, after a while, for as long as `again` says so of its error; the last error is thrown. */
export async function retrying<Result>(
  { clock, random }: RetryPorts,
  options: ReconnectOptions,
  signal: AbortSignal,
  again: (error: unknown) => boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      signal.throwIfAborted();
      return await work();
    } catch (error) {
      if (signal.aborted || failures > options.attempts || !again(error)) throw error;
      await options.beforeRetry?.();
      await clock.sleep(delayMs(options, failures, random), signal);
    }
  }
}
