/** The writing ends of sessions in the SQLite store. The lease of a session is in its row, and so is where its chain ends. */
import { type Clock, errnoOf } from "#base";
import type { SnapshotDraft } from "#engine";
import type { SessionId } from "#protocol";
import type { Checkpoint } from "../checkpoint.ts";
import { createOwner, isAlive, LEASE_MS } from "../lease.ts";
import { createLeftLeases } from "../left-leases.ts";
import type { LogEnd, RecordBatch, RecordLog } from "../record-backend.ts";
import { otherWriter, sessionBusy, sessionNotFound } from "../store-errors.ts";
import type { SqliteDatabase, Statements } from "./driver.ts";
import { insertCheckpoint, type insertRecord, lastRecord, lastSignedEvent } from "./evidence.ts";
import { noteCalls, readOpenCalls } from "./open-calls.ts";
import { expiredOf, readSnapshot, writeSnapshot } from "./snapshots.ts";

export interface SqliteLogs {
  /** Takes the lease and gives the key of the session. In a transaction. */
  take(id: SessionId): Lease;
  open(id: SessionId): RecordLog;
}

interface Lease {
  readonly key: number;
  readonly owner: string;
}

export function createSqliteLogs(
  db: SqliteDatabase,
  statement: Statements,
  clock: Pick<Clock, "now">,
  insert: typeof insertRecord,
): SqliteLogs {
  const left = createLeftLeases(() => db.open);

  const take = (id: SessionId): Lease => {
    const sql = "SELECT key, owner, owner_until FROM sessions WHERE id = ?";
    // The columns as selected.
    const row = statement(sql).get(id) as { key: number; owner: string | null; owner_until: number } | undefined;
    if (row === undefined) throw sessionNotFound(id);
    const isHeld = row.owner !== null && !left.has(row.owner) && isAlive(row.owner, row.owner_until, clock.now());
    if (isHeld) throw sessionBusy(id, row.owner ?? "");
    const lease = { key: row.key, owner: createOwner() };
    const update = "UPDATE sessions SET owner = ?, owner_until = ? WHERE key = ?";
    statement(update).run(lease.owner, clock.now() + LEASE_MS, lease.key);
    return lease;
  };

  /** Brings the row up with its events, and the lease with it. False when somebody else has the lease by now. */
  const renew = ({ key, owner }: Lease, { head, now }: LogEnd): boolean => {
    const sql = `UPDATE sessions SET updated_at = ?, head = unhex(?), head_event = ?, owner_until = ?
      WHERE key = ? AND owner = ?`;
    const until = clock.now() + LEASE_MS;
    return statement(sql).run(now, head.hash, head.lastEventId, until, key, owner).changes > 0;
  };

  const takeOver = db.transaction((id: SessionId) => {
    const lease = take(id);
    const last = lastRecord(statement, lease.key);
    // A writer that was cut off has left the row behind.
    const sql = "UPDATE sessions SET updated_at = max(updated_at, ?) WHERE key = ?";
    if (last !== undefined) statement(sql).run(last.ts, lease.key);
    return { lease, last, signedTo: lastSignedEvent(statement, lease.key) };
  });

  const append = db.transaction((id: SessionId, lease: Lease, { records, drafts, end, renews }: RecordBatch) => {
    for (const record of records) insert(statement, lease.key, record);
    noteCalls(statement, lease.key, drafts, records[0]?.id ?? 0);
    // A lease that may be over is always due to be renewed.
    if (renews && !renew(lease, end)) throw otherWriter(id, undefined);
  });

  const sign = db.transaction((lease: Lease, checkpoint: Checkpoint, end: LogEnd | undefined) => {
    if (end === undefined || renew(lease, end)) insertCheckpoint(statement, lease.key, checkpoint);
  });

  const leave = db.transaction((lease: Lease, end: LogEnd | undefined, checkpoint: Checkpoint | undefined) => {
    // Whoever has it by now has the row and the signature, too.
    if (end !== undefined && !renew(lease, end)) return;
    const sql = "UPDATE sessions SET owner = NULL, owner_until = 0 WHERE key = ? AND owner = ?";
    if (statement(sql).run(lease.key, lease.owner).changes === 0) return;
    if (checkpoint !== undefined) insertCheckpoint(statement, lease.key, checkpoint);
  });

  const keep = db.transaction((key: number, snapshot: SnapshotDraft, expiredTo: number) =>
    writeSnapshot(statement, key, snapshot, expiredTo),
  );

  return {
    take,
    open(id) {
      const { lease, last, signedTo } = takeOver.immediate(id);
      const { key, owner } = lease;
      const expiredTo = expiredOf(statement, key);
      return {
        last,
        signedTo,
        append(batch) {
          try {
            append.immediate(id, lease, batch);
          } catch (error) {
            throw errnoOf(error) === "SQLITE_CONSTRAINT_UNIQUE" ? otherWriter(id, error) : error;
          }
        },
        sign: (checkpoint, end) => sign.immediate(lease, checkpoint, end),
        openCalls: () => readOpenCalls(statement, key, id),
        snapshots: {
          read: () => readSnapshot(statement, key),
          write: (snapshot) => keep.immediate(key, snapshot, expiredTo),
        },
        release: (end, checkpoint) => left.leave(owner, () => leave.immediate(lease, end, checkpoint)),
      };
    },
  };
}
