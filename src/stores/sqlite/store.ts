/**
 * The session log in one SQLite file per user. Appending is one synced transaction; other processes may read and write
 * other sessions meanwhile. Calls are synchronous inside: a commit takes less time than a trip to a worker thread.
 */
import { type Clock, defined, errnoOf } from "#base";
import type { EventDraft, SessionLog, SnapshotDraft } from "#engine";
import { type EventPayload, ReasonError, type SessionId } from "#protocol";
import type { ArchivedSession, ArchiveStore } from "../archive.ts";
import type { Checkpoint, Signer } from "../checkpoint.ts";
import { createDelayedCheckpoint } from "../delayed-checkpoint.ts";
import { chainStart, createSalts } from "../evidence.ts";
import { createGroupCommit, type GroupedWrite } from "../group-commit.ts";
import { withKnownHeads } from "../headed-store.ts";
import { createKnownHeads, type HeadsPlace } from "../known-heads.ts";
import { createOwner, isAlive, LEASE_MS } from "../lease.ts";
import { createLeftLeases } from "../left-leases.ts";
import { type ChainedRecord, type ChainHead, chainDrafts, hashAfter, toEvent } from "../record.ts";
import {
  accessFailed,
  otherWriter,
  sessionBusy,
  sessionExists,
  sessionNotFound,
  storeClosed,
} from "../store-errors.ts";
import {
  type DatabaseOptions,
  damaged,
  isDamage,
  openDatabase,
  type SqliteDatabase,
  statementCache,
} from "./driver.ts";
import {
  chainEnd,
  hasUnsignedTurn,
  insertCheckpoint,
  insertRecord,
  lastSignedEvent,
  RECORD_COLUMNS,
  type RecordRow,
  readEvidenceRows,
  toChainedRecord,
} from "./evidence.ts";
import { noteCall, noteCalls, readOpenCalls } from "./open-calls.ts";
import { readPage, SELECT_SESSION, type SessionRow, startBlob, toMeta } from "./rows.ts";
import { dropSnapshot, expiredOf, readSnapshot, writeSnapshot } from "./snapshots.ts";

/** Rejects with a ReasonError that names the file when it cannot be opened. Creates the file and its folder. */
export async function openSqliteStore(
  options: DatabaseOptions & {
    /** Signs a checkpoint at the end of each turn and when a writer leaves; without it the log is chained, not signed. */
    readonly signer?: Signer;
    /** Where the last known head of each session is kept; without it an older copy of the log is not noticed. */
    readonly heads?: HeadsPlace;
  },
): Promise<ArchiveStore> {
  const store = createSqliteStore(openDatabase(options), options.clock, options.signer);
  return options.heads === undefined ? store : withKnownHeads(store, createKnownHeads(options.heads, options.path));
}

/** How long the row of a session that is written to may be behind: an update of it would cost as much as an event. */
const ROW_LAG_MS = LEASE_MS / 4;

/** What an append does for the evidence. The benchmark that weighs it leaves it out; nobody else may. */
const makingEvidence = { chain: chainDrafts, insert: insertRecord };

