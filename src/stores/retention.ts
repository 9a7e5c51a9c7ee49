/**
 * How long content is kept: events lose their content when it is older than its time to live, or earlier, oldest first,
 * when the log outgrows its bound. Metadata and the evidence chain stay. Pinned sessions are never touched, and open ones not
 * before they are closed.
 */
import type { Clock } from "#base";
import type { SessionId } from "#protocol";
import { MAX_LINK_EVENTS } from "./evidence.ts";
import { expirePayload } from "./expired-payload.ts";
import { isAlive } from "./lease.ts";
import { type DatabaseOptions, openDatabase, type SqliteDatabase } from "./sqlite/driver.ts";
import { dropSnapshot } from "./sqlite/snapshots.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Events of one transaction: a writer waits for at most one of these. Several links fit in. */
const BATCH_EVENTS = 500;
/** Fewer would not take a whole link, and get nowhere. */
export const MIN_BATCH_EVENTS = MAX_LINK_EVENTS;
const DEFAULT_MAX_BATCHES = 200;
const VACUUM_PAGES = 1000;

export interface RetentionPolicy {
  readonly contentTtlMs: number;
  /** Instead of it, for sessions with these profiles, by name. */
  readonly profileTtlMs?: ReadonlyMap<string, number>;
  /** Sessions that lose content within this time are told. */
  readonly warnWithinMs: number;
  /** Of pages in use; content goes, oldest first, until the log is below it. */
  readonly maxStoreBytes: number;
}

export const defaultRetention: RetentionPolicy = {
  contentTtlMs: 30 * DAY_MS,
  warnWithinMs: 7 * DAY_MS,
  maxStoreBytes: 4 * 1024 ** 3,
};

export interface RetentionReport {
  readonly expiredEvents: number;
  readonly usedBytes: number;
  /** False when the bound on one run was reached; the next run goes on. */
  readonly isComplete: boolean;
}

export interface ExpiringSession {
  readonly id: SessionId;
  readonly title: string;
  /** When its oldest content goes. */
  readonly expiresAt: string;
}

interface RetentionOptions {
  readonly clock: Pick<Clock, "now">;
  readonly policy: RetentionPolicy;
  readonly maxBatches?: number;
  /** Default 500; no fewer than `MIN_BATCH_EVENTS`. */
  readonly batchEvents?: number;
}

/** `applyRetention` on a connection of its own. */
export function runRetention(options: DatabaseOptions & RetentionOptions): RetentionReport {
  return withDatabase(options, (db) => applyRetention(db, options));
}

/** Unpinned sessions whose oldest content goes within `warnWithinMs`, the next one first. */
export function expiringSessions(options: DatabaseOptions & RetentionOptions): readonly ExpiringSession[] {
  const { policy, clock } = options;
  return withDatabase(options, (db) =>
    candidates(db, policy)
      .toSorted((a, b) => a.expiresMs - b.expiresMs)
      .flatMap(({ id, title, expiresMs }) => {
        if (!(expiresMs <= clock.now() + policy.warnWithinMs)) return [];
        return [{ id, title, expiresAt: new Date(expiresMs).toISOString() }];
      }),
  );
}

/** Works in bounded transactions, so that writers go on meanwhile; stops after `maxBatches` of them. */
export function applyRetention(db: SqliteDatabase, options: RetentionOptions): RetentionReport {
  const { clock, policy, maxBatches } = options;
  const batchEvents = Math.max(MIN_BATCH_EVENTS, options.batchEvents ?? BATCH_EVENTS);
  let batchesLeft = maxBatches ?? DEFAULT_MAX_BATCHES;
  let expiredEvents = 0;
  // What is overwritten shall not linger in free pages.
  db.pragma("secure_delete = ON");

  /** Until the session has nothing older than the limit, `enough` says so, or the run has done its share. */
  const expireSession = (key: number, limitMs: number, enough: () => boolean): void => {
    while (batchesLeft > 0 && !enough()) {
      const batch = expireBatch(db, { key, limitMs, batchEvents, nowMs: clock.now() });
      // One that found nothing to do must not keep the next session from its turn, in this run and every other.
      if (batch.isProgress) batchesLeft -= 1;
      expiredEvents += batch.expired;
      if (!batch.hasMore) return;
    }
  };

  // An open session is in somebody's hands; the next run after its end finds it.
  const closed = () => candidates(db, policy).filter((session) => !isLeased(session, clock.now()));
  for (const { key, ttlMs, expiresMs } of closed()) {
    if (expiresMs < clock.now()) expireSession(key, clock.now() - ttlMs, () => false);
  }
  const fits = (): boolean => usedBytes(db) <= policy.maxStoreBytes;
  if (!fits()) for (const { key } of closed()) expireSession(key, Number.POSITIVE_INFINITY, fits);
  if (expiredEvents > 0) giveBack(db, maxBatches ?? DEFAULT_MAX_BATCHES);
  return { expiredEvents, usedBytes: usedBytes(db), isComplete: batchesLeft > 0 };
}

