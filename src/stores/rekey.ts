/**
 * Gives the session log another key. SQLite rewrites every page in one transaction with a rollback journal, so that a
 * crash leaves the log with the old key or with the new one, whole.
 */
import { existsSync } from "node:fs";
import { type Clock, errnoOf } from "#base";
import { ReasonError, type SessionId } from "#protocol";
import type { KeyFiles } from "./key-files.ts";
import { isAlive } from "./lease.ts";
import { KEY_BYTES, KEY_FILE, type MachineKey, NEXT_KEY_FILE } from "./machine-key.ts";
import { cipherKey, connect, openDatabase, type SqliteDatabase } from "./sqlite/driver.ts";
import { sessionBusy } from "./store-errors.ts";

export interface RekeyOptions {
  readonly path: string;
  readonly from: MachineKey;
  readonly to: MachineKey;
  readonly clock: Pick<Clock, "now">;
}

/** Throws SessionBusy while a living process has a session open, KeyInvalid when `from` does not open the log. */
export function rekeyStore({ path, from, to, clock }: RekeyOptions): void {
  if (!existsSync(path)) throw new ReasonError("ConfigInvalid", `There is no session log ${path}.`);
  // Brings the schema up to date first: the leases are read below.
  openDatabase({ path, clock, key: from }).close();
  connect({ path, key: from }, (db) => {
    refuseWhileLeased(db, clock);
    takeWhole(db, path);
    // Asked again: from here on nobody can take one.
    refuseWhileLeased(db, clock);
    db.exec(`PRAGMA rekey = "${cipherKey(to)}"`);
  }).close();
  // Back to its usual journal, and proof that the new key opens it.
  openDatabase({ path, clock, key: to }).close();
}

/**
 * Makes a new key file and moves the log to it. The new key is on disk before the log is touched and takes its place
 * after; running it again finishes what was interrupted. Returns the new key.
 */
export function rotateKeyFile(options: {
  readonly path: string;
  readonly files: KeyFiles;
  readonly clock: Pick<Clock, "now">;
  /**
   * What else is under the key. Called before the log is touched, to write it anew beside the old; the log is left alone
   * when it throws. Then one of what it returns is called: `finish` when the log has the new key, to let the old go, or
   * `abandon` when it has not, to let the new go.
   */
  readonly also?: (from: MachineKey, to: MachineKey) => { finish(): void; abandon(): void };
}): MachineKey {
  const { path, files, clock, also } = options;
  const from = keyOf(files, KEY_FILE);
  const isInterrupted = files.has(NEXT_KEY_FILE);
  const to = keyOf(files, NEXT_KEY_FILE);
  const isDone = (): boolean => existsSync(path) && opensWith(path, to, clock);
  let moved: ReturnType<NonNullable<typeof also>> | undefined;
  try {
    moved = also?.(from, to);
    if (existsSync(path) && !(isInterrupted && isDone())) rekeyStore({ path, from, to, clock });
  } catch (error) {
    // The log still has the old key, so the new one must not be in the way.
    if (!isDone()) {
      moved?.abandon();
      files.remove(NEXT_KEY_FILE);
    }
    throw error;
  }
  moved?.finish();
  files.replace(KEY_FILE, NEXT_KEY_FILE);
  return keyOf(files, KEY_FILE);
}

function keyOf(files: KeyFiles, name: string): MachineKey {
  const { bytes, place } = files.readOrCreateKey(name, KEY_BYTES);
  return { bytes, source: place };
}

function opensWith(path: string, key: MachineKey, clock: Pick<Clock, "now">): boolean {
  try {
    openDatabase({ path, clock, key }).close();
    return true;
  } catch (error) {
    if (error instanceof ReasonError && error.reason === "KeyInvalid") return false;
    throw error;
  }
}

function refuseWhileLeased(db: SqliteDatabase, clock: Pick<Clock, "now">): void {
  const sql = "SELECT id, owner, owner_until FROM sessions WHERE owner IS NOT NULL";
  for (const row of db.prepare<[], { id: SessionId; owner: string; owner_until: number }>(sql).all()) {
    if (isAlive(row.owner, row.owner_until, clock.now())) throw sessionBusy(row.id, row.owner);
  }
}

/** Leaving WAL needs every other connection closed, and the lock is then kept until the end. */
function takeWhole(db: SqliteDatabase, path: string): void {
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    const mode = db.pragma("journal_mode = DELETE", { simple: true });
    if (mode !== "delete") throw new Error(`the journal mode stays ${String(mode)}`);
    // A reader of the rollback journal gets in until the lock is really taken.
    db.exec("BEGIN EXCLUSIVE; COMMIT");
  } catch (error) {
    if (errnoOf(error) !== "SQLITE_BUSY" && errnoOf(error) !== "SQLITE_LOCKED") throw error;
    const detail = `the session log ${path} is open in another process. Close it there first.`;
    throw new ReasonError("NotAllowed", detail, { cause: error });
  }
}
