/**
 * Retention in a daemon: looked at every hour, done once a day, a portion at a time so that sessions go on in between. A failure is
 * told and tried again; it ends nothing.
 */
import { type Clock, counted } from "#base";
import type { PortionBound, RetentionPortion } from "#program";
import { MIN_BATCH_EVENTS } from "#stores";

/** The start belongs to the sessions. */
const FIRST_LOOK_MS = 60_000;
const LOOK_EVERY_MS = 60 * 60 * 1000;
/** Between two portions of one run. */
export const GO_ON_MS = 1_000;
const RETRY_MS = 10 * 60 * 1000;
/** One portion is one small transaction: for so long nothing else runs in the daemon. */
export const PORTION_BOUND: PortionBound = { maxBatches: 1, batchEvents: MIN_BATCH_EVENTS };

export interface RetentionWatchOptions {
  readonly clock: Pick<Clock, "sleep">;
  /** One bounded step. */
  readonly portion: () => Promise<RetentionPortion>;
  /** One that did something, or looked which sessions are next. */
  readonly onPortion: (portion: Exclude<RetentionPortion, { kind: "not-due" }>) => void;
  readonly onFailure: (failure: unknown) => void;
}

export interface RetentionWatch {
  /** For health. */
  state(): { readonly state: "not run" | "ok" | "failing"; readonly detail?: string };
  stop(): void;
}

export function watchRetention({ clock, portion, onPortion, onFailure }: RetentionWatchOptions): RetentionWatch {
  const stopped = new AbortController();
  let state: ReturnType<RetentionWatch["state"]> = { state: "not run" };

  /** Milliseconds to the next look. */
  async function look(): Promise<number> {
    try {
      const done = await portion();
      if (done.kind !== "not-due") onPortion(done);
      if (done.kind === "done") state = { state: "ok", ...soon(done.expiring.length) };
      else if (state.state === "failing") state = { state: "ok" };
      return done.kind === "unfinished" ? GO_ON_MS : LOOK_EVERY_MS;
    } catch (failure) {
      state = { state: "failing" };
      onFailure(failure);
      return RETRY_MS;
    }
  }

  async function watch(): Promise<void> {
    for (let waitMs = FIRST_LOOK_MS; ; ) {
      await clock.sleep(waitMs, stopped.signal);
      if (stopped.signal.aborted) return;
      waitMs = await look();
    }
  }

  void watch();
  return { state: () => state, stop: () => stopped.abort() };
}

function soon(sessions: number): { readonly detail?: string } {
  if (sessions === 0) return {};
  return { detail: `${counted(sessions, "session")} ${sessions === 1 ? "loses" : "lose"} content soon` };
}
