/** How the SQLite store keeps the chain, and the signed checkpoints beside it; the way to read it back. */
import type { SessionId } from "#protocol";
import type { Checkpoint } from "../checkpoint.ts";
import { HASH_BYTES, type Link, recomputeLink, SALT_BYTES } from "../evidence.ts";
import type { ChainedRecord } from "../record.ts";
import type { SqliteDatabase, Statements } from "./driver.ts";

export const RECORD_COLUMNS = "id, kind, ts, originator, payload, link";

export interface RecordRow extends Omit<ChainedRecord, "link"> {
  readonly link: Buffer | null;
}

export function toChainedRecord({ id, kind, ts, originator, payload, link }: RecordRow): ChainedRecord {
  return { id, kind, ts, originator, payload, link: linkOf(link) };
}

const CONTENT_END = 2 * HASH_BYTES;
const SALT_END = CONTENT_END + SALT_BYTES;

/**
 * Its hash, the hash of the contents and the salt; the first alone when no event of the link has content. Undefined for what the schema
 * took over from its first version, whose evidence is no longer read.
 */
function linkOf(blob: Buffer | null): Link | undefined {
  if (blob === null || (blob.length !== HASH_BYTES && blob.length !== SALT_END)) return undefined;
  const hash = blob.toString("hex", 0, HASH_BYTES);
  if (blob.length === HASH_BYTES) return { hash };
  return { hash, content: blob.toString("hex", HASH_BYTES, CONTENT_END), salt: blob.toString("hex", CONTENT_END) };
}

/** Inside a transaction. */
export function insertRecord(statement: Statements, key: number, record: ChainedRecord): void {
  const { id, kind, ts, originator, payload, link } = record;
  if (link === undefined) {
    const sql = "INSERT INTO events (session, id, kind, ts, originator, payload) VALUES (?, ?, ?, ?, ?, ?)";
    statement(sql).run(key, id, kind, ts, originator, payload);
    return;
  }
  const { hash, content = "", salt = "" } = link;
  const sql = `INSERT INTO events (session, id, kind, ts, originator, payload, link)
    VALUES (?, ?, ?, ?, ?, ?, unhex(?))`;
  statement(sql).run(key, id, kind, ts, originator, payload, hash + content + salt);
}

/** Inside a transaction. */
export function insertCheckpoint(statement: Statements, key: number, checkpoint: Checkpoint): void {
  const { event, hash, ts, key_id, public_key, signature } = checkpoint;
  const sql = `INSERT INTO checkpoints (session, event, hash, ts, key_id, public_key, signature)
    VALUES (?, ?, unhex(?), ?, ?, unhex(?), unhex(?)) ON CONFLICT DO NOTHING`;
  statement(sql).run(key, event, hash, ts, key_id, public_key, signature);
}

/** The id of the last event that a checkpoint covers; 0 when there is none. */
export function lastSignedEvent(statement: Statements, key: number): number {
  const sql = "SELECT coalesce(max(event), 0) AS event FROM checkpoints WHERE session = ?";
  // The column as selected; an aggregate always gives one row.
  return (statement(sql).get(key) as { event: number }).event;
}

export function lastRecord(statement: Statements, key: number): ChainedRecord | undefined {
  const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? ORDER BY id DESC LIMIT 1`;
  // The selected columns are the fields of the row.
  const row = statement(sql).get(key) as RecordRow | undefined;
  return row && toChainedRecord(row);
}

/** In the order of their events. */
export function readCheckpoints(statement: Statements, session: SessionId, key: number): readonly Checkpoint[] {
  const sql = `SELECT event, lower(hex(hash)) AS hash, ts, key_id, lower(hex(public_key)) AS public_key,
    lower(hex(signature)) AS signature FROM checkpoints WHERE session = ? ORDER BY event`;
  // The selected columns are the fields of a checkpoint.
  return (statement(sql).all(key) as Omit<Checkpoint, "session">[]).map((row) => ({ session, ...row }));
}

/** The hash of the chain after an event; undefined when there is none, or no link ends there. */
export function hashAt(db: SqliteDatabase, key: number, event: number): string | undefined {
  const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id = ?`;
  const row = db.prepare<[number, number], RecordRow>(sql).get(key, event);
  return row && toChainedRecord(row).link?.hash;
}

/** Whether the last link follows from the events in it and the one before. `start` is where the chain begins. */
export function lastLinkHolds(db: SqliteDatabase, session: SessionId, key: number, start: string): boolean {
  const last = lastRecord((sql) => db.prepare<unknown[]>(sql), key);
  if (last === undefined) return true;
  const { id, link } = last;
  if (link === undefined) return false;
  const before = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id < ? AND link IS NOT NULL
    ORDER BY id DESC LIMIT 1`;
  const row = db.prepare<[number, number], RecordRow>(before).get(key, id);
  const prev = row === undefined ? start : toChainedRecord(row).link?.hash;
  const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id > ? ORDER BY id`;
  const events = db.prepare<[number, number], RecordRow>(sql).all(key, row?.id ?? 0);
  return prev !== undefined && recomputeLink(session, prev, events.map(toChainedRecord), link).hash === link.hash;
}
