/** A session as clients see it: what the log knows of it, and what it does now if it is open here. */
import type { OpenSessionState } from "#control";
import type { SessionMeta } from "#engine";

export interface SessionView {
  readonly id: string;
  readonly working_dir: string;
  readonly profile: string;
  readonly model: string;
  readonly title: string;
  /** Of the log: a session that was not ended can be one whose program was killed. */
  readonly state: "active" | "ended";
  /** Absent when it is not open here. */
  readonly activity?: OpenSessionState["activity"];
  readonly attached: number;
  readonly turn?: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly pinned: boolean;
  readonly parent?: string;
  readonly last_event_id: number;
}

export function sessionView(meta: SessionMeta, open: OpenSessionState | undefined): SessionView {
  return {
    id: meta.id,
    working_dir: meta.workingDir,
    profile: meta.profile,
    model: open?.model ?? meta.model,
    title: meta.title,
    state: meta.state,
    ...(open === undefined ? {} : { activity: open.activity }),
    attached: open?.attached ?? 0,
    ...(open?.turn === undefined ? {} : { turn: open.turn }),
    created_at: meta.createdAt,
    updated_at: meta.updatedAt,
    pinned: meta.pinned,
    ...(meta.parent === undefined ? {} : { parent: meta.parent }),
    last_event_id: meta.lastEventId,
  };
}
