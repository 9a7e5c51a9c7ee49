/** Sessions that live as long as the process: for embedding, for `--store memory` and for tests. Durable in name only. */
import type { Clock } from "#base";
import type { SessionMeta } from "#engine";
import type { SessionId } from "#protocol";
import { type ArchivedSession, type ArchiveStore, createPlacesToSign } from "./archive.ts";
import type { Checkpoint, Signer } from "./checkpoint.ts";
import { createEvidenceStore } from "./evidence-store.ts";
import type { ChainedRecord } from "./record.ts";
import { newestFirst, type RecordBackend } from "./record-backend.ts";
import { sessionBusy, sessionNotFound } from "./store-errors.ts";

interface StoredSession {
  meta: ArchivedSession;
  readonly records: ChainedRecord[];
  readonly checkpoints: Checkpoint[];
  isOpen: boolean;
}

export interface MemoryStoreOptions {
  /** Signs evidence when it is read: until then nobody but this process can have seen it, or changed it. */
  readonly signer: Signer;
  readonly clock: Pick<Clock, "now">;
}

/** Without options its evidence is chained and not signed. */
export function createMemoryStore(options?: MemoryStoreOptions): ArchiveStore {
  const sessions = new Map<SessionId, StoredSession>();
  // Nobody else can take a lease of it, so that nobody asks for the time.
  const store = createEvidenceStore(createMemoryBackend(sessions), { clock: options?.clock ?? { now: () => 0 } });
  if (options === undefined) return store;
  return {
    ...store,
    async *readEvidence(id) {
      const session = sessions.get(id);
      if (session !== undefined) signUnsigned(id, session, options);
      yield* store.readEvidence(id);
    },
  };
}

function createMemoryBackend(sessions: Map<SessionId, StoredSession>): RecordBackend {
  const existing = (id: SessionId): StoredSession => {
    const session = sessions.get(id);
    if (session === undefined) throw sessionNotFound(id);
    return session;
  };
  const unopened = (id: SessionId): StoredSession => {
    const session = existing(id);
    if (session.isOpen) throw sessionBusy(id, "this process");
    return session;
  };

  return {
    name: "memory",
    create(meta, records, checkpoints) {
      if (sessions.has(meta.id)) return false;
      sessions.set(meta.id, { meta, records: [...records], checkpoints: [...checkpoints()], isOpen: false });
      return true;
    },
    get(id) {
      const session = sessions.get(id);
      return session && toMeta(session);
    },
    list: (options) => newestFirst(sessions.values().map(toMeta), options),
    update(id, change) {
      const session = sessions.get(id);
      if (session !== undefined) session.meta = { ...session.meta, ...change };
      return session !== undefined;
    },
    delete: (id) => void sessions.delete(unopened(id).meta.id),
    acquire(id) {
      const session = unopened(id);
      session.isOpen = true;
      return {
        last: session.records.at(-1),
        signedTo: session.checkpoints.at(-1)?.event ?? 0,
        append({ records, end }) {
          for (const record of records) session.records.push(record);
          session.meta = { ...session.meta, updatedAt: end.now };
        },
        sign: (checkpoint) => void session.checkpoints.push(checkpoint),
        release(_, checkpoint) {
          if (checkpoint !== undefined) session.checkpoints.push(checkpoint);
          session.isOpen = false;
        },
      };
    },
    records: (id, { after, limit }) => existing(id).records.slice(after, after + limit),
    checkpoints: (id) => existing(id).checkpoints.slice(),
    close: () => sessions.clear(),
  };
}

function signUnsigned(id: SessionId, { records, checkpoints }: StoredSession, options: MemoryStoreOptions): void {
  const ts = new Date(options.clock.now()).toISOString();
  const signedTo = checkpoints.at(-1)?.event ?? 0;
  const places = createPlacesToSign();
  for (const record of records.slice(signedTo)) places.note(record);
  for (const { lastEventId: event, hash } of places.all()) {
    checkpoints.push(options.signer.sign({ session: id, event, hash, ts }));
  }
}

function toMeta({ meta, records }: StoredSession): SessionMeta {
  return { ...meta, lastEventId: records.length };
}
