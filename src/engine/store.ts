/**
 * The session log as the engine sees it: append-only, durable when `append` resolves. A session has one writer at a time,
 * who holds its lease; anybody may read.
 */
import type { ClientId, Event, EventKind, EventOf, EventPayload, SessionId, StoredSession } from "#protocol";

/** An event before the log gave it an id. */
export type EventDraft = {
  [Kind in EventKind]: {
    readonly kind: Kind;
    readonly originator?: ClientId;
    readonly ts: string;
    readonly payload: EventPayload<Kind>;
  };
}[EventKind];

/** Pinned: it never expires. `lastEventId` is 0 when there is no event. */
export interface SessionMeta extends StoredSession {
  /** The session it was branched from or delegated by. */
  readonly parent?: SessionId;
}

export type NewSession = Pick<SessionMeta, "id" | "workingDir" | "profile" | "model" | "createdAt" | "parent">;

/** Events with `id > after`, oldest first, at most `limit`. */
export interface EventPage {
  readonly after: number;
  readonly limit: number;
  /** The page ends with the event whose stored text reaches this; so it is empty only when there are no more events. Default: no bound. */
  readonly maxChars?: number;
}

export interface SessionStore {
  /** Rejects when the id exists. */
  create(session: NewSession): Promise<void>;
  get(id: SessionId): Promise<SessionMeta | undefined>;
  /** Newest first. */
  list(options: { readonly limit: number; readonly workingDir?: string }): Promise<readonly SessionMeta[]>;
  update(
    id: SessionId,
    change: Partial<Pick<SessionMeta, "title" | "profile" | "model" | "state" | "pinned">>,
  ): Promise<void>;
  /** The session and all its events are gone for good. Rejects with SessionBusy while it is open somewhere. */
  delete(id: SessionId): Promise<void>;
  /** Takes the session for writing. Rejects with SessionBusy while another living owner has it, or SessionNotFound. */
  acquire(id: SessionId): Promise<SessionLog>;
  /** The events of a page. Fewer than `limit` are the last ones only where the page has no bound in characters. */
  read(id: SessionId, page: EventPage): Promise<readonly Event[]>;
  /**
   * Where reading must begin so that the conversation and an unfinished turn can be rebuilt: an `after` for `read`. A store
   * that does not say is read from its first event.
   */
  historyStart?(id: SessionId): Promise<number>;
  /** How many turns have begun. A store that would have to read them all does not say. */
  turnCount?(id: SessionId): Promise<number>;
  /** The newest event up to which content has passed its time; 0 when none has. A store that keeps all of it does not say. */
  expiredTo?(id: SessionId): Promise<number>;
  close(): Promise<void>;
}

/** The writing end of one session, while its lease holds. */
export interface SessionLog {
  /** All or nothing, in order, durable when it resolves. Returns the id of the first; the others follow without gaps. */
  append(drafts: readonly EventDraft[], now: string): Promise<number>;
  /** Calls that were begun and have no outcome, oldest first. */
  openCalls(): Promise<readonly EventOf<"ToolIntent">[]>;
  /** The time of the newest event as of when the log was acquired; absent when there is none. No later event has an earlier time. */
  readonly lastTs?: string;
  /** What the store found and put right when it opened the session, as sentences for a person. */
  readonly repairs?: readonly string[];
  /** Why this is not the newest log that the machine has seen of the session, in sentences for a person; absent when it is. */
  readonly headProblem?: string;
  /** Where a store can keep a snapshot beside the log; one without is read from its events. */
  readonly snapshots?: SnapshotShelf;
  /** Gives the lease back. */
  release(): Promise<void>;
}

/**
 * A snapshot is what a fold over the log came to at one event. It is a cache: the log is the truth, and a snapshot that does
 * not belong to it is not used. It goes with the session, with its key, and with content that has passed its time.
 */
export interface SnapshotShelf {
  /** Undefined when there is none; a problem when there is one that does not belong to the log. */
  read(): Promise<KeptSnapshot | { readonly problem: string } | undefined>;
  /**
   * Keeps a snapshot in the place of the one before it, all or nothing. False, and nothing is kept, when content of the log
   * has gone since the log was acquired, or when `follows` is not what is kept.
   */
  write(snapshot: SnapshotDraft): Promise<boolean>;
}

export interface KeptSnapshot {
  /** Of the pieces; the store does not look into them. */
  readonly format: number;
  readonly event: number;
  /** In order; throws when one is not as it was written. */
  pieces(): AsyncIterable<string>;
}

export interface SnapshotDraft {
  readonly format: number;
  /** An event of the log; the snapshot holds what the log came to with it. */
  readonly event: number;
  /** The event of the snapshot that the pieces continue; 0 when they are all of it. */
  readonly follows: number;
  readonly pieces: readonly string[];
}
