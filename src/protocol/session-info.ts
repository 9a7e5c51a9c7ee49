/** A session as clients of every wire see it: what the log knows of it, and what it does now if it is open where the answer comes from. */
import { defined } from "#base";
import type { SessionId } from "./ids.ts";

export interface SessionInfo {
  readonly id: string;
  readonly working_dir: string;
  readonly profile: string;
  readonly model: string;
  readonly title: string;
  /** Of the log: a session that was not ended can be one whose program was killed. */
  readonly state: "active" | "ended";
  /** Absent when it is not open there. */
  readonly activity?: "idle" | "running" | "waiting" | "ending";
  /** Clients that are told of its events. */
  readonly attached: number;
  readonly turn?: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly pinned: boolean;
  /** The session it was branched from or delegated by. */
  readonly parent?: string;
  readonly last_event_id: number;
}

/** What a log has on record of a session. */
export interface StoredSession
  extends Pick<SessionInfo, "profile" | "model" | "title" | "state" | "pinned" | "parent"> {
  readonly id: SessionId;
  readonly workingDir: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastEventId: number;
}

/** What an engine knows of one that it has open. */
export interface OpenedSession extends Pick<SessionInfo, "activity" | "model" | "attached" | "turn"> {
  readonly id: SessionId;
}

export function sessionInfoOf(stored: StoredSession, open: OpenedSession | undefined): SessionInfo {
  return {
    id: stored.id,
    working_dir: stored.workingDir,
    profile: stored.profile,
    model: open?.model ?? stored.model,
    title: stored.title,
    state: stored.state,
    ...defined({ activity: open?.activity }),
    attached: open?.attached ?? 0,
    ...defined({ turn: open?.turn }),
    created_at: stored.createdAt,
    updated_at: stored.updatedAt,
    pinned: stored.pinned,
    ...defined({ parent: stored.parent }),
    last_event_id: stored.lastEventId,
  };
}
