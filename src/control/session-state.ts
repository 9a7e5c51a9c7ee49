/** What an open session does now, for whoever wants to know. */
import { defined } from "#base";
import type { EngineSession } from "#engine";
import type { ClientId, LastSeen, SessionId, TurnId } from "#protocol";

/** What a session does now. */
export type SessionActivity = "idle" | "running" | "waiting" | "ending";

export interface OpenSessionState {
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
  readonly live: { readonly engine: EngineSession };
  readonly approvals: { readonly isWaiting: boolean };
  readonly attached: { readonly size: number };
  readonly ending?: unknown;
  readonly lastSeen?: LastSeen;
}): OpenSessionState {
  const { approvals, attached, ending } = session;
  const { engine } = session.live;
  const { running } = engine;
  return {
    id: engine.id,
    activity:
      ending !== undefined ? "ending" : approvals.isWaiting ? "waiting" : running === undefined ? "idle" : "running",
    model: engine.model,
    attached: attached.size,
    queued: engine.queued,
    ...defined({ lastSeen: session.lastSeen }),
    ...(running === undefined ? {} : { turn: running.turn, originator: running.originator }),
  };
}
