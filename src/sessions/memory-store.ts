/** Sessions that live as long as the process: for embedding, for `--store memory` and for tests. Durable in name only. */
import type { SessionMeta, SessionStore } from "#engine";
import type { SessionId } from "#protocol";
import { type EventRecord, toEvent, toRecord } from "./record.ts";
import { sessionExists, sessionNotFound, storeClosed } from "./store-errors.ts";

interface StoredSession {
  meta: Omit<SessionMeta, "lastEventId">;
  readonly records: EventRecord[];
}

export function createMemoryStore(): SessionStore {
  const sessions = new Map<SessionId, StoredSession>();
  let closed = false;

  const find = (id: SessionId): StoredSession | undefined => {
    if (closed) throw storeClosed();
    return sessions.get(id);
  };
  const existing = (id: SessionId): StoredSession => {
    const session = find(id);
    if (session === undefined) throw sessionNotFound(id);
    return session;
  };

  return {
    async create(session) {
      if (find(session.id) !== undefined) throw sessionExists(session.id);
      const { id, workingDir, profile, model, createdAt } = session;
      const meta = {
        id,
        workingDir,
        profile,
        model,
        createdAt,
        updatedAt: createdAt,
        title: "",
        state: "active",
      } as const;
      sessions.set(id, { meta, records: [] });
    },
    async get(id) {
      const session = find(id);
      return session && toMeta(session);
    },
    async list({ limit, workingDir }) {
      if (closed) throw storeClosed();
      return [...sessions.values()]
        .filter(({ meta }) => workingDir === undefined || meta.workingDir === workingDir)
        .map(toMeta)
        .sort(newestFirst)
        .slice(0, limit);
    },
    async update(id, change) {
      const session = existing(id);
      session.meta = { ...session.meta, ...change };
    },
    async append(id, drafts, now) {
      const session = existing(id);
      const records = drafts.map(toRecord);
      const first = session.records.length + 1;
      if (records.length === 0) return first;
      for (const record of records) session.records.push(record);
      session.meta = { ...session.meta, updatedAt: now };
      return first;
    },
    async read(id, { after, limit }) {
      return existing(id)
        .records.slice(after, after + limit)
        .map((record, index) => toEvent(id, after + index + 1, record));
    },
    async close() {
      closed = true;
      sessions.clear();
    },
  };
}

function toMeta(session: StoredSession): SessionMeta {
  return { ...session.meta, lastEventId: session.records.length };
}

/** By last change, then by id, which is minted in order of time. */
function newestFirst(a: SessionMeta, b: SessionMeta): number {
  return compare(b.updatedAt, a.updatedAt) || compare(b.id, a.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
