/** The refusals that every store words alike. */
import { messageOf } from "#base";
import { ReasonError, type SessionId, storeFailure } from "#protocol";
import { hasNoRoom } from "#world";

export function sessionNotFound(session: SessionId): ReasonError {
  return new ReasonError("SessionNotFound", { session });
}

export function sessionExists(session: SessionId): ReasonError {
  return new ReasonError("InternalError", `session ${session} already exists.`);
}

export function sessionBusy(session: SessionId, owner: string): ReasonError {
  return new ReasonError("SessionBusy", { session, owner });
}

export function storeClosed(): ReasonError {
  return new ReasonError("StoreFailed", "the store is closed");
}

export function logReleased(session: SessionId): ReasonError {
  return new ReasonError("StoreFailed", `session ${session} is no longer open for writing`);
}

/** A session has one writer; the second one learns it here, and nothing of what it had was written. */
export function otherWriter(session: SessionId, cause: unknown): ReasonError {
  return new ReasonError("StoreFailed", `another process wrote to session ${session} at the same time`, { cause });
}

export function eventTooLarge(kind: string, maxChars: number): ReasonError {
  return new ReasonError("StoreFailed", `the payload of ${kind} is longer than ${maxChars} characters`);
}

/** The file system or SQLite failed under the store. */
export function accessFailed(effect: "reads" | "writes", path: string, cause: unknown): ReasonError {
  if (effect === "reads") {
    const detail = `the session log ${path} could not be read: ${messageOf(cause)}`;
    return new ReasonError("InternalError", detail, { cause });
  }
  return (
    storeFailure(cause, path, () => hasNoRoom(path)) ??
    new ReasonError("StoreFailed", `${path}: ${messageOf(cause)}`, { cause })
  );
}
