/**
 * Looks a session log over and says what is wrong with it and what to do. Changes nothing but what opening the log does
 * anyway; it repairs nothing. Of the evidence it looks at the ends of the chains alone; the audit reads all of it.
 */
import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, messageOf } from "#base";
import { ReasonError, type SessionId } from "#protocol";
import { chainStart } from "./evidence.ts";
import { compareHead, headProblem } from "./head-comparison.ts";
import type { HeadReading, KnownHeads } from "./known-heads.ts";
import { isAlive } from "./lease.ts";
import { type DatabaseOptions, openDatabase, type SqliteDatabase, statementCache } from "./sqlite/driver.ts";
import { hashAt, lastLinkHolds } from "./sqlite/evidence.ts";
import { snapshotProblem } from "./sqlite/snapshots.ts";

export interface Finding {
  readonly level: "warning" | "error";
  readonly what: string;
  readonly remedy: string;
}

/** Below this, the next long turn may fill the disk. */
const FREE_BYTES_WARNING = 64 * 1024 * 1024;
/** Damage is often everywhere; a handful of places tells as much. */
const MAX_CHECK_ROWS = 20;
const RESTORE = "Restore the file from a backup, or move it away to start a new one.";

const KEY_BACK =
  "Set HARNESS_MACHINE_KEY or HARNESS_PASSPHRASE to its previous value, or restore the key file. Without that key the log is lost: move it away to start a new one.";
const TRY_AGAIN = "Free disk space or make the folder writable, then try again. The log itself may be intact.";

/**
 * Empty when all is well; also when there is no log yet and no head of one is known. Never throws for what is wrong with the log.
 * Without `heads` an older copy of the log is not noticed.
 */
export function diagnoseStore(options: DatabaseOptions & { readonly heads?: KnownHeads }): readonly Finding[] {
  const { path, heads } = options;
  const outside = [...checkPlace(path), ...checkModes(path)];
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [...outside, ...checkLost(path, heads)];
  // Before the log, which is never behind them.
  const known = heads?.list().map((session) => ({ session, reading: heads.read(session) }));
  let db: SqliteDatabase;
  try {
    db = openDatabase(options);
  } catch (error) {
    return [...outside, failure(error)];
  }
  try {
    return [...outside, ...inside(db, options, known)];
  } finally {
    db.close();
  }
}

/** Later checks read what earlier ones found to be readable; the first that cannot go on ends the list. */
function* inside(
  db: SqliteDatabase,
  { path, clock }: DatabaseOptions,
  known: readonly KnownSession[] | undefined,
): Generator<Finding> {
  try {
    yield* checkPages(db, path);
    yield* checkSessions(db);
    if (known !== undefined) yield* checkHeads(db, known);
    yield* checkSnapshots(db);
    yield* checkLeases(db, clock.now());
    yield* checkOpenCalls(db, clock.now());
  } catch (error) {
    yield failure(error, path);
  }
}

/** The log is gone as a whole. */
function* checkLost(path: string, heads: KnownHeads | undefined): Generator<Finding> {
  const count = heads?.list().length ?? 0;
  if (count === 0) return;
  yield error(
    `${path} is missing, but Harness knows of ${count} sessions in it.`,
    "Restore the file. To list what is missing, run: harness audit verify --all",
  );
}

interface KnownSession {
  readonly session: SessionId;
  readonly reading: HeadReading;
}

function* checkHeads(db: SqliteDatabase, known: readonly KnownSession[]): Generator<Finding> {
  const sql = `SELECT key, coalesce((SELECT max(events.id) FROM events WHERE session = key), 0) AS last
    FROM sessions WHERE id = ?`;
  const find = db.prepare<[SessionId], { key: number; last: number }>(sql);
  for (const { session, reading } of known) {
    const row = find.get(session);
    const event = reading.kind === "known" ? reading.head.event : 0;
    const log = row && { lastEventId: row.last, hashAtHead: hashAt(db, row.key, event) };
    const problem = headProblem(session, compareHead(reading, log));
    if (problem !== undefined)
      yield error(problem, `Restore the right file. If you replaced it yourself, run: harness audit accept ${session}`);
  }
  const events = db.prepare<[], number>("SELECT EXISTS (SELECT 1 FROM events)").pluck().get();
  if (known.length === 0 && events === 1) {
    yield warning(
      "Harness has no last known head for this log: the state folder is new or was emptied, or an earlier version wrote the log.",
      "You need not do anything: each session gets a head when it is used next. Until then, Harness cannot detect that an older copy replaced it.",
    );
  }
}

function* checkPlace(path: string): Generator<Finding> {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return;
  try {
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const isReadOnly = errnoOf(cause) === "EROFS";
    const remedy = isReadOnly
      ? "The file system is mounted read-only. Mount it read-write."
      : `Run: chmod u+w ${folder}`;
    yield error(`Harness cannot write to ${folder}, where the journal of the log is.`, remedy);
  }
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < FREE_BYTES_WARNING) {
    yield warning(
      `The disk of ${folder} is almost full.`,
      "Free disk space. Harness stops a turn that it cannot store.",
    );
  }
}

function* checkModes(path: string): Generator<Finding> {
  if (process.platform === "win32") return;
  for (const [file, mode] of [
    [dirname(path), "700"],
    [path, "600"],
    [`${path}-wal`, "600"],
    [`${path}-shm`, "600"],
  ] as const) {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & 0o077) !== 0) {
      const shown = (stat.mode & 0o777).toString(8).padStart(4, "0");
      yield warning(`Other users can access ${file} (mode ${shown}).`, `Run: chmod ${mode} ${file}`);
    }
  }
}

