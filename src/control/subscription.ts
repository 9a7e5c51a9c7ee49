/**
 * One client's view of one session: first what the log has, a page at a time and no faster than the client takes it, then what
 * happens. Nothing is held back meanwhile: what happens during the replay is read from the log, so memory does not grow.
 */
import type { EventBus } from "#engine";
import type { Event } from "#protocol";

/** Events read at a time when a client catches up. */
const REPLAY_PAGE = 200;

export interface SubscriptionOptions {
  readonly bus: Pick<EventBus, "subscribe">;
  /** Events with `id > after`, oldest first, at most `limit`. */
  readonly read: (after: number, limit: number) => Promise<readonly Event[]>;
  readonly onEvent: (event: Event) => void;
  /** Asked before each event of the replay: undefined when the client takes it, else what to wait for. */
  readonly ready?: () => Promise<void> | undefined;
  /** Absent: only what happens from now on. */
  readonly since?: number;
}

export interface Subscription {
  stop(): void;
  /** Resolves when the client is told of what happens as it happens, or is not told any more. Rejects when the log cannot be read. */
  readonly caughtUp: Promise<void>;
}

export function subscribe({ bus, read, onEvent, ready, since }: SubscriptionOptions): Subscription {
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
      const page = await read(last, REPLAY_PAGE);
      for (const event of page) {
        const taken = ready?.();
        if (taken !== undefined) await taken;
        if (isStopped) return;
        last = event.id;
        onEvent(event);
      }
      // No event can come in between here: it is told, and noted above, only after it is in the log.
      if (!isStopped && page.length < REPLAY_PAGE && newest <= last) isLive = true;
    }
  }

  const caughtUp = replay().catch((error: unknown) => {
    stop();
    throw error;
  });
  return { stop, caughtUp };
}
