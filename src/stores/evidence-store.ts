/**
 * A session store on a record backend: everything that makes a log evidence is here, once for all kinds of stores. Events are
 * linked, turns signed, leases renewed, appends of several sessions grouped, and last known heads kept.
 */
import { type Clock, defined } from "#base";
import type { SessionLog } from "#engine";
import { type Event, type EventOf, ReasonError, type SessionId } from "#protocol";
import { type ArchiveStore, createPlacesToSign, mergeEvidence, readRecords } from "./archive.ts";
import type { Checkpoint, Signer } from "./checkpoint.ts";
import { createDelayedCheckpoint } from "./delayed-checkpoint.ts";
import { chainStart, createSalts } from "./evidence.ts";
import { createGroupCommit, type GroupedWrite } from "./group-commit.ts";
import { withKnownHeads } from "./headed-store.ts";
import { createKnownHeads, type HeadsPlace } from "./known-heads.ts";
import { RENEW_MS } from "./lease.ts";
import { type ChainedRecord, type ChainHead, chainDrafts, hashAfter, toEvent } from "./record.ts";
import type { Effect, LogEnd, RecordBackend } from "./record-backend.ts";
import { accessFailed, logReleased, sessionExists, sessionNotFound, storeClosed } from "./store-errors.ts";

export interface EvidenceOptions {
  readonly clock: Pick<Clock, "now">;
  /** Signs a checkpoint at the end of each turn and when a writer leaves; without it the log is chained, not signed. */
  readonly signer?: Signer;
  /** Where the last known head of each session is kept; without it an older copy of the log is not noticed. */
  readonly heads?: HeadsPlace;
}

/** The store on a backend, which it owns from now on. `chain` is for the benchmark that weighs it; nobody else may leave it out. */
export function createEvidenceStore(
  backend: RecordBackend,
  options: EvidenceOptions,
  chain = chainDrafts,
): ArchiveStore {
  const store = createChainedStore(backend, options, chain);
  return options.heads === undefined ? store : withKnownHeads(store, createKnownHeads(options.heads, backend.name));
}

