/**
 * Inputs that were queued before the daemon ended begin when it is there again: their sessions are opened, a few at a time and those
 * first that have waited longest. Whether an input may still begin is for its session to say, and questions wait for a person as ever.
 */
import type { Clock } from "#base";
import type { Control } from "#control";
import type { Harness } from "#program";
import type { SessionId } from "#protocol";
import { findWaitingInputs } from "#stores";

/** Sessions that are looked at, the newest ones. */
const LOOKED_SESSIONS = 200;
/** Sessions that work at a time because of this. */
export const WAITING_AT_ONCE = 4;
const LOOK_EVERY_MS = 1_000;

export interface WaitingOptions {
  readonly clock: Pick<Clock, "sleep">;
  readonly control: Pick<Control, "connect" | "sessions">;
  readonly store: Pick<Harness["store"], "list" | "read">;
  readonly atOnce?: number;
  /** No session is opened any more. */
  readonly signal: AbortSignal;
  readonly onOpened: (session: SessionId, inputs: number) => void;
  /** It is open in another process, or cannot be opened; its inputs wait on. */
  readonly onSkipped: (session: SessionId, why: unknown) => void;
}

/** Resolves when all of them were opened or skipped. Rejects when the log cannot be read. */
export async function openWaitingSessions(options: WaitingOptions): Promise<void> {
  const { clock, control, store, signal, atOnce = WAITING_AT_ONCE } = options;
  const opened = new Set<SessionId>();
  const running = (): number =>
    control.sessions().filter(({ id, activity }) => opened.has(id) && activity === "running").length;
  const client = control.connect({ identityClass: "agent", interactive: false });
  try {
    for (const { id, inputs } of await findWaitingInputs(store, LOOKED_SESSIONS)) {
      while (!signal.aborted && running() >= atOnce) await clock.sleep(LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      try {
        await client.submit({ kind: "CreateSession", resume: id });
        opened.add(id);
        options.onOpened(id, inputs);
      } catch (error) {
        options.onSkipped(id, error);
      }
    }
  } finally {
    client.disconnect();
  }
}
