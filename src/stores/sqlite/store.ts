/**
 * The session log in one SQLite file per user. Appending is one synced transaction; other processes may read and write
 * other sessions meanwhile.
 */
import { type Clock, defined } from "#base";
import type { EventPayload, SessionId } from "#protocol";
import type { ArchivedSession, ArchiveStore } from "../archive.ts";
import type { Checkpoint, Signer } from "../checkpoint.ts";
import { chainStart } from "../evidence.ts";
import { createEvidenceStore, type EvidenceOptions } from "../evidence-store.ts";
import { type ChainedRecord, type ChainHead, chainDrafts, toEvent } from "../record.ts";
import type { RecordBackend } from "../record-backend.ts";
import { sessionNotFound } from "../store-errors.ts";
import {
  type DatabaseOptions,
  damaged,
  isDamage,
  openDatabase,
  type SqliteDatabase,
  statementCache,
  writeGroups,
} from "./driver.ts";
import {
  insertCheckpoint,
  insertRecord,
  lastRecord,
  RECORD_COLUMNS,
  type RecordRow,
  readCheckpoints,
  toChainedRecord,
} from "./evidence.ts";
import { createSqliteLogs } from "./logs.ts";
import { noteCall } from "./open-calls.ts";
import { readPage, SELECT_SESSION, type SessionRow, startBlob, toMeta } from "./rows.ts";
import { dropSnapshot, expiredOf } from "./snapshots.ts";

/** Rejects with a ReasonError that names the file when it cannot be opened. Creates the file and its folder. */
export async function openSqliteStore(options: DatabaseOptions & EvidenceOptions): Promise<ArchiveStore> {
  return createEvidenceStore(createSqliteBackend(openDatabase(options), options.clock), options);
}

/** What an append does for the evidence. The benchmark that weighs it leaves it out; nobody else may. */
const makingEvidence = { chain: chainDrafts, insert: insertRecord };

/** The store on an open database, which it owns from now on. */
export function createSqliteStore(
  db: SqliteDatabase,
  clock: Pick<Clock, "now">,
  signer?: Signer,
  evidence = makingEvidence,
): ArchiveStore {
  const backend = createSqliteBackend(db, clock, evidence.insert);
  return createEvidenceStore(backend, { clock, ...defined({ signer }) }, evidence.chain);
}

function createSqliteBackend(db: SqliteDatabase, clock: Pick<Clock, "now">, insert = insertRecord): RecordBackend {
  const statement = statementCache(db);
  const logs = createSqliteLogs(db, statement, clock, insert);

  const keyOf = (id: SessionId): number => {
    // The column is the integer key.
    const row = statement("SELECT key FROM sessions WHERE id = ?").get(id) as { key: number } | undefined;
    if (row === undefined) throw sessionNotFound(id);
    return row.key;
  };

  const createSession = db.transaction(
    (session: ArchivedSession, records: Iterable<ChainedRecord>, checkpoints: () => readonly Checkpoint[]): boolean => {
      const { id, workingDir, profile, model, createdAt, updatedAt, title, state, pinned, parent } = session;
      const sql = `INSERT INTO sessions (id, working_dir, profile, model, created_at, updated_at, title, state, pinned,
        parent, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
      const values = [workingDir, profile, model, createdAt, updatedAt, title, state, Number(pinned), parent ?? null];
      if (statement(sql).run(id, ...values, startBlob(id)).changes === 0) return false;
      const key = keyOf(id);
      let head: ChainHead = { lastEventId: 0, hash: chainStart(id) };
      for (const record of records) {
        insertRecord(statement, key, record);
        if (record.kind === "ToolIntent" || record.kind === "ToolOutcome") {
          noteCall(statement, key, toEvent(id, record.id, record), record.id);
        }
        const hash = record.link?.hash;
        if (hash !== undefined) head = { lastEventId: record.id, hash };
      }
      if (head.lastEventId === 0) return true;
      const update = "UPDATE sessions SET head = unhex(?), head_event = ? WHERE key = ?";
      statement(update).run(head.hash, head.lastEventId, key);
      for (const checkpoint of checkpoints()) insertCheckpoint(statement, key, checkpoint);
      return true;
    },
  );

  /** As of one moment. The row may be behind the events, never before them. */
  const headOf = db.transaction((session: SessionId): ChainHead => {
    const sql = "SELECT key, lower(hex(head)) AS hash, head_event AS lastEventId FROM sessions WHERE id = ?";
    // The columns as selected.
    const row = statement(sql).get(session) as (ChainHead & { key: number }) | undefined;
    if (row === undefined) throw sessionNotFound(session);
    const last = lastRecord(statement, row.key);
    const hash = last?.link?.hash;
    const isBehind = last !== undefined && last.id > row.lastEventId;
    return isBehind && hash !== undefined ? { lastEventId: last.id, hash } : row;
  });

  const deleteSession = db.transaction((id: SessionId) => {
    const { key } = logs.take(id);
    dropSnapshot(statement, key);
    for (const table of ["open_calls", "checkpoints", "events"]) {
      statement(`DELETE FROM ${table} WHERE session = ?`).run(key);
    }
    statement("DELETE FROM sessions WHERE key = ?").run(key);
  });

  return {
    name: db.name,
    create: (...session) => createSession.immediate(...session),
    get(id) {
      // The columns of SELECT_SESSION are the fields of SessionRow.
      const row = statement(`${SELECT_SESSION} WHERE id = ?`).get(id) as SessionRow | undefined;
      return row && toMeta(row);
    },
    list({ limit, workingDir }) {
      const where = workingDir === undefined ? "" : "WHERE working_dir = ?";
      const sql = `${SELECT_SESSION} ${where} ORDER BY updated_at DESC, id DESC LIMIT ?`;
      const values = workingDir === undefined ? [limit] : [workingDir, limit];
      // The columns of SELECT_SESSION are the fields of SessionRow.
      return (statement(sql).all(...values) as SessionRow[]).map(toMeta);
    },
    update(id, { title, profile, model, state, pinned }) {
      const sql = `UPDATE sessions SET title = coalesce(?, title), profile = coalesce(?, profile), model = coalesce(?, model),
        state = coalesce(?, state), pinned = coalesce(?, pinned) WHERE id = ?`;
      const pin = pinned === undefined ? null : Number(pinned);
      return statement(sql).run(title ?? null, profile ?? null, model ?? null, state ?? null, pin, id).changes > 0;
    },
    delete: (id) => deleteSession.immediate(id),
    acquire: (id) => logs.open(id),
    records(id, { after, limit }) {
      const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?`;
      // The selected columns are the fields of the row.
      return (statement(sql).all(keyOf(id), after, limit) as RecordRow[]).map(toChainedRecord);
    },
    events: (id, page) => readPage(statement, keyOf(id), page).map((row) => toEvent(id, row.id, row)),
    checkpoints: (id) => readCheckpoints(statement, id, keyOf(id)),
    head: (id) => headOf(id),
    expiredTo: (id) => expiredOf(statement, keyOf(id)),
    historyStart(id) {
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
    },
    turnCount(id) {
      const sql = `SELECT count(*) AS turns FROM events WHERE session = ? AND kind = 'TurnStarted'
        AND kind IN ('TurnStarted', 'CompactionTriggered')`;
      // One row with the selected column.
      return (statement(sql).get(keyOf(id)) as { turns: number }).turns;
    },
    groups: writeGroups(db),
    failure: (effect, error) => (effect === "reads" && isDamage(error) ? damaged(db.name, error) : undefined),
    close: () => void db.close(),
  };
}
