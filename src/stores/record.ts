/** An event as a store keeps it: the payload as JSON text, the session and the id held outside. */
import type { EventDraft } from "#engine";
import type { ClientId, Event, SessionId } from "#protocol";
import { type Link, type LinkedEvent, OpenLink } from "./evidence.ts";
import { eventTooLarge } from "./store-errors.ts";

/** Bound on one payload; what tools and models may write is bounded far below it. */
const MAX_PAYLOAD_CHARS = 64 * 1024 * 1024;

export type EventRecord = Omit<LinkedEvent, "id">;

/** Throws StoreFailed when the payload is over its bound. */
export function toRecord(draft: EventDraft): EventRecord {
  return { kind: draft.kind, ts: draft.ts, originator: draft.originator ?? null, payload: toPayload(draft) };
}

function toPayload({ kind, payload }: EventDraft): string {
  const text = JSON.stringify(payload);
  if (text.length > MAX_PAYLOAD_CHARS) throw eventTooLarge(kind, MAX_PAYLOAD_CHARS);
  return text;
}

/** A record with its place in the chain. */
export interface ChainedRecord extends LinkedEvent {
  /** Of the link that ends with this event. */
  readonly link: Link | undefined;
}

/** Where the next link of a session goes: after this event, behind this hash. */
export interface ChainHead {
  readonly lastEventId: number;
  /** In hex. */
  readonly hash: string;
}

/** Links the drafts behind `head`, in order; the last record ends a link. */
export function chainDrafts(
  session: SessionId,
  head: ChainHead,
  drafts: readonly EventDraft[],
  nextSalt: () => string,
): { readonly records: readonly ChainedRecord[]; readonly head: ChainHead } {
  const open = new OpenLink();
  const records: (LinkedEvent & { link: Link | undefined })[] = [];
  let { lastEventId: id, hash } = head;
  const close = (): void => {
    const last = records.at(-1);
    if (last === undefined) return;
    const link = open.close(session, hash, nextSalt);
    last.link = link;
    ({ hash } = link);
  };
  for (const draft of drafts) {
    id += 1;
    const { kind, ts, originator = null } = draft;
    const record = { id, kind, ts, originator, payload: toPayload(draft), link: undefined };
    if (!open.takes(ts)) close();
    records.push(record);
    if (open.add(record)) close();
  }
  if (!open.isEmpty) close();
  return { records, head: { lastEventId: id, hash } };
}

export function toEvent(session: SessionId, id: number, record: EventRecord): Event {
  const { kind, ts, originator } = record;
  const payload: unknown = JSON.parse(record.payload);
  // The log holds only what `toRecord` made of a typed draft.
  if (originator === null) return { id, kind, session, ts, payload } as Event;
  return { id, kind, session, originator: originator as ClientId, ts, payload } as Event;
}