function* checkPages(db: SqliteDatabase, path: string): Generator<Finding> {
  const rows = db.prepare<[], string>(`PRAGMA quick_check(${MAX_CHECK_ROWS})`).pluck().all();
  for (const row of rows) if (row !== "ok") yield error(`${path} is damaged: ${row}.`, RESTORE);
  const strays = db.prepare<[], { table: string; rowid: number }>("PRAGMA foreign_key_check").all();
  for (const { table, rowid } of strays.slice(0, MAX_CHECK_ROWS)) {
    yield error(`Row ${rowid} of ${table} belongs to a session that does not exist.`, RESTORE);
  }
}

interface SessionRow {
  readonly key: number;
  readonly id: SessionId;
  readonly head: string;
  readonly head_event: number;
  readonly expired_to: number;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

function* checkSessions(db: SqliteDatabase): Generator<Finding> {
  const sql = `SELECT key, sessions.id, lower(hex(head)) AS head, head_event, expired_to, count(events.id) AS count,
    coalesce(min(events.id), 1) AS first, coalesce(max(events.id), 0) AS last
    FROM sessions LEFT JOIN events ON events.session = sessions.key GROUP BY key`;
  for (const { key, id, head, head_event, expired_to, count, first, last } of db.prepare<[], SessionRow>(sql).all()) {
    const isWhole = first === 1 && count === last;
    if (!isWhole) {
      yield error(`Session ${id} has ${count} events, but their ids go from ${first} to ${last}.`, RESTORE);
    }
    const start = chainStart(id);
    const known = head_event === 0 ? start : hashAt(db, key, head_event);
    if (isWhole && (known !== head || !lastLinkHolds(db, id, key, start))) {
      yield error(
        `The last event of session ${id} (event ${last}) is not the one that Harness wrote last.`,
        `Run harness audit verify ${id}. If you did not change the file, restore it from a backup.`,
      );
    }
    if (expired_to > last) yield error(`Session ${id} records expired events that it does not contain.`, RESTORE);
  }
}

/** A log this long without a snapshot is felt when it is opened. */
const LONG_LOG_EVENTS = 20_000;

function* checkSnapshots(db: SqliteDatabase): Generator<Finding> {
  const statement = statementCache(db);
  const sql = `SELECT key, id, (SELECT event FROM snapshots WHERE snapshots.session = key) AS snapshot,
    (SELECT coalesce(max(events.id), 0) FROM events WHERE events.session = key) AS last FROM sessions`;
  const rebuilt = "Nothing is lost. Harness rebuilds the snapshot from the log at the end of the next turn.";
  for (const { key, id, snapshot, last } of db
    .prepare<[], { key: number; id: SessionId; snapshot: number | null; last: number }>(sql)
    .all()) {
    const problem = snapshotProblem(statement, key);
    if (problem !== undefined) yield warning(`The snapshot of session ${id} cannot be used: ${problem}.`, rebuilt);
    else if (snapshot === null && last > LONG_LOG_EVENTS) {
      yield warning(`Session ${id} has ${last} events and no snapshot, so opening it reads all of them.`, rebuilt);
    }
  }
}

function* checkLeases(db: SqliteDatabase, nowMs: number): Generator<Finding> {
  const sql = "SELECT id, owner, owner_until FROM sessions WHERE owner IS NOT NULL";
  for (const { id, owner, owner_until } of db
    .prepare<[], { id: SessionId; owner: string; owner_until: number }>(sql)
    .all()) {
    if (isAlive(owner, owner_until, nowMs)) continue;
    yield warning(
      `Session ${id} was left open by a process that has ended (${owner}).`,
      `Nothing is lost. Resume it with: harness run --resume ${id}`,
    );
  }
}

interface CallRow {
  readonly id: SessionId;
  readonly owner: string | null;
  readonly owner_until: number;
  readonly call_id: string;
  readonly kind: string | null;
}

function* checkOpenCalls(db: SqliteDatabase, nowMs: number): Generator<Finding> {
  const sql = `SELECT sessions.id, owner, owner_until, call_id, kind FROM open_calls
    JOIN sessions ON sessions.key = open_calls.session
    LEFT JOIN events ON events.session = open_calls.session AND events.id = open_calls.event`;
  for (const { id, owner, owner_until, call_id, kind } of db.prepare<[], CallRow>(sql).all()) {
    if (kind !== "ToolIntent") yield error(`The intent of call ${call_id} of session ${id} is missing.`, RESTORE);
    else if (owner === null || !isAlive(owner, owner_until, nowMs)) {
      yield warning(
        `Call ${call_id} of session ${id} was interrupted, and its outcome is unknown.`,
        `Say whether it took effect: harness run --resume ${id}`,
      );
    }
  }
}

function failure(cause: unknown, path = ""): Finding {
  if (cause instanceof ReasonError) return error(cause.message, remedyFor(cause));
  return error(`${path} cannot be read: ${messageOf(cause)}.`, RESTORE);
}

/** Nobody puts a good log away because of a disk that is full or a key that was not set. */
function remedyFor({ reason, cause }: ReasonError): string {
  if (reason === "KeyInvalid") return KEY_BACK;
  if (reason === "StoreFailed") return TRY_AGAIN;
  return reason === "ConfigInvalid" && errnoOf(cause) !== undefined ? TRY_AGAIN : RESTORE;
}

function error(what: string, remedy: string): Finding {
  return { level: "error", what, remedy };
}

function warning(what: string, remedy: string): Finding {
  return { level: "warning", what, remedy };
}
