/** A connection on which nothing comes, not even a heartbeat, is gone, although nobody said so. */
import type { ClientClock } from "./client-host.ts";

/** A server beats every 30 seconds; it may miss two. */
export const SILENCE_MAX_MS = 90_000;

export interface Silence {
  /** Something came. */
  broken(): void;
  end(): void;
}

export function createSilence(clock: ClientClock, onTooLong: (cause: Error) => void): Silence {
  let heardMs = clock.monotonicMs();
  const ended = new AbortController();
  async function watch(): Promise<void> {
    while (!ended.signal.aborted) {
      const restMs = heardMs + SILENCE_MAX_MS - clock.monotonicMs();
      if (restMs <= 0) return onTooLong(new Error(`nothing came for ${SILENCE_MAX_MS / 1000} seconds`));
      await clock.sleep(restMs, ended.signal);
    }
  }
  void watch();
  return {
    broken() {
      heardMs = clock.monotonicMs();
    },
    end: () => ended.abort(),
  };
}
