/** An event as a store keeps it: the payload as JSON text, the session and the id held outside. */
import type { EventDraft } from "#engine";
import type { ClientId, Event, SessionId } from "#protocol";
import { eventTooLarge } from "./store-errors.ts";

/** Bound on one payload; what tools and models may write is bounded far below it. */
const MAX_PAYLOAD_CHARS = 64 * 1024 * 1024;

export interface EventRecord {
  readonly kind: string;
  readonly ts: string;
  readonly originator: string | null;
  readonly payload: string;
}

/** Throws StoreFailed when the payload is over its bound. */
export function toRecord(draft: EventDraft): EventRecord {
  const payload = JSON.stringify(draft.payload);
  if (payload.length > MAX_PAYLOAD_CHARS) throw eventTooLarge(draft.kind, MAX_PAYLOAD_CHARS);
  return { kind: draft.kind, ts: draft.ts, originator: draft.originator ?? null, payload };
}

export function toEvent(session: SessionId, id: number, record: EventRecord): Event {
  const { kind, ts, originator } = record;
  const payload: unknown = JSON.parse(record.payload);
  // The log holds only what `toRecord` made of a typed draft.
  if (originator === null) return { id, kind, session, ts, payload } as Event;
  return { id, kind, session, originator: originator as ClientId, ts, payload } as Event;
}
