/**
 * The session log in one SQLite file per user. Appending is one synced transaction; other processes may read and write
 * other sessions meanwhile. Calls are synchronous inside: a commit takes less time than a trip to a worker thread.
 */
import type Database from "better-sqlite3-multiple-ciphers";
import type { Clock } from "#base";
import type { SessionMeta, SessionStore } from "#engine";
import { ReasonError, type SessionId } from "#protocol";
import { type EventRecord, toEvent, toRecord } from "./record.ts";
import { hasCode, openDatabase, type SqliteDatabase } from "./sqlite-driver.ts";
import { accessFailed, otherWriter, sessionExists, sessionNotFound, storeClosed } from "./store-errors.ts";

/** How many sessions keep their key and newest event id at hand. */
const MAX_CURSORS = 256;

/** Rejects with a ReasonError that names the file when it cannot be opened. Creates the file and its folder. */
export async function openSqliteStore(options: {
  readonly path: string;
  readonly clock: Pick<Clock, "now">;
}): Promise<SessionStore> {
  return createSqliteStore(openDatabase(options));
}

/** Where a session's events go next. */
interface Cursor {
  readonly key: number;
  lastEventId: number;
}

interface SessionRow extends Omit<SessionMeta, "workingDir" | "createdAt" | "updatedAt" | "lastEventId"> {
  readonly working_dir: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_event_id: number;
}

const SELECT_SESSION = `SELECT id, working_dir, profile, model, created_at, updated_at, title, state,
  coalesce((SELECT max(events.id) FROM events WHERE events.session = sessions.key), 0) AS last_event_id FROM sessions`;

/** The store on an open database, which it owns from now on. */
export function createSqliteStore(db: SqliteDatabase): SessionStore {
  const statement = statementCache(db);
  const cursors = new Map<SessionId, Cursor>();

  /** From the cache or the database; a session that another process made is found too. */
  const cursorOf = (id: SessionId): Cursor => {
    const known = cursors.get(id);
    if (known !== undefined) return known;
    const sql = `SELECT key, coalesce((SELECT max(id) FROM events WHERE session = key), 0) AS lastEventId
      FROM sessions WHERE id = ?`;
    // The columns are the fields of Cursor.
    const cursor = statement(sql).get(id) as Cursor | undefined;
    if (cursor === undefined) throw sessionNotFound(id);
    if (cursors.size >= MAX_CURSORS) cursors.delete(cursors.keys().next().value ?? id);
    cursors.set(id, cursor);
    return cursor;
  };

  const insertAll = db.transaction((cursor: Cursor, records: readonly EventRecord[], now: string) => {
    const insert = statement(
      "INSERT INTO events (session, id, kind, ts, originator, payload) VALUES (?, ?, ?, ?, ?, ?)",
    );
    let id = cursor.lastEventId;
    for (const { kind, ts, originator, payload } of records) {
      id += 1;
      insert.run(cursor.key, id, kind, ts, originator, payload);
    }
    statement("UPDATE sessions SET updated_at = ? WHERE key = ?").run(now, cursor.key);
  });

  /** Runs one call of the store; whatever SQLite throws leaves as a ReasonError with its cause. */
  const guarded = <Result>(effect: "reads" | "writes", work: () => Result): Result => {
    if (!db.open) throw storeClosed();
    try {
      return work();
    } catch (error) {
      throw error instanceof ReasonError ? error : accessFailed(effect, db.name, error);
    }
  };

  return {
    async create({ id, workingDir, profile, model, createdAt }) {
      guarded("writes", () => {
        const sql = `INSERT INTO sessions (id, working_dir, profile, model, created_at, updated_at)
          VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
        const { changes } = statement(sql).run(id, workingDir, profile, model, createdAt, createdAt);
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
    async update(id, { title, model, state }) {
      guarded("writes", () => {
        const sql = `UPDATE sessions SET title = coalesce(?, title), model = coalesce(?, model),
          state = coalesce(?, state) WHERE id = ?`;
        const { changes } = statement(sql).run(title ?? null, model ?? null, state ?? null, id);
        if (changes === 0) throw sessionNotFound(id);
      });
    },
    async append(id, drafts, now) {
      return guarded("writes", () => {
        const cursor = cursorOf(id);
        const records = drafts.map(toRecord);
        const first = cursor.lastEventId + 1;
        if (records.length === 0) return first;
        try {
          insertAll.immediate(cursor, records, now);
        } catch (error) {
          // What is remembered may be behind what another process wrote; the next call looks again.
          cursors.delete(id);
          throw hasCode(error, "SQLITE_CONSTRAINT_UNIQUE") ? otherWriter(id, error) : error;
        }
        cursor.lastEventId += records.length;
        return first;
      });
    },
    async read(id, { after, limit }) {
      return guarded("reads", () => {
        const { key } = cursorOf(id);
        const sql = `SELECT id, kind, ts, originator, payload FROM events WHERE session = ? AND id > ?
          ORDER BY id LIMIT ?`;
        // The selected columns are the fields of an EventRecord and the id.
        const rows = statement(sql).all(key, after, limit) as (EventRecord & { id: number })[];
        return rows.map((row) => toEvent(id, row.id, row));
      });
    },
    async close() {
      if (db.open) db.close();
    },
  };
}

/** Prepares each statement when it is first used, so that opening stays short. */
function statementCache(db: SqliteDatabase): (sql: string) => Database.Statement<unknown[]> {
  const prepared = new Map<string, Database.Statement<unknown[]>>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare<unknown[]>(sql);
    prepared.set(sql, made);
    return made;
  };
}

function toMeta(row: SessionRow): SessionMeta {
  const { id, working_dir, profile, model, created_at, updated_at, title, state, last_event_id } = row;
  return {
    id,
    workingDir: working_dir,
    profile,
    model,
    createdAt: created_at,
    updatedAt: updated_at,
    title,
    state,
    lastEventId: last_event_id,
  };
}
