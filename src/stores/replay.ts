/**
 * A walk over a session's events, forwards and backwards, by event, step or turn. Shows what happened; runs nothing. Holds
 * a few pages of events and one small mark for each turn.
 */
import type { SessionStore } from "#engine";
import type { Event, SessionId, TurnId } from "#protocol";

const PAGE_EVENTS = 256;
const PAGES_HELD = 4;

export interface ReplayTurn {
  /** Counted from 1. */
  readonly number: number;
  readonly id: TurnId;
  /** Id of its TurnStarted. */
  readonly event: number;
}

export interface ReplayFrame {
  readonly event: Event;
  /** The turn the event is in or after; 0 before the first. */
  readonly turn: number;
}

export interface Replay {
  /** Id of the event the cursor is on; 0 before the first. */
  readonly position: number;
  current(): Promise<ReplayFrame | undefined>;
  /** Undefined at the end; the cursor stays. */
  next(): Promise<ReplayFrame | undefined>;
  /** Undefined at the beginning; the cursor stays. */
  previous(): Promise<ReplayFrame | undefined>;
  /** To an event, a turn, or the first event of a step of a turn. Undefined when there is none; the cursor stays. */
  seek(target: ReplayTarget): Promise<ReplayFrame | undefined>;
  turns(): Promise<readonly ReplayTurn[]>;
}

export type ReplayTarget = { readonly event: number } | { readonly turn: number; readonly step?: number };

export function createReplay(store: Pick<SessionStore, "read">, session: SessionId): Replay {
  const pages = new Map<number, readonly Event[]>();
  const turns: ReplayTurn[] = [];
  let scannedTo = 0;
  let position = 0;

  async function eventAt(id: number): Promise<Event | undefined> {
    if (!Number.isSafeInteger(id) || id < 1) return undefined;
    const page = Math.floor((id - 1) / PAGE_EVENTS);
    const after = page * PAGE_EVENTS;
    let events = pages.get(page);
    // A page that was not full may have grown since.
    if (events === undefined || (events.length < PAGE_EVENTS && events.length < id - after)) {
      events = await store.read(session, { after, limit: PAGE_EVENTS });
    }
    pages.delete(page);
    pages.set(page, events);
    const oldest = pages.keys().next();
    if (pages.size > PAGES_HELD && !oldest.done) pages.delete(oldest.value);
    return events[id - after - 1];
  }

  /** Marks turns until `enough`, or to the end. */
  async function scan(enough: () => boolean): Promise<void> {
    while (!enough()) {
      const page = await store.read(session, { after: scannedTo, limit: PAGE_EVENTS });
      for (const event of page) {
        if (event.kind === "TurnStarted") {
          turns.push({ number: turns.length + 1, id: event.payload.turn, event: event.id });
        }
        scannedTo = event.id;
      }
      if (page.length < PAGE_EVENTS) return;
    }
  }

  async function frame(event: Event | undefined): Promise<ReplayFrame | undefined> {
    if (event === undefined) return undefined;
    await scan(() => scannedTo >= event.id);
    position = event.id;
    return { event, turn: turns.findLastIndex((turn) => turn.event <= event.id) + 1 };
  }

  async function stepOf(turn: number, step: number): Promise<Event | undefined> {
    const start = turns[turn - 1]?.event;
    if (start === undefined) return undefined;
    for (let id = start; ; id++) {
      const event = await eventAt(id);
      if (event === undefined || event.kind === "TurnEnded") return undefined;
      if ("step" in event.payload && event.payload.step === step) return event;
    }
  }

  return {
    get position() {
      return position;
    },
    current: async () => frame(await eventAt(position)),
    next: async () => frame(await eventAt(position + 1)),
    previous: async () => frame(await eventAt(position - 1)),
    async seek(target) {
      if ("event" in target) return frame(await eventAt(target.event));
      const { turn, step } = target;
      await scan(() => turns.length >= turn);
      if (step !== undefined) return frame(await stepOf(turn, step));
      return frame(await eventAt(turns[turn - 1]?.event ?? 0));
    },
    async turns() {
      await scan(() => false);
      return turns;
    },
  };
}
