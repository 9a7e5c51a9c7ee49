/**
 * Opens the encrypted SQLite file of the session log and brings its schema up to date. This is on the way to the first
 * model request, so it does as little as it can.
 */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type Database from "better-sqlite3-multiple-ciphers";
import { type Clock, errnoOf, messageOf } from "#base";
import { ReasonError, storeFailure } from "#protocol";
import { hasNoRoom, makeFolder } from "#world";
import { deriveKey, type MachineKey } from "../machine-key.ts";
import type { WriteGroups } from "../record-backend.ts";
import { APPLICATION_ID, LEDGER_SQL, type Migration, migrations } from "./migrations.ts";

export type SqliteDatabase = Database.Database;

/** How long a statement waits for another process before it fails. */
const BUSY_TIMEOUT_MS = 5000;
const WAL_RETRY_MS = 5;
const HEADER_BYTES = 100;
const HEADER_MAGIC = "SQLite format 3\0";
/** Bytes 20 to 23 of the header stay readable: 32 bytes of each page hold its nonce and tag; the rest is fixed. */
const CIPHER_MARK = Buffer.from([32, 64, 32, 32]);
const KEY_PURPOSE = "session log";
/** Pages that are kept in memory. A log is appended to and read from one end to the other: more would only fill up. */
const PAGE_CACHE_KIB = 4096;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** The dynamic linker's name stands near the start of the program file. */
const LINKER_SEARCH_BYTES = 4096;

/**
 * The open database: WAL, every commit synced, schema current. Throws a ReasonError that names the file when it cannot be
 * used; a file that is not ours, damaged or from a newer version is left as it was.
 */
