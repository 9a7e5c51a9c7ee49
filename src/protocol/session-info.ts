/** A session as clients of every wire see it: what the log knows of it, and what it does now if it is open where the answer comes from. */
import { defined } from "#base";
import type { SessionId } from "./ids.ts";
import type { Mode, PlanState, Todo } from "./work.ts";

/** How a client reaches the engine. */
export type ClientTransport = "in-process" | "stdio" | "http" | "websocket" | "plugin";

/** Who sent the last command to a session. */
export interface LastSeen {
  readonly transport: ClientTransport;
  readonly name?: string;
  /** RFC 3339. */
  readonly at: string;
}

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
  /** Of the client that was last heard from, where the session is open: its wire, what it calls itself, and when. */
  readonly transport?: ClientTransport;
  readonly client_name?: string;
  readonly last_seen_at?: string;
  readonly turn?: string;
  /** Where the session is open: `auto` is `ask` with `--auto-approve`. */
  readonly mode?: Mode | "auto";
  /** Where the session is open; absent when there are none. */
  readonly todos?: readonly Todo[];
  readonly plan?: PlanState["state"];
  /** Background commands that run. */
  readonly jobs?: number;
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
export interface OpenedSession
  extends Pick<SessionInfo, "activity" | "model" | "attached" | "turn" | "mode" | "todos" | "plan" | "jobs"> {
  readonly id: SessionId;
  readonly lastSeen?: LastSeen;
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
    ...defined({
      transport: open?.lastSeen?.transport,
      client_name: open?.lastSeen?.name,
      last_seen_at: open?.lastSeen?.at,
      turn: open?.turn,
      mode: open?.mode,
      todos: open?.todos,
      plan: open?.plan,
      jobs: open?.jobs,
    }),
    created_at: stored.createdAt,
    updated_at: stored.updatedAt,
    pinned: stored.pinned,
    ...defined({ parent: stored.parent }),
    last_event_id: stored.lastEventId,
  };
}
