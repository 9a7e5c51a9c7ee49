/** The refusals that every store words alike. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "#base";
import { ReasonError, type SessionId } from "#protocol";

/** With less room than this SQLite cannot make the file that it shares with other processes. */
const SHARED_FILE_BYTES = 64 * 1024;

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
  const why = whyFailed(path, cause);
  if (effect === "writes") return new ReasonError("StoreFailed", { detail: `${why} (${path})` }, { cause });
  return new ReasonError("InternalError", { detail: `the session log ${path} could not be read: ${why}` }, { cause });
}

/** What the system said. SQLite calls it an I/O error when there is no room for its shared file: that is told plainly. */
export function whyFailed(path: string, cause: unknown): string {
  const why = messageOf(cause);
  const isVague = cause instanceof Error && "code" in cause && String(cause.code).startsWith("SQLITE_IOERR");
  return isVague && hasNoRoom(dirname(path)) ? `${why}: no space left on the disk` : why;
}

function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < SHARED_FILE_BYTES;
  } catch {
    return false; // the folder itself cannot be asked; what SQLite said has to do
  }
}
