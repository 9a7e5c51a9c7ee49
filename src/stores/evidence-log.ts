/**
 * The writing end of a session on a record backend: links what is appended, signs the end of each turn a moment later, renews the
 * lease, and keeps the last known head up with the log. The head follows the log and never leads it, so that a crash leaves it behind,
 * which is harmless.
 */
import { type Clock, defined } from "#base";
import type { EventDraft, SessionLog } from "#engine";
import { type EventOf, ReasonError, type SessionId } from "#protocol";
import type { Checkpoint, Signer } from "./checkpoint.ts";
import { createDelayedCheckpoint } from "./delayed-checkpoint.ts";
import { chainStart } from "./evidence.ts";
import type { GroupCommit, GroupedWrite } from "./group-commit.ts";
import { compareHead, headProblem } from "./head-comparison.ts";
import type { HeadReading, KnownHeads } from "./known-heads.ts";
import { RENEW_MS } from "./lease.ts";
import { type ChainedRecord, type ChainHead, type chainDrafts, toEvent } from "./record.ts";
import type { Effect, LogEnd, RecordBackend, RecordLog } from "./record-backend.ts";
import { logReleased } from "./store-errors.ts";

/** What all logs of a store share. */
export interface LogParts {
  readonly backend: RecordBackend;
  readonly clock: Pick<Clock, "now">;
  readonly signer: Signer | undefined;
  readonly heads: KnownHeads | undefined;
  readonly chain: typeof chainDrafts;
  readonly nextSalt: () => string;
  readonly group: GroupCommit;
  /** What stops the timers of each open log. */
  readonly open: Set<() => void>;
  guarded<Result>(effect: Effect, work: () => Result | Promise<Result>): Promise<Result>;
  /** All of a session, oldest first. */
  readAll(id: SessionId): AsyncIterable<ChainedRecord>;
}

/** Takes the lease. Throws what the backend throws, and what reading the head or signing what is unsigned does. */
export function openEvidenceLog(parts: LogParts, id: SessionId): SessionLog {
  const { backend, heads } = parts;
  // Before the log, which is written first.
  const reading = heads?.read(id);
  const log = backend.acquire(id);
  try {
    return writeEvidence(parts, id, log, reading);
  } catch (error) {
    log.release(undefined);
    throw error;
  }
}

function writeEvidence(parts: LogParts, id: SessionId, log: RecordLog, reading: HeadReading | undefined): SessionLog {
  const { backend, clock, signer, heads, guarded, group, open } = parts;
  let head = headAfter(backend, id, log.last);
  let end: LogEnd | undefined;
  let { signedTo } = log;
  let renewedMs = clock.now();
  const { known, problem } = followedHead(backend, id, head, reading);
  let keptTo = known;

  const unsigned = (): Checkpoint | undefined =>
    signer && head.lastEventId > signedTo ? signHead(signer, clock, id, head) : undefined;
  const signEnd = (): void => {
    const checkpoint = unsigned();
    if (checkpoint === undefined) return;
    log.sign(checkpoint, end);
    signedTo = checkpoint.event;
  };
  /** A log without its known head is written to as before; its head stays, so that the difference is found until a person accepts it. */
  const keepHead = (): void => {
    if (problem !== undefined || head.lastEventId <= keptTo) return;
    if (heads?.keep(id, head)) keptTo = head.lastEventId;
  };
  // What a writer that was cut off, or had no key, left unsigned.
  signEnd();
  const delayed = createDelayedCheckpoint(() => {
    keepHead();
    signEnd();
  });
  open.add(delayed.stop);

  const write = (drafts: readonly EventDraft[], now: string): GroupedWrite<number> => {
    const before = { head, end, renewedMs };
    const chained = parts.chain(id, head, drafts, parts.nextSalt);
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
        if (endsTurn(drafts) && (signer ?? heads) !== undefined) delayed.turnEnded();
      },
      rolledBack() {
        ({ head, end, renewedMs } = before);
      },
    };
  };

  const { snapshots } = log;
  return {
    ...defined({ lastTs: log.last?.ts, repairs: log.repairs, headProblem: problem }),
    append: (drafts, now) =>
      guarded("writes", () => {
        if (!open.has(delayed.stop)) throw logReleased(id);
        if (drafts.length === 0) return head.lastEventId + 1;
        // A turn that could not be signed is not stored as ended.
        if (endsTurn(drafts)) signer?.ready();
        return group.run(() => write(drafts, now), open.size === 1);
      }),
    openCalls: () => guarded("reads", () => log.openCalls?.() ?? unfinishedCalls(id, parts.readAll(id))),
    ...(snapshots && {
      snapshots: {
        read: () => guarded("reads", () => snapshots.read()),
        write: (snapshot) => guarded("writes", () => snapshots.write(snapshot)),
      },
    }),
    release: () =>
      guarded("writes", async () => {
        group.flush();
        if (!open.delete(delayed.stop)) return;
        delayed.stop();
        let checkpoint: Checkpoint | undefined;
        try {
          keepHead();
          await heads?.testify(id);
          checkpoint = unsigned();
        } finally {
          log.release(end, checkpoint);
        }
      }),
  };
}

export function signHead(
  signer: Signer,
  clock: Pick<Clock, "now">,
  session: SessionId,
  { lastEventId: event, hash }: ChainHead,
): Checkpoint {
  return signer.sign({ session, event, hash, ts: new Date(clock.now()).toISOString() });
}

/** Where the chain is after the last record. Throws LogCorrupt when that record ends no link. */
export function headAfter(backend: RecordBackend, id: SessionId, last: ChainedRecord | undefined): ChainHead {
  if (last === undefined) return { lastEventId: 0, hash: chainStart(id) };
  const hash = last.link?.hash;
  if (hash !== undefined) return { lastEventId: last.id, hash };
  const detail = `the link of event ${last.id} of session ${id} is missing. Restore the log from a backup.`;
  throw new ReasonError("LogCorrupt", { path: backend.name, detail });
}

/** The event of the known head, or why the log is not the newest that this machine has seen. */
export function followedHead(
  backend: RecordBackend,
  id: SessionId,
  { lastEventId }: ChainHead,
  reading: HeadReading = { kind: "none" },
): { readonly known: number; readonly problem: string | undefined } {
  if (reading.kind !== "known") return { known: 0, problem: headProblem(id, compareHead(reading, undefined)) };
  const { event } = reading.head;
  const [record] = backend.records(id, { after: event - 1, limit: 1 });
  const hashAtHead = record?.id === event ? record.link?.hash : undefined;
  return { known: event, problem: headProblem(id, compareHead(reading, { lastEventId, hashAtHead })) };
}

function endsTurn(drafts: readonly EventDraft[]): boolean {
  return drafts.some(({ kind }) => kind === "TurnEnded");
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
