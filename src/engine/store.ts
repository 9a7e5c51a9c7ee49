/** The session log as the engine sees it: append-only, durable when `append` resolves, one writer per session. */
import type { ClientId, Event, EventKind, EventPayload, SessionId } from "#protocol";

/** An event before the log gave it an id. */
export type EventDraft = {
  [Kind in EventKind]: {
    readonly kind: Kind;
    readonly originator?: ClientId;
    readonly ts: string;
    readonly payload: EventPayload<Kind>;
  };
}[EventKind];

export interface SessionMeta {
  readonly id: SessionId;
  readonly workingDir: string;
  readonly profile: string;
  readonly model: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly title: string;
  readonly state: "active" | "ended";
  /** Id of the newest event; 0 when there is none. */
  readonly lastEventId: number;
}

export type NewSession = Pick<SessionMeta, "id" | "workingDir" | "profile" | "model" | "createdAt">;

export interface SessionStore {
  /** Rejects when the id exists. */
  create(session: NewSession): Promise<void>;
  get(id: SessionId): Promise<SessionMeta | undefined>;
  /** Newest first. */
  list(options: { readonly limit: number; readonly workingDir?: string }): Promise<readonly SessionMeta[]>;
  update(id: SessionId, change: Partial<Pick<SessionMeta, "title" | "model" | "state">>): Promise<void>;
  /** All or nothing, in order, durable when it resolves. Returns the id of the first; the others follow without gaps. */
  append(id: SessionId, drafts: readonly EventDraft[], now: string): Promise<number>;
  /** Events with `id > after`, oldest first, at most `limit`. */
  read(id: SessionId, options: { readonly after: number; readonly limit: number }): Promise<readonly Event[]>;
  close(): Promise<void>;
}