/** The store on an open database, which it owns from now on. */
export function createSqliteStore(
  db: SqliteDatabase,
  clock: Pick<Clock, "now">,
  signer?: Signer,
  evidence = makingEvidence,
): ArchiveStore {
  const statement = statementCache(db);
  const nextSalt = createSalts();
  const group = createGroupCommit(db);
  const left = createLeftLeases(() => db.open);
  let openLogs = 0;

  const keyOf = (id: SessionId): number => {
    // The column is the integer key.
    const row = statement("SELECT key FROM sessions WHERE id = ?").get(id) as { key: number } | undefined;
    if (row === undefined) throw sessionNotFound(id);
    return row.key;
  };

  const insertAll = db.transaction(
    (key: number, { records, head }: Chained, drafts: readonly EventDraft[], now: string, isRowDue: boolean) => {
      for (const record of records) evidence.insert(statement, key, record);
      noteCalls(statement, key, drafts, records[0]?.id ?? 0);
      if (isRowDue) updateRow(key, head, now);
    },
  );

  const updateRow = (key: number, head: ChainHead, now: string): void => {
    const sql = "UPDATE sessions SET updated_at = ?, head = unhex(?), head_event = ?, owner_until = ? WHERE key = ?";
    statement(sql).run(now, head.hash, head.lastEventId, clock.now() + LEASE_MS, key);
  };

  const restoreAll = db.transaction((session: ArchivedSession, records: Iterable<ChainedRecord>, known: Known) => {
    const { id, workingDir, profile, model, createdAt, updatedAt, title, state, pinned, parent } = session;
    const sql = `INSERT INTO sessions (id, working_dir, profile, model, created_at, updated_at, title, state, pinned,
      parent, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
    const values = [id, workingDir, profile, model, createdAt, updatedAt, title, state, Number(pinned), parent ?? null];
    if (statement(sql).run(...values, startBlob(id)).changes === 0) throw sessionExists(id);
    const key = keyOf(id);
    let head: ChainHead = { lastEventId: 0, hash: chainStart(id) };
    for (const record of records) {
      insertRecord(statement, key, record);
      if (record.kind === "ToolIntent" || record.kind === "ToolOutcome") {
        noteCall(statement, key, toEvent(id, record.id, record), record.id);
      }
      const hash = hashAfter(id, record);
      if (hash !== undefined) head = { lastEventId: record.id, hash };
      if (record.kind === "TurnEnded" && known === undefined) signHere(key, id, head);
    }
    if (head.lastEventId === 0) return;
    const update = "UPDATE sessions SET head = unhex(?), head_event = ? WHERE key = ?";
    statement(update).run(head.hash, head.lastEventId, key);
    if (known === undefined) signHere(key, id, head);
    for (const checkpoint of known ?? []) insertCheckpoint(statement, key, checkpoint);
  });

  const signHere = (key: number, session: SessionId, { lastEventId: event, hash }: ChainHead): void => {
    if (signer === undefined) return;
    insertCheckpoint(statement, key, signer.sign({ session, event, hash, ts: new Date(clock.now()).toISOString() }));
  };

  /** Takes the lease in one transaction: of two that try at once, one gets it. */
  const takeLease = db.transaction((id: SessionId, owner: string): { key: number } => {
    // The columns as selected.
    const row = statement("SELECT key, owner, owner_until FROM sessions WHERE id = ?").get(id) as LeaseRow | undefined;
    if (row === undefined) throw sessionNotFound(id);
    const isHeld = row.owner !== null && !left.has(row.owner) && isAlive(row.owner, row.owner_until, clock.now());
    if (isHeld) throw sessionBusy(id, row.owner ?? "");
    statement("UPDATE sessions SET owner = ?, owner_until = ? WHERE key = ?").run(
      owner,
      clock.now() + LEASE_MS,
      row.key,
    );
    return { key: row.key };
  });

  /** The lease, and the end of the chain. Puts right what a writer that was cut off left: the row behind, turns unsigned. */
  const takeOver = db.transaction((id: SessionId, owner: string): TakenLog => {
    const { key } = takeLease(id, owner);
    const end = chainEnd(statement, id, key);
    if (end === undefined) return { key, head: { lastEventId: 0, hash: chainStart(id) } };
    const { record, hash } = end;
    if (hash === undefined) throw damaged(db.name, `the link of event ${record.id} of session ${id} is missing`);
    statement("UPDATE sessions SET updated_at = max(updated_at, ?) WHERE key = ?").run(record.ts, key);
    if (hasUnsignedTurn(statement, key)) signHere(key, id, { lastEventId: record.id, hash });
    return { key, head: { lastEventId: record.id, hash }, lastTs: record.ts };
  });

  /** The end of the chain is signed, unless it is already; `now` is the time of the last append. */
  const signEnd = db.transaction((session: SessionId, key: number, head: ChainHead, now: string) => {
    if (head.lastEventId > lastSignedEvent(statement, key)) signHere(key, session, head);
    updateRow(key, head, now);
  });

  /** What was written after the last checkpoint is signed when the writer leaves. */
  const leave = db.transaction((session: SessionId, { key, owner, head, now }: Lease) => {
    // Whoever has it by now has the row and the signature, too.
    if (statement("SELECT 1 FROM sessions WHERE key = ? AND owner = ?").get(key, owner) === undefined) return;
    if (now !== undefined) updateRow(key, head, now);
    statement("UPDATE sessions SET owner = NULL, owner_until = 0 WHERE key = ?").run(key);
    if (head.lastEventId > lastSignedEvent(statement, key)) signHere(key, session, head);
  });

  /** Head and last checkpoint as of one moment. The row may be behind the events, never before them. */
  const evidenceBounds = db.transaction((session: SessionId) => {
    const sql = "SELECT key, lower(hex(head)) AS head, head_event FROM sessions WHERE id = ?";
    // The columns as selected.
    const row = statement(sql).get(session) as { key: number; head: string; head_event: number } | undefined;
    if (row === undefined) throw sessionNotFound(session);
    const { key } = row;
    const end = chainEnd(statement, session, key);
    const known: ChainHead = { lastEventId: row.head_event, hash: row.head };
    const isBehind = end?.hash !== undefined && end.record.id > row.head_event;
    const head = isBehind ? { lastEventId: end.record.id, hash: end.hash } : known;
    return { session, key, head, lastSigned: lastSignedEvent(statement, key) };
  });

  const deleteSession = db.transaction((id: SessionId) => {
    const { key } = takeLease(id, createOwner());
    dropSnapshot(statement, key);
    for (const table of ["open_calls", "checkpoints", "events"]) {
      statement(`DELETE FROM ${table} WHERE session = ?`).run(key);
    }
    statement("DELETE FROM sessions WHERE key = ?").run(key);
  });

  const writeSnapshotOf = db.transaction((key: number, snapshot: SnapshotDraft, expiredTo: number) =>
    writeSnapshot(statement, key, snapshot, expiredTo),
  );

  const openLog = (id: SessionId): SessionLog => {
    const owner = createOwner();
    const lease = takeOver.immediate(id, owner);
    const { key } = lease;
    const expiredTo = expiredOf(statement, key);
    let { head } = lease;
    let lastNow: string | undefined;
    let rowMs = clock.now();
    let isReleased = false;
    openLogs += 1;
    const checkpoint =
      signer &&
      createDelayedCheckpoint(() => {
        if (db.open && lastNow !== undefined) signEnd.immediate(id, key, head, lastNow);
      });
    const write = (drafts: readonly EventDraft[], now: string): GroupedWrite<number> => {
      const before = { head, lastNow, rowMs };
      const chained = evidence.chain(id, head, drafts, nextSalt);
      // Also when the clock was set back.
      const isRowDue = Math.abs(clock.now() - rowMs) >= ROW_LAG_MS;
      try {
        insertAll.immediate(key, chained, drafts, now, isRowDue);
      } catch (error) {
        throw errnoOf(error) === "SQLITE_CONSTRAINT_UNIQUE" ? otherWriter(id, error) : error;
      }
      head = chained.head;
      lastNow = now;
      if (isRowDue) rowMs = clock.now();
      return {
        value: before.head.lastEventId + 1,
        committed() {
          if (drafts.some(({ kind }) => kind === "TurnEnded")) checkpoint?.turnEnded();
        },
        rolledBack() {
          ({ head, lastNow, rowMs } = before);
        },
      };
    };
    return {
      ...defined({ lastTs: lease.lastTs }),
      async append(drafts, now) {
        if (drafts.length === 0) return head.lastEventId + 1;
        // A turn that could not be signed is not stored as ended.
        if (drafts.some(({ kind }) => kind === "TurnEnded")) guarded("writes", () => signer?.ready());
        return guardedLater("writes", () => group.run(() => write(drafts, now), openLogs === 1));
      },
      async openCalls() {
        return guarded("reads", () => readOpenCalls(statement, key, id));
      },
      snapshots: {
        read: async () => guarded("reads", () => readSnapshot(statement, key)),
        write: async (snapshot) => guarded("writes", () => writeSnapshotOf.immediate(key, snapshot, expiredTo)),
      },
      async release() {
        checkpoint?.stop();
        group.flush();
        if (!isReleased) openLogs -= 1;
        isReleased = true;
        guarded("writes", () => left.leave(owner, () => leave.immediate(id, { key, owner, head, now: lastNow })));
      },
    };
  };

  /** Runs one call of the store; whatever SQLite throws leaves as a ReasonError with its cause. */
  const guarded = <Result>(effect: Effect, work: () => Result): Result => {
    if (!db.open) throw storeClosed();
    try {
      return work();
    } catch (error) {
      throw told(effect, error);
    }
  };

  const guardedLater = async <Result>(effect: Effect, work: () => Promise<Result>): Promise<Result> => {
    if (!db.open) throw storeClosed();
    try {
      return await work();
    } catch (error) {
      throw told(effect, error);
    }
  };

  const told = (effect: Effect, error: unknown): ReasonError => {
    if (error instanceof ReasonError) return error;
    return effect === "reads" && isDamage(error) ? damaged(db.name, error) : accessFailed(effect, db.name, error);
  };

  return {
    async create({ id, workingDir, profile, model, createdAt, parent }) {
      guarded("writes", () => {
        const sql = `INSERT INTO sessions (id, working_dir, profile, model, created_at, updated_at, parent, head)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
        const values = [id, workingDir, profile, model, createdAt, createdAt, parent ?? null, startBlob(id)];
        const { changes } = statement(sql).run(...values);
        if (changes === 0) throw sessionExists(id);
      });
    },
    async get(id) {
      return guarded("reads", () => {
        // The columns of SELECT_SESSION are the fields of SessionRow.
        const row = statement(`${SELECT_SESSION} WHERE id = ?`).get(id) as SessionRow | undefined;
        return row && toMeta(row);
      });
    },
    async list({ limit, workingDir }) {
      return guarded("reads", () => {
        const where = workingDir === undefined ? "" : "WHERE working_dir = ?";
        const sql = `${SELECT_SESSION} ${where} ORDER BY updated_at DESC, id DESC LIMIT ?`;
        const values = workingDir === undefined ? [limit] : [workingDir, limit];
        // The columns of SELECT_SESSION are the fields of SessionRow.
        const rows = statement(sql).all(...values) as SessionRow[];
        return rows.map(toMeta);
      });
    },
    async update(id, { title, model, state, pinned }) {
      guarded("writes", () => {
        const sql = `UPDATE sessions SET title = coalesce(?, title), model = coalesce(?, model),
          state = coalesce(?, state), pinned = coalesce(?, pinned) WHERE id = ?`;
        const pin = pinned === undefined ? null : Number(pinned);
        const { changes } = statement(sql).run(title ?? null, model ?? null, state ?? null, pin, id);
        if (changes === 0) throw sessionNotFound(id);
      });
    },
    async delete(id) {
      guarded("writes", () => deleteSession.immediate(id));
    },
    async acquire(id) {
      return guarded("writes", () => openLog(id));
    },
    async read(id, page) {
      return guarded("reads", () => readPage(statement, keyOf(id), page).map((row) => toEvent(id, row.id, row)));
    },
    async records(id, { after, limit }) {
      return guarded("reads", () => {
        const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?`;
        // The selected columns are the fields of the row.
        return (statement(sql).all(keyOf(id), after, limit) as RecordRow[]).map(toChainedRecord);
      });
    },
    async restore(session, records, checkpoints) {
      guarded("writes", () => restoreAll.immediate(session, records, checkpoints));
    },
    async *readEvidence(id) {
      const rows = guarded("reads", () => readEvidenceRows(statement, evidenceBounds(id)));
      for (;;) {
        const next = guarded("reads", () => rows.next());
        if (next.done) return;
        yield next.value;
      }
    },
    async expiredTo(id) {
      return guarded("reads", () => expiredOf(statement, keyOf(id)));
    },
    async historyStart(id) {
      return guarded("reads", () => {
        const key = keyOf(id);
        const lastOf = (kind: string, newer = 0): { id: number; payload: string } | undefined => {
          // The columns as selected; the list is the condition of the index.
          const sql = `SELECT id, payload FROM events WHERE session = ? AND kind = ?
            AND kind IN ('TurnStarted', 'CompactionTriggered') ORDER BY id DESC LIMIT 1 OFFSET ?`;
          return statement(sql).get(key, kind, newer) as { id: number; payload: string } | undefined;
        };
        const compaction = lastOf("CompactionTriggered");
        if (compaction === undefined) return 0;
        // Written by `append` from a typed draft.
        const { boundary } = JSON.parse(compaction.payload) as EventPayload<"CompactionTriggered">;
        // A turn may be compacted while it runs. Closing it after a crash takes its start, and what the turn before it ended with:
        // labels, what the session has used, inputs that wait.
        const turn = lastOf("TurnStarted", 1);
        return Math.min(boundary, (turn?.id ?? 1) - 1);
      });
    },
    async close() {
      if (!db.open) return;
      group.flush();
      db.close();
    },
  };
}

type Effect = "reads" | "writes";
type Chained = ReturnType<typeof chainDrafts>;
type Known = readonly Checkpoint[] | undefined;

interface TakenLog {
  readonly key: number;
  readonly head: ChainHead;
  readonly lastTs?: string;
}

interface LeaseRow {
  readonly key: number;
  readonly owner: string | null;
  readonly owner_until: number;
}

/** What a writer leaves with. */
interface Lease {
  readonly key: number;
  readonly owner: string;
  readonly head: ChainHead;
  /** Of its last append. */
  readonly now: string | undefined;
}
