/**
 * Snapshots in the SQLite store: pieces in rows of their own, each bound to the one before it by its digest, and a row for
 * each session that says what they hold and to which state of the log they belong. In the same encrypted file as the log.
 */
import { hash } from "node:crypto";
import { messageOf } from "#base";
import type { KeptSnapshot, SnapshotDraft } from "#engine";
import type { Statements } from "./driver.ts";

interface SnapshotRow {
  readonly format: number;
  readonly event: number;
  /** Of the chain at that event. */
  readonly hash: Buffer;
  /** How much of the log had lost its content. */
  readonly expired_to: number;
  readonly pieces: number;
  /** Of the last piece. */
  readonly digest: Buffer;
}

const FIRST_DIGEST = Buffer.alloc(32);

/** Inside a transaction. `expiredTo` is how much of the log had lost its content when its events were read. */
export function writeSnapshot(
  statement: Statements,
  key: number,
  { format, event, follows, pieces }: SnapshotDraft,
  expiredTo: number,
): boolean {
  const before = findSnapshot(statement, key);
  const isContinued = follows > 0;
  if (isContinued && before?.event !== follows) return false;
  if (expiredOf(statement, key) !== expiredTo) return false;
  const chain = chainHashAt(statement, key, event);
  if (chain === undefined) return false;
  if (!isContinued) dropSnapshot(statement, key);
  let number = isContinued && before !== undefined ? before.pieces : 0;
  let digest: Buffer = isContinued && before !== undefined ? before.digest : FIRST_DIGEST;
  for (const piece of pieces) {
    const body = Buffer.from(piece, "utf8");
    digest = pieceDigest(digest, body);
    number += 1;
    statement("INSERT INTO snapshot_pieces (session, piece, digest, body) VALUES (?, ?, ?, ?)").run(
      key,
      number,
      digest,
      body,
    );
  }
  const sql = `INSERT OR REPLACE INTO snapshots (session, format, event, hash, expired_to, pieces, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?)`;
  statement(sql).run(key, format, event, chain, expiredTo, number, digest);
  return true;
}

/** The snapshot when it belongs to the log as it is now. Its pieces are checked as they are read. */
export function readSnapshot(
  statement: Statements,
  key: number,
): KeptSnapshot | { readonly problem: string } | undefined {
  const row = findSnapshot(statement, key);
  if (row === undefined) return undefined;
  const { format, event, pieces, digest } = row;
  if (row.expired_to !== expiredOf(statement, key)) return { problem: "content of the log has expired since then" };
  if (chainHashAt(statement, key, event)?.equals(row.hash) !== true) {
    return { problem: `it was made from another log (event ${event})` };
  }
  return {
    format,
    event,
    async *pieces() {
      yield* readPieces(statement, key, pieces, digest);
    },
  };
}

/** What is wrong with the snapshot of a session, pieces included; undefined when nothing is, or there is none. */
export function snapshotProblem(statement: Statements, key: number): string | undefined {
  const kept = readSnapshot(statement, key);
  if (kept === undefined) return undefined;
  if ("problem" in kept) return kept.problem;
  const row = findSnapshot(statement, key);
  try {
    for (const _ of readPieces(statement, key, row?.pieces ?? 0, row?.digest ?? FIRST_DIGEST));
  } catch (error) {
    return messageOf(error);
  }
  return undefined;
}

export function dropSnapshot(statement: Statements, key: number): void {
  for (const table of ["snapshots", "snapshot_pieces"]) statement(`DELETE FROM ${table} WHERE session = ?`).run(key);
}

/** How much of the log has lost its content: an event id. */
export function expiredOf(statement: Statements, key: number): number {
  // The column as selected; the key is one of a session.
  return (statement("SELECT expired_to FROM sessions WHERE key = ?").get(key) as { expired_to: number }).expired_to;
}

function* readPieces(statement: Statements, key: number, pieces: number, last: Buffer): Generator<string> {
  const select = statement("SELECT digest, body FROM snapshot_pieces WHERE session = ? AND piece = ?");
  let digest: Buffer = FIRST_DIGEST;
  for (let number = 1; number <= pieces; number++) {
    // The columns as selected.
    const row = select.get(key, number) as { digest: Buffer; body: Buffer } | undefined;
    if (row === undefined) throw new Error(`piece ${number} of ${pieces} is missing`);
    digest = pieceDigest(digest, row.body);
    if (!digest.equals(row.digest)) throw new Error(`piece ${number} of ${pieces} was changed`);
    yield row.body.toString("utf8");
  }
  if (!digest.equals(last)) throw new Error("its pieces do not belong together");
}

function findSnapshot(statement: Statements, key: number): SnapshotRow | undefined {
  const sql = "SELECT format, event, hash, expired_to, pieces, digest FROM snapshots WHERE session = ?";
  // The columns as selected.
  return statement(sql).get(key) as SnapshotRow | undefined;
}

/** A digest of the link that closes over this event, and so over all before it; undefined when the log has no such link. */
function chainHashAt(statement: Statements, key: number, event: number): Buffer | undefined {
  const sql = `SELECT link FROM events WHERE session = ? AND id >= ? AND link IS NOT NULL ORDER BY id LIMIT 1`;
  // The column as selected.
  const row = statement(sql).get(key, event) as { link: Buffer } | undefined;
  return row && hash("sha256", Buffer.concat([row.link, Buffer.from(String(event))]), "buffer");
}

function pieceDigest(before: Buffer, body: Buffer): Buffer {
  return hash("sha256", Buffer.concat([before, body]), "buffer");
}
