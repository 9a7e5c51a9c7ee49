/** A session while clients can share it, with what goes on in it; and when a command for it is refused because of that. */
import { type ClientId, type LastSeen, ReasonError, type SessionId } from "#protocol";
import type { Approvals } from "./approvals.ts";
import type { Client } from "./client.ts";
import type { LiveSession } from "./live-session.ts";

export interface SharedSession {
  readonly live: LiveSession;
  /** The session whose delegate it is. */
  readonly parent?: SessionId;
  readonly approvals: Approvals;
  /** Each with how to stop telling it. */
  readonly attached: Map<Client, () => void>;
  /** By the last command that a client sent to it. */
  lastSeen?: LastSeen;
  /** A delegate was cancelled before its turn began. */
  cancelledBy?: ClientId;
  /** While files are being restored no turn begins, and the other way round. */
  restoring?: { readonly by: ClientId; readonly since: string; readonly done: Promise<unknown> };
  /** Set as soon as it begins to end. */
  ending?: Promise<void>;
}

export function refuseWhileEnding(session: SharedSession): void {
  if (session.ending !== undefined) throw new ReasonError("SessionClosed", { session: session.live.engine.id });
}

export function refuseDelegate({ parent }: SharedSession, why: string): void {
  if (parent !== undefined) throw new ReasonError("NotAllowed", `This session is a delegate's: it ${why}.`);
}

/** Whoever pauses a session does not cut off what it does. */
export function refuseWhileWorking(session: SharedSession): void {
  refuseDelegate(session, "ends with its work");
  refuseWhileEnding(session);
  refuseWhileRestoring(session);
  const { running } = session.live.engine;
  if (running !== undefined) {
    throw new ReasonError("TurnInProgress", { originator: running.originator, ts: running.startedAt });
  }
}

export function refuseWhileRestoring({ restoring }: SharedSession): void {
  if (restoring !== undefined) {
    throw new ReasonError("TurnInProgress", { originator: restoring.by, ts: restoring.since });
  }
}
