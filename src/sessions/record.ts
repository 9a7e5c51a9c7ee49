/** An event as a store keeps it: the payload as JSON text, the session and the id held outside. */
import type { EventDraft } from "#engine";
import type { ClientId, Event, SessionId } from "#protocol";
import { contentHash, type EventEvidence, eventHash } from "./evidence.ts";
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

/** A record with its place in the chain. */
export interface ChainedRecord extends EventRecord, EventEvidence {
  readonly id: number;
}

/** Where the next event of a session goes: after this id, carrying this hash. */
export interface ChainHead {
  readonly lastEventId: number;
  readonly hash: string;
}

/** Links the drafts behind `head`, in order; the last element of the chain is the new head. */
export function chainDrafts(
  session: SessionId,
  head: ChainHead,
  drafts: readonly EventDraft[],
  nextSalt: () => string,
): { readonly records: readonly ChainedRecord[]; readonly head: ChainHead } {
  let { lastEventId: id, hash: prev } = head;
  const records = drafts.map((draft): ChainedRecord => {
    const { kind, ts, originator, payload } = toRecord(draft);
    const salt = nextSalt();
    const content = contentHash(salt, payload);
    const carried = prev;
    id += 1;
    prev = eventHash({ session, id, kind, ts, originator }, carried, content);
    return { id, kind, ts, originator, payload, prev: carried, salt, content };
  });
  return { records, head: { lastEventId: id, hash: prev } };
}

export function toEvent(session: SessionId, id: number, record: EventRecord): Event {
  const { kind, ts, originator } = record;
  const payload: unknown = JSON.parse(record.payload);
  // The log holds only what `toRecord` made of a typed draft.
  if (originator === null) return { id, kind, session, ts, payload } as Event;
  return { id, kind, session, originator: originator as ClientId, ts, payload } as Event;
}
