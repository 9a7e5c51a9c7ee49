/** What the stores of this folder add to the engine's port: sessions leave and enter whole, with their evidence. */
import type { SessionMeta, SessionStore } from "#engine";
import type { SessionId } from "#protocol";
import type { ChainedRecord } from "./record.ts";

/** Stands where content was that has expired. */
export const EXPIRED = "«ttl-expired»";

/** Everything about a session but its events. */
export type ArchivedSession = Omit<SessionMeta, "lastEventId">;

export interface ArchiveStore extends SessionStore {
  /** Like `read`, with each event's place in the chain. */
  records(
    id: SessionId,
    options: { readonly after: number; readonly limit: number },
  ): Promise<readonly ChainedRecord[]>;
  /**
   * Writes a whole session, durable when it resolves: all or nothing, also when `records` throws. The records are linked
   * and numbered from 1, which the caller has checked. Rejects when the id exists.
   */
  restore(session: ArchivedSession, records: Iterable<ChainedRecord>): Promise<void>;
}

const READ_PAGE = 500;

/** The records of a session, oldest first, a page at a time. */
export async function* readRecords(store: ArchiveStore, id: SessionId, upTo = Infinity): AsyncGenerator<ChainedRecord> {
  let after = 0;
  while (after < upTo) {
    const page = await store.records(id, { after, limit: Math.min(READ_PAGE, upTo - after) });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
