/** Ctrl-C: the first cancels the turn, a second within two seconds leaves the program. */
import type { Clock } from "#base";
import type { Terminal } from "./terminal.ts";

export const EXIT_WINDOW_MS = 2000;

export interface InterruptOptions {
  readonly terminal: Terminal;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Cancels what runs. */
  readonly cancel: () => void;
  readonly exit: () => void;
}

/** Returns how to stop listening. */
export function handleInterrupts({ terminal, clock, cancel, exit }: InterruptOptions): () => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return terminal.onInterrupt((by) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs <= EXIT_WINDOW_MS) return exit();
    lastMs = nowMs;
    cancel();
    if (by === "person") terminal.err("\nPress Ctrl-C again within 2s to exit.\n");
  });
}
