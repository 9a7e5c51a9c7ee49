/** Trust on first use: which files of a project somebody has agreed to. */
export type { TrustKeys } from "./approved-lock.ts";
export type { Change } from "./change-class.ts";
export { type LockFile, LockFileError, MAX_LOCK_BYTES, parseLock, writeLock } from "./lock-file.ts";
export { createLockFileTrust, createProjectTrust, type ProjectTrust, type WaitingFile } from "./project-trust.ts";
export { rekeyTrust } from "./rekey.ts";
export type { InstalledPackage, ServerAnswer } from "./server-answer.ts";
