/** What an open session does now, for whoever wants to know. */
import { defined } from "#base";
import type { ClientId, LastSeen, OpenedSession, SessionId, TurnId } from "#protocol";
import type { LiveSession, SessionWork } from "./live-session.ts";

/** What a session does now. */
export type SessionActivity = "idle" | "running" | "waiting" | "ending";

export interface OpenSessionState
  extends Pick<SessionWork, "mode" | "todos" | "jobs" | "keptJobs">,
    Pick<OpenedSession, "plan"> {
  readonly id: SessionId;
  readonly activity: SessionActivity;
  readonly model: string;
  /** Clients that are told of its events. */
  readonly attached: number;
  /** Inputs that wait for their turn. */
  readonly queued: number;
  readonly turn?: TurnId;
  readonly originator?: ClientId;
  /** Absent before the first command to it. */
  readonly lastSeen?: LastSeen;
}

export function stateOf(session: {
  readonly live: Pick<LiveSession, "engine" | "work">;
  readonly approvals: { readonly isWaiting: boolean };
  readonly attached: { readonly size: number };
  readonly ending?: unknown;
  readonly lastSeen?: LastSeen;
}): OpenSessionState {
  const { approvals, attached, ending } = session;
  const { engine } = session.live;
  const { running } = engine;
  const { plan, ...work } = session.live.work();
  return {
    id: engine.id,
    activity:
      ending !== undefined ? "ending" : approvals.isWaiting ? "waiting" : running === undefined ? "idle" : "running",
    model: engine.model,
    attached: attached.size,
    queued: engine.queued,
    ...work,
    ...defined({ plan, lastSeen: session.lastSeen, turn: running?.turn, originator: running?.originator }),
  };
}
