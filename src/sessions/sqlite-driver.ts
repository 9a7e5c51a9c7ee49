/**
 * Opens the SQLite file of the session log and brings its schema up to date. This is on the way to the first model
 * request, so it does as little as it can: the file header tells most of what matters before SQLite is asked.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type Database from "better-sqlite3-multiple-ciphers";
import type { Clock } from "#base";
import { ReasonError } from "#protocol";
import { APPLICATION_ID, LEDGER_SQL, type Migration, migrations } from "./migrations.ts";

export type SqliteDatabase = Database.Database;

/** How long a statement waits for another process before it fails. */
const BUSY_TIMEOUT_MS = 5000;
const WAL_RETRY_MS = 5;
const HEADER_BYTES = 100;
const HEADER_MAGIC = "SQLite format 3\0";
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** The dynamic linker's name stands near the start of the program file. */
const LINKER_SEARCH_BYTES = 4096;

/**
 * The open database: WAL, every commit synced, schema current. Throws a ReasonError that names the file when it cannot be
 * used; a file that is not ours, damaged or from a newer version is left as it was.
 */
export function openDatabase(options: { readonly path: string; readonly clock: Pick<Clock, "now"> }): SqliteDatabase {
  const { path } = options;
  try {
    const header = prepareFile(path);
    const db = new (loadDriver())(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      if (!header.isWal) enterWal(db);
      db.prepare("PRAGMA synchronous = FULL").run();
      migrate(db, path, options.clock);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ReasonError(
      "ConfigInvalid",
      { detail: `The session log ${path} cannot be opened: ${why}.` },
      { cause: error },
    );
  }
}

/** Creates what is missing and looks at the header of what is there. */
function prepareFile(path: string): { readonly isWal: boolean } {
  mkdirSync(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, FILE_MODE);
  try {
    if (fstatSync(file).size === 0) return { isWal: false };
    const header = Buffer.alloc(HEADER_BYTES);
    const length = readSync(file, header, 0, HEADER_BYTES, 0);
    if (length < HEADER_BYTES || header.toString("latin1", 0, HEADER_MAGIC.length) !== HEADER_MAGIC) {
      throw unusable(path, "it is not an SQLite database");
    }
    if (header.readUInt32BE(68) !== APPLICATION_ID) throw unusable(path, "it belongs to another program");
    return { isWal: header[18] === 2 && header[19] === 2 };
  } finally {
    closeSync(file);
  }
}

/**
 * The id goes into the main file before WAL is on, so that `prepareFile` finds it there also after a crash. SQLite does
 * not wait by itself when two processes turn WAL on at once, so this does.
 */
function enterWal(db: SqliteDatabase): void {
  for (let waitedMs = 0; ; waitedMs += WAL_RETRY_MS) {
    try {
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!hasCode(error, "SQLITE_BUSY") || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

/** True for an error that SQLite raised with this result code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function migrate(db: SqliteDatabase, path: string, clock: Pick<Clock, "now">): void {
  if (pendingMigrations(db, path).length === 0) return;
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
      `its schema is version ${newest}, this program knows ${known}; use a newer version of harness`,
    );
  }
  for (const { version, sha256 } of migrations) {
    if (version <= newest && applied.get(version) !== sha256) {
      throw unusable(path, `its schema version ${version} is not the one this program made`);
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
  const detail = `The session log ${path} cannot be used: ${why}. It was not changed; move it away to start a new one.`;
  return new ReasonError("ConfigInvalid", { detail });
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
  const file = openSync(process.execPath, "r");
  try {
    const start = Buffer.alloc(LINKER_SEARCH_BYTES);
    readSync(file, start, 0, LINKER_SEARCH_BYTES, 0);
    return start.includes("/ld-musl-");
  } finally {
    closeSync(file);
  }
}
