/** The refusals that every store words alike. */
import { ReasonError, type SessionId } from "#protocol";

export function sessionNotFound(session: SessionId): ReasonError {
  return new ReasonError("SessionNotFound", { session });
}

export function sessionExists(session: SessionId): ReasonError {
  return new ReasonError("InternalError", { detail: `session ${session} exists already.` });
}

export function sessionBusy(session: SessionId, owner: string): ReasonError {
  return new ReasonError("SessionBusy", { session, owner });
}

export function storeClosed(): ReasonError {
  return new ReasonError("StoreFailed", { detail: "the store is closed" });
}

/** A session has one writer; the second one learns it here, and nothing of what it had was written. */
export function otherWriter(session: SessionId, cause: unknown): ReasonError {
  const detail = `another process wrote to session ${session} at the same time`;
  return new ReasonError("StoreFailed", { detail }, { cause });
}

export function eventTooLarge(kind: string, maxChars: number): ReasonError {
  return new ReasonError("StoreFailed", { detail: `the payload of ${kind} is longer than ${maxChars} characters` });
}

/** The file system or SQLite failed under the store. */
export function accessFailed(effect: "reads" | "writes", path: string, cause: unknown): ReasonError {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (effect === "writes") return new ReasonError("StoreFailed", { detail: `${why} (${path})` }, { cause });
  return new ReasonError("InternalError", { detail: `the session log ${path} could not be read: ${why}` }, { cause });
}
