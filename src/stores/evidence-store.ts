/**
 * A session store on a record backend. What makes a log evidence is here and in `evidence-log.ts`, once for all kinds of stores:
 * links, checkpoints, leases, the grouping of appends, and the last known heads.
 */
import type { Clock } from "#base";
import { type Event, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, createPlacesToSign, mergeEvidence, readPages, readRecords } from "./archive.ts";
import type { Checkpoint, Signer } from "./checkpoint.ts";
import { createSalts } from "./evidence.ts";
import { followedHead, headAfter, type LogParts, openEvidenceLog, signHead } from "./evidence-log.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createKnownHeads, type HeadsPlace } from "./known-heads.ts";
import { type ChainedRecord, type ChainHead, chainDrafts, toEvent } from "./record.ts";
import type { RecordBackend } from "./record-backend.ts";
import { accessFailed, sessionExists, sessionNotFound, storeClosed } from "./store-errors.ts";

export interface EvidenceOptions {
  readonly clock: Pick<Clock, "now">;
  /** Signs a checkpoint at the end of each turn and when a writer leaves; without it the log is chained, not signed. */
  readonly signer?: Signer;
  /** Where the last known head of each session is kept; without it an older copy of the log is not noticed. */
  readonly heads?: HeadsPlace;
}

/** The store on a backend, which it owns from now on. `chain` is for the benchmark that weighs it; nobody else may leave it out. */
export function createEvidenceStore(
  backend: RecordBackend,
  { clock, signer, heads: place }: EvidenceOptions,
  chain = chainDrafts,
): ArchiveStore {
  const { historyStart, turnCount, expiredTo } = backend;
  const heads = place && createKnownHeads(place, backend.name);
  const group = createGroupCommit(backend.groups);
  const open = new Set<() => void>();
  let isClosed = false;

  /** Runs one call of the store; whatever the backend throws leaves as a ReasonError with its cause. */
  const guarded: LogParts["guarded"] = async (effect, work) => {
    if (isClosed) throw storeClosed();
    try {
      return await work();
    } catch (error) {
      if (error instanceof ReasonError) throw error;
      throw backend.failure?.(effect, error) ?? accessFailed(effect, backend.name, error);
    }
  };

  const headOf = (id: SessionId): ChainHead => {
    if (backend.head !== undefined) return backend.head(id);
    const meta = backend.get(id);
    if (meta === undefined) throw sessionNotFound(id);
    const [last] = backend.records(id, { after: Math.max(0, meta.lastEventId - 1), limit: 1 });
    return headAfter(backend, id, last);
  };

  const store: ArchiveStore = {
    create: (session) =>
      guarded("writes", () => {
        const fields = { updatedAt: session.createdAt, title: "", state: "active", pinned: false } as const;
        if (!backend.create({ ...session, ...fields }, [], () => [])) throw sessionExists(session.id);
      }),
    restore: (session, records, known) =>
      guarded("writes", () => {
        const { id } = session;
        const places = createPlacesToSign();
        const checkpoints = (): readonly Checkpoint[] =>
          known ?? (signer ? places.all().map((head) => signHead(signer, clock, id, head)) : []);
        if (!backend.create(session, noting(records, places.note), checkpoints)) throw sessionExists(id);
        const head = places.all().at(-1);
        if (heads === undefined || head === undefined) return;
        const followed = followedHead(backend, id, head, heads.read(id));
        if (followed.problem === undefined && head.lastEventId > followed.known) heads.keep(id, head);
      }),
    get: (id) => guarded("reads", () => backend.get(id)),
    list: (options) => guarded("reads", () => backend.list(options)),
    update: (id, change) =>
      guarded("writes", () => {
        if (!backend.update(id, change)) throw sessionNotFound(id);
      }),
    delete: (id) =>
      guarded("writes", () => {
        backend.delete(id);
        return heads?.forget(id);
      }),
    acquire: (id) => guarded("writes", () => openEvidenceLog(parts, id)),
    read: (id, page) =>
      guarded("reads", () => backend.events?.(id, page) ?? eventPage(id, backend.records(id, page), page.maxChars)),
    records: (id, page) => guarded("reads", () => backend.records(id, page)),
    async *readEvidence(id) {
      // In this order: a checkpoint is stored after its event.
      const checkpoints = await guarded("reads", () => backend.checkpoints(id));
      const head = await guarded("reads", () => headOf(id));
      yield* mergeEvidence(id, readPages(store, id, head.lastEventId), checkpoints, head);
    },
    ...(historyStart && { historyStart: (id) => guarded("reads", () => historyStart(id)) }),
    ...(turnCount && { turnCount: (id) => guarded("reads", () => turnCount(id)) }),
    ...(expiredTo && { expiredTo: (id) => guarded("reads", () => expiredTo(id)) }),
    async close() {
      if (isClosed) return;
      group.flush();
      isClosed = true;
      for (const stop of open) stop();
      backend.close();
    },
  };
  const readAll = (id: SessionId): AsyncIterable<ChainedRecord> => readRecords(store, id);
  const parts: LogParts = {
    ...{ backend, clock, signer, heads, chain, group, open, guarded, readAll },
    nextSalt: createSalts(),
  };
  return store;
}

function* noting(records: Iterable<ChainedRecord>, note: (record: ChainedRecord) => void): Generator<ChainedRecord> {
  for (const record of records) {
    note(record);
    yield record;
  }
}

function eventPage(id: SessionId, records: readonly ChainedRecord[], maxChars = Number.POSITIVE_INFINITY): Event[] {
  const page: Event[] = [];
  let chars = 0;
  for (const record of records) {
    page.push(toEvent(id, record.id, record));
    chars += record.payload.length;
    if (chars >= maxChars) break;
  }
  return page;
}
