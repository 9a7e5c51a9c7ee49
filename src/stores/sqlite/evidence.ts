/** How the SQLite store keeps the chain, and the signed checkpoints beside it; the way to read all evidence back. */
import type { SessionId } from "#protocol";
import type { Checkpoint } from "../checkpoint.ts";
import { HASH_BYTES, type Link, recomputeLink, SALT_BYTES, type SingleLink } from "../evidence.ts";
import type { EvidenceItem } from "../evidence-lines.ts";
import { type ChainedRecord, type ChainHead, hashAfter } from "../record.ts";
import type { SqliteDatabase, Statements } from "./driver.ts";

/** Events read at once; a payload may be large. */
const READ_PAGE = 256;

export const RECORD_COLUMNS = "id, kind, ts, originator, payload, link";

export interface RecordRow extends Omit<ChainedRecord, "link"> {
  readonly link: Buffer | null;
}

export function toChainedRecord({ id, kind, ts, originator, payload, link }: RecordRow): ChainedRecord {
  return { id, kind, ts, originator, payload, link: link === null ? undefined : linkOf(link) };
}

/** Stands behind the bytes of a link of the first format. */
const FIRST_FORMAT = "01";
const CONTENT_END = 2 * HASH_BYTES;
const SALT_END = CONTENT_END + SALT_BYTES;

/** Its hash, the hash of the contents and the salt; the first alone when no event of the link has content. */
function linkOf(blob: Buffer): Link | SingleLink {
  const first = blob.toString("hex", 0, HASH_BYTES);
  if (blob.length === HASH_BYTES) return { hash: first };
  const content = blob.toString("hex", HASH_BYTES, CONTENT_END);
  const salt = blob.toString("hex", CONTENT_END, SALT_END);
  return blob.length === SALT_END ? { hash: first, content, salt } : { prev: first, content, salt };
}

function hexOf(link: Link | SingleLink): string {
  const { content = "", salt = "" } = link;
  return "hash" in link ? link.hash + content + salt : link.prev + content + salt + FIRST_FORMAT;
}

/** Inside a transaction. */
export function insertRecord(statement: Statements, key: number, record: ChainedRecord): void {
  const { id, kind, ts, originator, payload, link } = record;
  if (link === undefined) {
    const sql = "INSERT INTO events (session, id, kind, ts, originator, payload) VALUES (?, ?, ?, ?, ?, ?)";
    statement(sql).run(key, id, kind, ts, originator, payload);
    return;
  }
  const sql = `INSERT INTO events (session, id, kind, ts, originator, payload, link)
    VALUES (?, ?, ?, ?, ?, ?, unhex(?))`;
  statement(sql).run(key, id, kind, ts, originator, payload, hexOf(link));
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

/** Whether a turn ended behind the last checkpoint: the writer before was cut off, or had no key. */
export function hasUnsignedTurn(statement: Statements, key: number): boolean {
  const sql = "SELECT 1 FROM events WHERE session = ? AND id > ? AND kind = 'TurnEnded' LIMIT 1";
  return statement(sql).get(key, lastSignedEvent(statement, key)) !== undefined;
}

/** The last event and the hash of the chain there, which is undefined when its link is not there. */
export function chainEnd(
  statement: Statements,
  session: SessionId,
  key: number,
): { readonly record: ChainedRecord; readonly hash: string | undefined } | undefined {
  const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? ORDER BY id DESC LIMIT 1`;
  // The selected columns are the fields of the row.
  const row = statement(sql).get(key) as RecordRow | undefined;
  if (row === undefined) return undefined;
  const record = toChainedRecord(row);
  return { record, hash: hashAfter(session, record) };
}

/** The hash of the chain after an event; undefined when there is none, or no link ends there. */
export function hashAt(db: SqliteDatabase, session: SessionId, key: number, event: number): string | undefined {
  const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id = ?`;
  const row = db.prepare<[number, number], RecordRow>(sql).get(key, event);
  return row && hashAfter(session, toChainedRecord(row));
}

/** Whether the last link follows from the events in it and the one before. `start` is where the chain begins. */
export function lastLinkHolds(db: SqliteDatabase, session: SessionId, key: number, start: string): boolean {
  const end = chainEnd((sql) => db.prepare<unknown[]>(sql), session, key);
  if (end === undefined) return true;
  const { id, link } = end.record;
  // In the first format the hash is not stored with the event; `hashAt` has made it anew.
  if (link === undefined || "prev" in link) return link !== undefined;
  const before = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id < ? AND link IS NOT NULL
    ORDER BY id DESC LIMIT 1`;
  const row = db.prepare<[number, number], RecordRow>(before).get(key, id);
  const prev = row === undefined ? start : hashAfter(session, toChainedRecord(row));
  const sql = `SELECT ${RECORD_COLUMNS} FROM events WHERE session = ? AND id > ? ORDER BY id`;
  const events = db.prepare<[number, number], RecordRow>(sql).all(key, row?.id ?? 0);
  return prev !== undefined && recomputeLink(session, prev, events.map(toChainedRecord), link).hash === link.hash;
}

/** Records up to `head`, each checkpoint up to `lastSigned` after its event, the head last. */
export function* readEvidenceRows(
  statement: Statements,
  { session, key, head, lastSigned }: { session: SessionId; key: number; head: ChainHead; lastSigned: number },
): Generator<EvidenceItem> {
  const events = `SELECT ${RECORD_COLUMNS} FROM events
    WHERE session = ? AND id > ? AND id <= ? ORDER BY id LIMIT ${READ_PAGE}`;
  const signedSql = `SELECT event, lower(hex(hash)) AS hash, ts, key_id, lower(hex(public_key)) AS public_key,
    lower(hex(signature)) AS signature FROM checkpoints WHERE session = ? AND event > ? AND event <= ? ORDER BY event`;
  const between = (after: number, upTo: number): Omit<Checkpoint, "session">[] =>
    // The selected columns are the fields of a checkpoint.
    statement(signedSql).all(key, after, upTo) as Omit<Checkpoint, "session">[];
  let after = 0;
  for (;;) {
    // The selected columns are the fields of the row.
    const page = statement(events).all(key, after, head.lastEventId) as RecordRow[];
    const last = page.at(-1);
    if (last === undefined) break;
    const checkpoints = between(after, last.id);
    let at = 0;
    for (const row of page) {
      yield { type: "record", record: { ...toChainedRecord(row), session } };
      for (
        let checkpoint = checkpoints[at];
        checkpoint !== undefined && checkpoint.event <= row.id;
        checkpoint = checkpoints[++at]
      ) {
        yield { type: "checkpoint", checkpoint: { session, ...checkpoint } };
      }
    }
    after = last.id;
  }
  for (const checkpoint of between(after, lastSigned))
    yield { type: "checkpoint", checkpoint: { session, ...checkpoint } };
  yield { type: "head", head };
}
