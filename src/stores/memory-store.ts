/** Sessions that live as long as the process: for embedding, for `--store memory` and for tests. Durable in name only. */
import { type Clock, defined } from "#base";
import type { EventDraft, SessionMeta } from "#engine";
import type { CallId, Event, EventOf, SessionId } from "#protocol";
import { type ArchiveStore, createPlacesToSign, mergeEvidence } from "./archive.ts";
import type { Checkpoint, Signer } from "./checkpoint.ts";
import { chainStart, createSalts } from "./evidence.ts";
import { type ChainedRecord, type ChainHead, chainDrafts, hashAfter, toEvent } from "./record.ts";
import { sessionBusy, sessionExists, sessionNotFound, storeClosed } from "./store-errors.ts";

interface StoredSession {
  meta: Omit<SessionMeta, "lastEventId">;
  readonly records: ChainedRecord[];
  readonly checkpoints: Checkpoint[];
  head: ChainHead;
  readonly openCalls: Map<CallId, number>;
  isOpen: boolean;
}

export interface MemoryStoreOptions {
  /** Signs evidence when it is read: until then nobody but this process can have seen it, or changed it. */
  readonly signer: Signer;
  readonly clock: Pick<Clock, "now">;
}

/** Without options its evidence is chained and not signed. */
export function createMemoryStore(options?: MemoryStoreOptions): ArchiveStore {
  const nextSalt = createSalts();
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
        pinned: false,
        ...defined({ parent: session.parent }),
      } as const;
      sessions.set(id, { meta, records: [], checkpoints: [], head: startOf(id), openCalls: new Map(), isOpen: false });
    },
    async restore(meta, records, known = []) {
      if (find(meta.id) !== undefined) throw sessionExists(meta.id);
      const restored: ChainedRecord[] = [...records];
      const last = restored.at(-1);
      const openCalls: StoredSession["openCalls"] = new Map();
      for (const record of restored) noteCall(openCalls, toEvent(meta.id, record.id, record), record.id);
      const hash = hashAfter(meta.id, last);
      const head = last === undefined || hash === undefined ? startOf(meta.id) : { lastEventId: last.id, hash };
      sessions.set(meta.id, { meta, records: restored, checkpoints: [...known], head, openCalls, isOpen: false });
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
    async delete(id) {
      if (existing(id).isOpen) throw sessionBusy(id, "this process");
      sessions.delete(id);
    },
    async acquire(id) {
      const session = existing(id);
      if (session.isOpen) throw sessionBusy(id, "this process");
      session.isOpen = true;
      const lastTs = session.records.at(-1)?.ts;
      return {
        ...defined({ lastTs }),
        async append(drafts, now) {
          existing(id);
          const first = session.records.length + 1;
          if (drafts.length === 0) return first;
          const { records, head } = chainDrafts(id, session.head, drafts, nextSalt);
          session.head = head;
          for (const [index, draft] of drafts.entries()) noteCall(session.openCalls, draft, first + index);
          for (const record of records) session.records.push(record);
          session.meta = { ...session.meta, updatedAt: now };
          return first;
        },
        async openCalls() {
          return [...session.openCalls.values()].map((event) => {
            const record = session.records[event - 1];
            if (record === undefined) throw sessionNotFound(id);
            // Only events of this kind are noted.
            return toEvent(id, event, record) as EventOf<"ToolIntent">;
          });
        },
        async release() {
          session.isOpen = false;
        },
      };
    },
    async read(id, { after, limit, maxChars = Number.POSITIVE_INFINITY }) {
      const found = existing(id).records.slice(after, after + limit);
      const page: Event[] = [];
      let chars = 0;
      for (const record of found) {
        page.push(toEvent(id, record.id, record));
        chars += record.payload.length;
        if (chars >= maxChars) break;
      }
      return page;
    },
    async records(id, { after, limit }) {
      return existing(id).records.slice(after, after + limit);
    },
    async *readEvidence(id) {
      const session = existing(id);
      if (options !== undefined) signUnsigned(id, session, options);
      const { records, checkpoints, head } = session;
      yield* mergeEvidence(id, records.slice(), checkpoints.slice(), head);
    },
    async close() {
      closed = true;
      sessions.clear();
    },
  };
}

function signUnsigned(id: SessionId, { records, checkpoints }: StoredSession, options: MemoryStoreOptions): void {
  const ts = new Date(options.clock.now()).toISOString();
  const signedTo = checkpoints.at(-1)?.event ?? 0;
  const places = createPlacesToSign(id);
  for (const record of records.slice(signedTo)) places.note(record);
  for (const { lastEventId: event, hash } of places.all()) {
    checkpoints.push(options.signer.sign({ session: id, event, hash, ts }));
  }
}

function noteCall(openCalls: Map<CallId, number>, draft: EventDraft, event: number): void {
  if (draft.kind === "ToolIntent") openCalls.set(draft.payload.call_id, event);
  else if (draft.kind === "ToolOutcome") openCalls.delete(draft.payload.call_id);
}

function startOf(id: SessionId): ChainHead {
  return { lastEventId: 0, hash: chainStart(id) };
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
