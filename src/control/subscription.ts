/**
 * One client's view of one session: first what the log has, a page at a time and no faster than the client takes it, then what
 * happens. Nothing is held back meanwhile: what happens during the replay is read from the log, so memory does not grow. Others get
 * their turn again and again, however fast the client reads.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventBus, EventPage } from "#engine";
import type { Event } from "#protocol";

/** Events read at a time when a client catches up. */
export const REPLAY_PAGE_EVENTS = 200;
/** Events told before others get their turn: a millisecond of work, and some more while the program is cold. */
const REPLAY_TURN_EVENTS = 50;
/** What a catch-up holds in memory: a page ends with the event whose stored text reaches this. A single event may be larger. */
const REPLAY_PAGE_CHARS = 256 * 1024;

export interface ReplayOptions {
  /** Empty only when there are no more. */
  readonly read: (page: EventPage) => Promise<readonly Event[]>;
  readonly onEvent: (event: Event) => void;
  /** What an event of the log passes before it is told. Called once for each, in order, when the client takes it. */
  readonly replayed?: ((event: Event) => Event) | undefined;
  /** Asked before each event of the replay: undefined when the client takes it, else what to wait for. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
}

/** Tells what the log has after `since`, to its end or until `isStopped`. Resolves with the last event that was told. */
export async function replayLog(options: ReplayOptions, since: number, isStopped: () => boolean): Promise<number> {
  const { read, onEvent, ready, replayed = (event) => event } = options;
  let last = since;
  let told = 0;
  while (!isStopped()) {
    const page = await read({ after: last, limit: REPLAY_PAGE_EVENTS, maxChars: REPLAY_PAGE_CHARS });
    if (page.length === 0) return last;
    for (const event of page) {
      const taken = ready?.();
      if (taken !== undefined) await taken;
      if (isStopped()) return last;
      last = event.id;
      onEvent(replayed(event));
      told += 1;
      if (told % REPLAY_TURN_EVENTS === 0) await nextTurn();
    }
    // Also after a page of few large events.
    await nextTurn();
  }
  return last;
}

export interface SubscriptionOptions extends ReplayOptions {
  readonly bus: Pick<EventBus, "subscribe">;
  /** Absent: only what happens from now on. */
  readonly since?: number | undefined;
}

export interface Subscription {
  stop(): void;
  /** Resolves when the client is told of what happens as it happens, or is not told any more. Rejects when the log cannot be read. */
  readonly caughtUp: Promise<void>;
}

export function subscribe(options: SubscriptionOptions): Subscription {
  const { bus, onEvent, since } = options;
  let last = since ?? 0;
  let isLive = since === undefined;
  let isStopped = false;
  /** The newest event that happened during the replay. */
  let newest = 0;
  const unsubscribe = bus.subscribe((event) => {
    if (!isLive) newest = event.id;
    else if (event.id > last) onEvent(event);
  });
  function stop(): void {
    isStopped = true;
    unsubscribe();
  }

  async function replay(): Promise<void> {
    while (!isLive && !isStopped) {
      last = await replayLog(options, last, () => isStopped);
      // No event can come in between here: it is told, and noted above, only after it is in the log.
      if (newest <= last) isLive = true;
    }
  }

  const caughtUp = replay().catch((error: unknown) => {
    stop();
    throw error;
  });
  return { stop, caughtUp };
}