export function openDatabase(options: DatabaseOptions): SqliteDatabase {
  return connect(options, (db) => {
    if (db.prepare("PRAGMA journal_mode").pluck().get() !== "wal") enterWal(db);
    db.prepare("PRAGMA synchronous = FULL").run();
    db.prepare(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`).run();
    migrate(db, options);
  });
}

export interface DatabaseOptions {
  readonly path: string;
  readonly clock: Pick<Clock, "now">;
  readonly key: MachineKey;
  /** Called before a log of an older version is brought to this one, which can take a while. */
  readonly onUpgrade?: () => void;
}

/**
 * The database with its key, checked to be ours, before anything is done to it. `prepare` runs on it; when that throws,
 * the database is closed again.
 */
export function connect(
  { path, key }: Omit<DatabaseOptions, "clock">,
  prepare: (db: SqliteDatabase) => void,
): SqliteDatabase {
  try {
    const isNew = prepareFile(path);
    const db = new (loadDriver())(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      unlock(db, key);
      if (!isNew) checkIdentity(db, path, key);
      prepare(db);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    if (isDamage(error)) throw damaged(path, error);
    const detail = `The session log ${path} cannot be opened: ${messageOf(error)}.`;
    throw (
      storeFailure(error, path, () => hasNoRoom(path)) ?? new ReasonError("ConfigInvalid", detail, { cause: error })
    );
  }
}

/** Must come before anything else is asked of the database. */
function unlock(db: SqliteDatabase, key: MachineKey): void {
  db.exec("PRAGMA cipher = 'chacha20'");
  db.exec(`PRAGMA key = "${cipherKey(key)}"`);
}

/** As the pragmas `key` and `rekey` take it. */
export function cipherKey(key: MachineKey): string {
  return `raw:${deriveKey(key, KEY_PURPOSE).toString("hex")}`;
}

/** The first page that is read is where a wrong key shows; nothing has been written until then. */
function checkIdentity(db: SqliteDatabase, path: string, key: MachineKey): void {
  let application: unknown;
  try {
    application = db.prepare("PRAGMA application_id").pluck().get();
  } catch (error) {
    if (errnoOf(error) !== "SQLITE_NOTADB") throw error;
    refuseForeign(path);
    const detail = `The session log ${path} does not open with the key from ${key.source}: it was written with another key, or the start of the file is damaged. Harness did not change it.`;
    throw new ReasonError("KeyInvalid", detail, { cause: error });
  }
  if (application !== APPLICATION_ID) throw unusable(path, "it belongs to another program");
}

/** True when SQLite or the cipher found bytes that nobody of us wrote. */
export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB";
}

export function damaged(path: string, cause: unknown): ReasonError {
  const why = messageOf(cause);
  const detail = `${why}. Harness did not change it. Run harness sessions doctor, and restore the file from a backup.`;
  return new ReasonError("LogCorrupt", { path, detail }, { cause });
}

/**
 * Creates what is missing; true when nothing has been written to the file yet. A file that is there is not opened: closing
 * it again would give up the locks that SQLite holds on it elsewhere in this process.
 */
function prepareFile(path: string): boolean {
  makeFolder(dirname(path), DIRECTORY_MODE);
  const known = statSync(path, { throwIfNoEntry: false });
  if (known !== undefined) {
    // SQLite would open it for reading only and fail later.
    accessSync(path, constants.R_OK | constants.W_OK);
    return known.size === 0;
  }
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, FILE_MODE));
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return prepareFile(path);
  }
}

/** Says what a file is that does not look like ours at all; returns when it does. */
function refuseForeign(path: string): void {
  const header = readStart(path, HEADER_BYTES);
  if (header.toString("latin1", 0, HEADER_MAGIC.length) === HEADER_MAGIC) {
    const isOurs = header.readUInt32BE(68) === APPLICATION_ID;
    throw unusable(path, isOurs ? "it is not encrypted" : "it belongs to another program");
  }
  if (!header.subarray(20, 24).equals(CIPHER_MARK)) throw unusable(path, "it is not a session log");
}

/**
 * The id goes into the main file before WAL is on, so that it is there also after a crash. SQLite does
 * not wait by itself when two processes turn WAL on at once, so this does.
 */
function enterWal(db: SqliteDatabase): void {
  for (let waitedMs = 0; ; waitedMs += WAL_RETRY_MS) {
    try {
      // Has an effect on an empty file only: retention can give pages back.
      db.exec("PRAGMA auto_vacuum = INCREMENTAL");
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (errnoOf(error) !== "SQLITE_BUSY" || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

/** Gives the prepared statement of an SQL text. */
export type Statements = (sql: string) => Database.Statement<unknown[]>;

/** Prepares each statement when it is first used, so that opening stays short. */
export function statementCache(db: SqliteDatabase): Statements {
  const prepared = new Map<string, Database.Statement<unknown[]>>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare<unknown[]>(sql);
    prepared.set(sql, made);
    return made;
  };
}

/** Transactions inside of one become parts of it. */
export function writeGroups(db: SqliteDatabase): WriteGroups {
  const transaction = db.transaction((work: () => void) => work());
  return {
    run: (work) => transaction.immediate(work),
    get isRunning() {
      return db.inTransaction;
    },
  };
}

function migrate(db: SqliteDatabase, { path, clock, onUpgrade }: DatabaseOptions): void {
  if (pendingMigrations(db, path).length === 0) return;
  if (readLedger(db).length > 0) onUpgrade?.();
  db.transaction(() => {
    db.exec(LEDGER_SQL);
    // Asked again under the write lock: another process may have migrated in the meantime.
    for (const migration of pendingMigrations(db, path)) {
      db.exec(migration.sql);
      db.prepare("INSERT INTO schema_migrations (version, applied_at, sha256) VALUES (?, ?, ?)").run(
        migration.version,
        new Date(clock.now()).toISOString(),
        migration.sha256,
      );
    }
  }).immediate();
}

function pendingMigrations(db: SqliteDatabase, path: string): readonly Migration[] {
  const applied = new Map<number, string>();
  for (const row of readLedger(db)) applied.set(row.version, row.sha256);
  const newest = Math.max(0, ...applied.keys());
  const known = migrations.at(-1)?.version ?? 0;
  if (newest > known) {
    throw unusable(
      path,
      `its schema has version ${newest}, but this version of Harness only knows ${known}; use a newer version`,
    );
  }
  for (const { version, sha256 } of migrations) {
    if (version <= newest && applied.get(version) !== sha256) {
      throw unusable(path, `its schema version ${version} is not the one that Harness created`);
    }
  }
  return migrations.filter((migration) => migration.version > newest);
}

function readLedger(db: SqliteDatabase): { version: number; sha256: string }[] {
  const exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'").get();
  if (exists === undefined) return [];
  return db.prepare<[], { version: number; sha256: string }>("SELECT version, sha256 FROM schema_migrations").all();
}

function unusable(path: string, why: string): ReasonError {
  const detail = `The session log ${path} cannot be used: ${why}. Harness did not change it. To start a new log, move the file away.`;
  return new ReasonError("ConfigInvalid", detail);
}

/**
 * The driver's own entry asks for a whole diagnostic report to find out which C library is in use (2 ms); its entries for
 * a known platform skip that.
 */
function loadDriver(): typeof Database {
  const require = createRequire(import.meta.url);
  const target = `${process.platform}-${process.arch}`;
  const entry =
    target === "linux-x64" || target === "linux-arm64"
      ? `/${usesMusl() ? target.replace("linux", "linuxmusl") : target}`
      : "";
  // Every entry of the package exports the same constructor; its types only name the main one.
  return require(`better-sqlite3-multiple-ciphers${entry}`) as typeof Database;
}

function usesMusl(): boolean {
  return readStart(process.execPath, LINKER_SEARCH_BYTES).includes("/ld-musl-");
}

/** The first bytes of a file, filled up with zeros. */
function readStart(path: string, length: number): Buffer {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(length);
    readSync(file, start, 0, length, 0);
    return start;
  } finally {
    closeSync(file);
  }
}
