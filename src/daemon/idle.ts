/**
 * When nobody is there and nothing is to be done: sessions of a daemon end after their time, and then the daemon itself, if it was
 * started to be there for others. A turn, an input that waits, a question, an attached client, an open stream, a background
 * command that a person has kept, a pinned session or a schedule keeps it.
 */
import type { Clock } from "#base";
import type { Control, OpenSessionState } from "#control";
import type { SessionId } from "#protocol";

/** Looked at this often, or more often where the times are short. */
const LOOK_EVERY_MS = 60_000;
const LOOKS_PER_TIME = 10;

export interface IdleWatchOptions {
  readonly clock: Clock;
  readonly control: Pick<Control, "sessions" | "retire">;
  /** Streams that are open now, whatever they are attached to. */
  readonly streams: () => number;
  /** When somebody last asked for anything, on the monotonic clock. */
  readonly lastAskedMs: () => number;
  readonly isPinned: (id: SessionId) => Promise<boolean>;
  /** Something will have to be done at its time, though nobody is there. */
  readonly isAwaited: () => boolean;
  readonly sessionIdleMs: number;
  /** Absent: the daemon stays. */
  readonly daemonIdleMs?: number;
  /** Called once. */
  readonly onIdle: () => void;
  /** Looking failed, or a session could not be let go; both are tried again. */
  readonly onFailure: (failure: unknown, session?: SessionId) => void;
}

/** Returns how to stop it. */
export function watchIdleness(options: IdleWatchOptions): () => void {
  const { clock, control, sessionIdleMs, daemonIdleMs = Number.POSITIVE_INFINITY } = options;
  const stopped = new AbortController();
  const everyMs = Math.min(LOOK_EVERY_MS, Math.min(sessionIdleMs, daemonIdleMs) / LOOKS_PER_TIME);
  /** Since when each session has had nothing to do. */
  const idleSince = new Map<SessionId, number>();
  let busyMs = clock.monotonicMs();

  async function look(): Promise<void> {
    const nowMs = clock.monotonicMs();
    const open = control.sessions();
    const ids = new Set(open.map(({ id }) => id));
    for (const id of idleSince.keys()) if (!ids.has(id)) idleSince.delete(id);
    let isNeeded = options.streams() > 0 || options.isAwaited() || open.some(isBusy);
    for (const session of open) {
      if (isBusy(session)) {
        idleSince.delete(session.id);
        continue;
      }
      const since = idleSince.get(session.id) ?? nowMs;
      idleSince.set(session.id, since);
      if (await options.isPinned(session.id)) isNeeded = true;
      else if (nowMs - since >= sessionIdleMs) await retire(session.id);
    }
    if (isNeeded) busyMs = nowMs;
    if (nowMs - Math.max(busyMs, options.lastAskedMs()) < daemonIdleMs) return;
    stopped.abort();
    options.onIdle();
  }

  async function retire(id: SessionId): Promise<void> {
    try {
      await control.retire(id);
    } catch (failure) {
      options.onFailure(failure, id);
    }
  }

  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      await clock.sleep(everyMs, stopped.signal);
      // Whoever cannot be asked whether it is needed is.
      if (!stopped.signal.aborted) await look().catch((failure: unknown) => options.onFailure(failure));
    }
  }

  void watch();
  return () => stopped.abort();
}

function isBusy({ activity, attached, queued, keptJobs }: OpenSessionState): boolean {
  return activity !== "idle" || attached > 0 || queued > 0 || keptJobs > 0;
}