/** Columns of the lease. */
interface Leased {
  readonly owner: string | null;
  readonly owner_until: number;
}

interface CandidateRow extends Leased {
  readonly key: number;
  readonly id: SessionId;
  readonly title: string;
  readonly profile: string;
  /** Time of the oldest event that still has what it was written with. */
  readonly next: string;
}

interface Candidate extends CandidateRow {
  readonly ttlMs: number;
  /** When its oldest content goes. */
  readonly expiresMs: number;
}

/** Unpinned sessions that have something left to expire, oldest content first. */
function candidates(
  db: SqliteDatabase,
  { contentTtlMs, profileTtlMs }: Pick<RetentionPolicy, "contentTtlMs" | "profileTtlMs">,
): Candidate[] {
  const sql = `SELECT * FROM (SELECT key, id, title, profile, owner, owner_until,
    (SELECT ts FROM events WHERE events.session = sessions.key AND events.id > sessions.expired_to
      ORDER BY events.id LIMIT 1) AS next FROM sessions WHERE pinned = 0)
    WHERE next IS NOT NULL ORDER BY next`;
  return db
    .prepare<[], CandidateRow>(sql)
    .all()
    .map((row) => {
      const ttlMs = profileTtlMs?.get(row.profile) ?? contentTtlMs;
      return { ...row, ttlMs, expiresMs: Date.parse(row.next) + ttlMs };
    });
}

interface Batch {
  readonly key: number;
  readonly limitMs: number;
  readonly batchEvents: number;
  readonly nowMs: number;
}

interface Row {
  readonly id: number;
  readonly kind: string;
  readonly ts: string;
  readonly payload: string;
  /** 1 when a link of the chain ends here. */
  readonly ends: number;
}

/**
 * Goes on from where the last batch ended and stops at the first event that is not older than the limit: an event whose
 * time lies before the one of its predecessor, because the clock went backwards, goes no earlier than that one. The contents
 * of a link are hashed together, so they go together.
 */
function expireBatch(
  db: SqliteDatabase,
  { key, limitMs, batchEvents, nowMs }: Batch,
): { isProgress: boolean; hasMore: boolean; expired: number } {
  const select = db.prepare<[number, number], Row>(
    `SELECT events.id, kind, ts, payload, link IS NOT NULL AS ends
      FROM sessions JOIN events ON events.session = sessions.key
      WHERE sessions.key = ? AND sessions.pinned = 0 AND events.id > sessions.expired_to ORDER BY events.id LIMIT ?`,
  );
  const update = db.prepare("UPDATE events SET payload = ? WHERE session = ? AND id = ?");
  return db
    .transaction(() => {
      // Somebody may have opened it since it was chosen.
      const lease = db.prepare<[number], Leased>("SELECT owner, owner_until FROM sessions WHERE key = ?").get(key);
      if (lease === undefined || isLeased(lease, nowMs)) return { isProgress: false, hasMore: false, expired: 0 };
      const rows = select.all(key, batchEvents);
      const tooNew = rows.findIndex(({ ts }) => !(Date.parse(ts) < limitMs));
      const old = tooNew < 0 ? rows : rows.slice(0, tooNew);
      const whole = old.slice(0, old.findLastIndex(({ ends }) => ends === 1) + 1);
      let expired = 0;
      for (const { id, kind, payload } of whole) {
        const left = expirePayload(kind, payload);
        if (left === payload) continue;
        update.run(left, key, id);
        expired += 1;
      }
      const last = whole.at(-1);
      if (last !== undefined) {
        db.prepare("UPDATE sessions SET expired_to = ? WHERE key = ?").run(last.id, key);
        // It may hold what has just gone.
        dropSnapshot((sql) => db.prepare(sql), key);
      }
      const isProgress = last !== undefined;
      return { isProgress, hasMore: isProgress && tooNew < 0 && rows.length === batchEvents, expired };
    })
    .immediate();
}

function isLeased({ owner, owner_until }: Leased, nowMs: number): boolean {
  return owner !== null && isAlive(owner, owner_until, nowMs);
}

function usedBytes(db: SqliteDatabase): number {
  const pragma = (name: string): number => Number(db.pragma(name, { simple: true }));
  return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
}

/**
 * Returns free pages to the file system, and the log of what was there with them; a reader in the way only delays it. Pages above
 * the bound go with a later run.
 */
function giveBack(db: SqliteDatabase, maxVacuums: number): void {
  for (let left = maxVacuums; left > 0 && Number(db.pragma("freelist_count", { simple: true })) > 0; left--) {
    const before = Number(db.pragma("page_count", { simple: true }));
    db.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
    if (Number(db.pragma("page_count", { simple: true })) >= before) break;
  }
  db.pragma("wal_checkpoint(TRUNCATE)");
}

function withDatabase<Result>(options: DatabaseOptions, work: (db: SqliteDatabase) => Result): Result {
  const db = openDatabase(options);
  try {
    return work(db);
  } finally {
    db.close();
  }
}