function createChainedStore(
  backend: RecordBackend,
  { clock, signer }: EvidenceOptions,
  chain: typeof chainDrafts,
): ArchiveStore {
  const nextSalt = createSalts();
  const group = createGroupCommit(backend.groups);
  const { historyStart, expiredTo } = backend;
  let openLogs = 0;
  let isClosed = false;

  /** Runs one call of the store; whatever the backend throws leaves as a ReasonError with its cause. */
  const guarded = async <Result>(effect: Effect, work: () => Result | Promise<Result>): Promise<Result> => {
    if (isClosed) throw storeClosed();
    try {
      return await work();
    } catch (error) {
      if (error instanceof ReasonError) throw error;
      throw backend.failure?.(effect, error) ?? accessFailed(effect, backend.name, error);
    }
  };

  const sign = (signing: Signer, session: SessionId, { lastEventId: event, hash }: ChainHead): Checkpoint =>
    signing.sign({ session, event, hash, ts: new Date(clock.now()).toISOString() });

  const headAfter = (id: SessionId, last: ChainedRecord | undefined): ChainHead => {
    if (last === undefined) return { lastEventId: 0, hash: chainStart(id) };
    const hash = hashAfter(id, last);
    if (hash !== undefined) return { lastEventId: last.id, hash };
    const detail = `the link of event ${last.id} of session ${id} is missing. Restore the log from a backup.`;
    throw new ReasonError("LogCorrupt", { path: backend.name, detail });
  };

  const headOf = (id: SessionId): ChainHead => {
    if (backend.head !== undefined) return backend.head(id);
    const meta = backend.get(id);
    if (meta === undefined) throw sessionNotFound(id);
    const [last] = backend.records(id, { after: Math.max(0, meta.lastEventId - 1), limit: 1 });
    return headAfter(id, last);
  };

  const openLog = (id: SessionId): SessionLog => {
    const log = backend.acquire(id);
    let head: ChainHead;
    let end: LogEnd | undefined;
    let { signedTo } = log;
    let renewedMs = clock.now();
    let isReleased = false;

    const unsigned = (): Checkpoint | undefined =>
      signer === undefined || head.lastEventId <= signedTo ? undefined : sign(signer, id, head);
    const signEnd = (): void => {
      const checkpoint = unsigned();
      if (checkpoint === undefined) return;
      log.sign(checkpoint, end);
      signedTo = checkpoint.event;
    };
    try {
      head = headAfter(id, log.last);
      // What a writer that was cut off, or had no key, left unsigned.
      signEnd();
    } catch (error) {
      log.release(undefined);
      throw error;
    }
    openLogs += 1;
    const delayed = signer && createDelayedCheckpoint(() => isClosed || signEnd());

    const write = (drafts: Parameters<SessionLog["append"]>[0], now: string): GroupedWrite<number> => {
      const before = { head, end, renewedMs };
      const chained = chain(id, head, drafts, nextSalt);
      const nowMs = clock.now();
      // Also when the clock was set back.
      const renews = Math.abs(nowMs - renewedMs) >= RENEW_MS;
      const ending = { head: chained.head, now };
      log.append({ records: chained.records, drafts, end: ending, renews });
      ({ head } = chained);
      end = ending;
      if (renews) renewedMs = nowMs;
      return {
        value: before.head.lastEventId + 1,
        committed() {
          if (drafts.some(({ kind }) => kind === "TurnEnded")) delayed?.turnEnded();
        },
        rolledBack() {
          ({ head, end, renewedMs } = before);
        },
      };
    };

    const { snapshots } = log;
    return {
      ...defined({ lastTs: log.last?.ts, repairs: log.repairs }),
      append: (drafts, now) =>
        guarded("writes", () => {
          if (isReleased) throw logReleased(id);
          if (drafts.length === 0) return head.lastEventId + 1;
          // A turn that could not be signed is not stored as ended.
          if (drafts.some(({ kind }) => kind === "TurnEnded")) signer?.ready();
          return group.run(() => write(drafts, now), openLogs === 1);
        }),
      openCalls: () => guarded("reads", () => log.openCalls?.() ?? unfinishedCalls(id, readRecords(store, id))),
      ...(snapshots && {
        snapshots: {
          read: () => guarded("reads", () => snapshots.read()),
          write: (snapshot) => guarded("writes", () => snapshots.write(snapshot)),
        },
      }),
      release: () =>
        guarded("writes", () => {
          if (isReleased) return;
          delayed?.stop();
          group.flush();
          isReleased = true;
          openLogs -= 1;
          let checkpoint: Checkpoint | undefined;
          try {
            checkpoint = unsigned();
          } finally {
            log.release(end, checkpoint);
          }
        }),
    };
  };

  const store: ArchiveStore = {
    create: (session) =>
      guarded("writes", () => {
        const fields = { updatedAt: session.createdAt, title: "", state: "active", pinned: false } as const;
        if (!backend.create({ ...session, ...fields }, [], () => [])) throw sessionExists(session.id);
      }),
    restore: (session, records, known) =>
      guarded("writes", () => {
        const places = createPlacesToSign(session.id);
        const noted = known === undefined && signer !== undefined ? noting(records, places.note) : records;
        const made = (): Checkpoint[] => (signer ? places.all().map((head) => sign(signer, session.id, head)) : []);
        if (!backend.create(session, noted, () => known ?? made())) throw sessionExists(session.id);
      }),
    get: (id) => guarded("reads", () => backend.get(id)),
    list: (options) => guarded("reads", () => backend.list(options)),
    update: (id, change) =>
      guarded("writes", () => {
        if (!backend.update(id, change)) throw sessionNotFound(id);
      }),
    delete: (id) => guarded("writes", () => backend.delete(id)),
    acquire: (id) => guarded("writes", () => openLog(id)),
    read: (id, page) =>
      guarded("reads", () => backend.events?.(id, page) ?? eventPage(id, backend.records(id, page), page.maxChars)),
    records: (id, page) => guarded("reads", () => backend.records(id, page)),
    async *readEvidence(id) {
      // In this order: a checkpoint is stored after its event.
      const checkpoints = await guarded("reads", () => backend.checkpoints(id));
      const head = await guarded("reads", () => headOf(id));
      yield* mergeEvidence(id, readRecords(store, id, head.lastEventId), checkpoints, head);
    },
    ...(historyStart && { historyStart: (id) => guarded("reads", () => historyStart(id)) }),
    ...(expiredTo && { expiredTo: (id) => guarded("reads", () => expiredTo(id)) }),
    async close() {
      if (isClosed) return;
      group.flush();
      isClosed = true;
      backend.close();
    },
  };
  return store;
}

function* noting(records: Iterable<ChainedRecord>, note: (record: ChainedRecord) => void): Generator<ChainedRecord> {
  for (const record of records) {
    note(record);
    yield record;
  }
}

function eventPage(id: SessionId, records: readonly ChainedRecord[], maxChars = Number.POSITIVE_INFINITY): Event[] {
  const page: Event[] = [];
  let chars = 0;
  for (const record of records) {
    page.push(toEvent(id, record.id, record));
    chars += record.payload.length;
    if (chars >= maxChars) break;
  }
  return page;
}

async function unfinishedCalls(
  id: SessionId,
  records: AsyncIterable<ChainedRecord>,
): Promise<readonly EventOf<"ToolIntent">[]> {
  const calls = new Map<string, EventOf<"ToolIntent">>();
  for await (const record of records) {
    if (record.kind !== "ToolIntent" && record.kind !== "ToolOutcome") continue;
    const event = toEvent(id, record.id, record);
    if (event.kind === "ToolIntent") calls.set(event.payload.call_id, event);
    else if (event.kind === "ToolOutcome") calls.delete(event.payload.call_id);
  }
  return [...calls.values()];
}
