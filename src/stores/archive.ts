/** What the stores of this folder add to the engine's port: sessions leave and enter whole, with their evidence. */
import type { SessionMeta, SessionStore } from "#engine";
import type { SessionId } from "#protocol";
import type { Checkpoint } from "./checkpoint.ts";
import type { EvidenceItem } from "./evidence-lines.ts";
import type { ChainedRecord, ChainHead } from "./record.ts";

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
   * and numbered from 1, which the caller has checked. Rejects when the id exists. `checkpoints` are those that came with
   * the records; without them the evidence was made here, and a store that signs signs it.
   */
  restore(
    session: ArchivedSession,
    records: Iterable<ChainedRecord>,
    checkpoints?: readonly Checkpoint[],
  ): Promise<void>;
  /**
   * Every record in order, each checkpoint after its event, the head of the chain last; what is appended meanwhile is left
   * out. Rejects with SessionNotFound.
   */
  readEvidence(id: SessionId): AsyncIterable<EvidenceItem>;
}

const READ_PAGE = 500;

/** The records of a session, oldest first. */
export async function* readRecords(store: ArchiveStore, id: SessionId): AsyncGenerator<ChainedRecord> {
  for await (const page of readPages(store, id)) yield* page;
}

/** The records of a session up to an event, oldest first, a page at a time. */
export async function* readPages(
  store: Pick<ArchiveStore, "records">,
  id: SessionId,
  upTo = Infinity,
): AsyncGenerator<readonly ChainedRecord[]> {
  let after = 0;
  while (after < upTo) {
    const page = await store.records(id, { after, limit: Math.min(READ_PAGE, upTo - after) });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}

/** The evidence of a session: `checkpoints`, in the order of their events, go between the records. */
export async function* mergeEvidence(
  session: SessionId,
  pages: AsyncIterable<readonly ChainedRecord[]>,
  checkpoints: readonly Checkpoint[],
  head: ChainHead,
): AsyncGenerator<EvidenceItem> {
  let at = 0;
  for await (const page of pages) {
    for (const record of page) {
      yield { type: "record", record: { ...record, session } };
      for (let next = checkpoints[at]; next !== undefined && next.event <= record.id; next = checkpoints[++at]) {
        yield { type: "checkpoint", checkpoint: next };
      }
    }
  }
  for (const checkpoint of checkpoints.slice(at)) yield { type: "checkpoint", checkpoint };
  yield { type: "head", head };
}

/** Finds where a chain is to be signed: after each turn and at its end. */
export function createPlacesToSign(): {
  note(record: ChainedRecord): void;
  all(): readonly ChainHead[];
} {
  const turns: ChainHead[] = [];
  let end: ChainHead | undefined;
  return {
    note(record) {
      const hash = record.link?.hash;
      if (hash === undefined) return;
      end = { lastEventId: record.id, hash };
      if (record.kind === "TurnEnded") turns.push(end);
    },
    all: () => (end === undefined || turns.at(-1) === end ? turns : [...turns, end]),
  };
}
