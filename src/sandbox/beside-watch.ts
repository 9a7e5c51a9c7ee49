/**
 * Looks after a command that goes on beside the turns. The person works in the same folder meanwhile, so what it puts where their
 * programs would run it is taken away at once and not only when the command has ended. It ends the command, which would put it there again.
 */
import type { Clock } from "#base";
import type { Swept } from "./held-back.ts";

const PAUSE_MS = 1_000;
/** After each look, a pause of so many times what it took: in a large folder looking takes a while. */
const PAUSES_PER_LOOK = 20;

export const CAUGHT =
  "it put something where git, an editor or a shell would run it outside the sandbox; Harness took it away and ended the command (built-in: steering-files)";

export interface BesideWatch {
  /** Aborted when the command has to end. */
  readonly signal: AbortSignal;
  readonly isCaught: boolean;
  /** No more looks; what the last one found. */
  close(): Swept;
}

/** `signal` is that of the command. */
export function watchBeside(
  sweep: () => Swept,
  clock: Pick<Clock, "sleep" | "monotonicMs">,
  signal: AbortSignal,
): BesideWatch {
  const caught = new AbortController();
  const closed = new AbortController();
  let found: Swept = { lines: [], failures: [] };

  async function look(): Promise<void> {
    for (let pauseMs = PAUSE_MS; ; ) {
      await clock.sleep(pauseMs, closed.signal);
      if (closed.signal.aborted) return;
      const startedMs = clock.monotonicMs();
      found = sweep();
      if (found.lines.length + found.failures.length > 0) return caught.abort();
      pauseMs = Math.max(PAUSE_MS, PAUSES_PER_LOOK * (clock.monotonicMs() - startedMs));
    }
  }

  // What cannot be looked at cannot be taken away: that ends the command as well.
  look().catch((error: unknown) => {
    found = { lines: [], failures: [error instanceof Error ? error : new Error(String(error))] };
    caught.abort();
  });
  return {
    signal: AbortSignal.any([signal, caught.signal]),
    get isCaught() {
      return caught.signal.aborted;
    },
    close() {
      closed.abort();
      return found;
    },
  };
}
