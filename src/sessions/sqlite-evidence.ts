/** What the SQLite store keeps besides the events: signed checkpoints, and the way to read all evidence back. */
import type { SessionId } from "#protocol";
import type { Checkpoint } from "./checkpoint.ts";
import type { EvidenceItem } from "./evidence-lines.ts";
import type { ChainedRecord, ChainHead } from "./record.ts";
import type { Statements } from "./sqlite-driver.ts";

/** Events read at once; a payload may be large. */
const READ_PAGE = 256;

/** Inside the transaction that appends the event. */
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

/** Records up to `head`, each checkpoint up to `lastSigned` after its event, the head last. */
export function* readEvidenceRows(
  statement: Statements,
  { session, key, head, lastSigned }: { session: SessionId; key: number; head: ChainHead; lastSigned: number },
): Generator<EvidenceItem> {
  const events = `SELECT id, kind, ts, originator, payload, prev, salt, content FROM events
    WHERE session = ? AND id > ? AND id <= ? ORDER BY id LIMIT ${READ_PAGE}`;
  const signedSql = `SELECT event, lower(hex(hash)) AS hash, ts, key_id, lower(hex(public_key)) AS public_key,
    lower(hex(signature)) AS signature FROM checkpoints WHERE session = ? AND event > ? AND event <= ? ORDER BY event`;
  const between = (after: number, upTo: number): Omit<Checkpoint, "session">[] =>
    // The selected columns are the fields of a checkpoint.
    statement(signedSql).all(key, after, upTo) as Omit<Checkpoint, "session">[];
  let after = 0;
  for (;;) {
    // The selected columns are the fields of a record.
    const page = statement(events).all(key, after, head.lastEventId) as ChainedRecord[];
    const last = page.at(-1);
    if (last === undefined) break;
    const checkpoints = between(after, last.id);
    let at = 0;
    for (const record of page) {
      yield { type: "record", record: { ...record, session } };
      for (
        let checkpoint = checkpoints[at];
        checkpoint !== undefined && checkpoint.event <= record.id;
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
