/**
 * What a kind of store has to bring: rows of sessions, their records and checkpoints, and a lease for the one writer of each.
 * It keeps what it is given; chain, signatures, renewals and known heads are made above it, in `evidence-store.ts`. Every call is
 * synchronous, and durable when it returns: a commit takes less time than a trip to another thread.
 */
import type { EventDraft, EventPage, SessionMeta, SessionStore, SnapshotDraft, SnapshotShelf } from "#engine";
import type { Event, EventOf, ReasonError, SessionId } from "#protocol";
import type { ArchivedSession } from "./archive.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { ChainedRecord, ChainHead } from "./record.ts";

export interface RecordBackend {
  /** The file or folder: messages and known heads name the log by it. */
  readonly name: string;
  /**
   * Stores a session whole or not at all, also when `records` throws; `checkpoints` is called after the last record. False when
   * the id is taken.
   */
  create(session: ArchivedSession, records: Iterable<ChainedRecord>, checkpoints: () => readonly Checkpoint[]): boolean;
  get(id: SessionId): SessionMeta | undefined;
  /** Newest first; `newestFirst` sorts for a backend that cannot. */
  list(options: ListOptions): readonly SessionMeta[];
  /** False when there is no such session. */
  update(id: SessionId, change: Parameters<SessionStore["update"]>[1]): boolean;
  /** Throws SessionBusy while a living owner has the session, or SessionNotFound. */
  delete(id: SessionId): void;
  /** Takes the lease: of two that try at once, one gets it. Throws SessionBusy or SessionNotFound. */
  acquire(id: SessionId): RecordLog;
  /** With `id > after`, oldest first. Throws SessionNotFound. */
  records(id: SessionId, page: Omit<EventPage, "maxChars">): readonly ChainedRecord[];
  /** As `records`, where the backend can make events with less work than from records. */
  events?(id: SessionId, page: EventPage): readonly Event[];
  /** In the order of their events. Throws SessionNotFound. */
  checkpoints(id: SessionId): readonly Checkpoint[];
  /** Where the chain ends, for a backend that keeps it apart from the records, so that a log without its end is noticed. */
  head?(id: SessionId): ChainHead;
  historyStart?(id: SessionId): number;
  turnCount?(id: SessionId): number;
  expiredTo?(id: SessionId): number;
  /** Absent: each append is durable by itself. */
  readonly groups?: WriteGroups;
  /** What an error means that is more than a failed access; undefined when it is not. */
  failure?(effect: Effect, error: unknown): ReasonError | undefined;
  close(): void;
}

export type Effect = "reads" | "writes";
export type ListOptions = Parameters<SessionStore["list"]>[0];

/** Appends of several sessions as one durable step. */
export interface WriteGroups {
  /** A write in `work` that throws leaves nothing behind; when this throws, no write of `work` does. */
  run(work: () => void): void;
  /** False when a failure has ended the step, and with it all writes so far. */
  readonly isRunning: boolean;
}

/** The writing end of one session while its lease holds. A writer that has lost the lease writes nothing. */
export interface RecordLog {
  /** The newest record when the lease was taken. */
  readonly last: ChainedRecord | undefined;
  /** The newest event that a checkpoint covered then; 0 when there was none. */
  readonly signedTo: number;
  /** What was put right when the lease was taken, as sentences for a person. */
  readonly repairs?: readonly string[];
  /** All or nothing. Throws StoreFailed when another writer has appended. */
  append(batch: RecordBatch): void;
  /** Keeps a checkpoint of the end of the chain; `end` is absent when this writer has appended nothing. */
  sign(checkpoint: Checkpoint, end: LogEnd | undefined): void;
  /** Absent: they are looked for in all records. */
  openCalls?(): readonly EventOf<"ToolIntent">[] | Promise<readonly EventOf<"ToolIntent">[]>;
  readonly snapshots?: {
    read(): Awaited<ReturnType<SnapshotShelf["read"]>>;
    write(snapshot: SnapshotDraft): boolean;
  };
  /** Gives the lease back, with a last checkpoint where there is something to sign. */
  release(end: LogEnd | undefined, checkpoint?: Checkpoint): void;
}

export interface RecordBatch {
  readonly records: readonly ChainedRecord[];
  /** What the records were made of. */
  readonly drafts: readonly EventDraft[];
  readonly end: LogEnd;
  /** Whether the lease is to be renewed with it; other machines go by the time of the last renewal. */
  readonly renews: boolean;
}

export interface LogEnd {
  readonly head: ChainHead;
  /** When it was appended. */
  readonly now: string;
}

/** By last change, then by id, which is minted in order of time. */
export function newestFirst(
  sessions: Iterable<SessionMeta>,
  { limit, workingDir }: ListOptions,
): readonly SessionMeta[] {
  return [...sessions]
    .filter((meta) => workingDir === undefined || meta.workingDir === workingDir)
    .sort((a, b) => compare(b.updatedAt, a.updatedAt) || compare(b.id, a.id))
    .slice(0, limit);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
