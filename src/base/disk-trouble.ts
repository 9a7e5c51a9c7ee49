/**
 * Tells a disk that takes nothing from every other failure. It is nobody's mistake and it passes: whoever sees it keeps what it has,
 * says what to do, and tries again.
 */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./thrown.ts";

export type DiskTrouble = "full" | "quota" | "read-only" | "failing";

const BY_CODE: Readonly<Record<string, DiskTrouble>> = {
  ENOSPC: "full",
  EDQUOT: "quota",
  EROFS: "read-only",
  EIO: "failing",
  SQLITE_FULL: "full",
};
const SQLITE_READ_ONLY = /^SQLITE_READONLY(?:_|$)|^SQLITE_CANTOPEN_ISREADONLY$/;
const SQLITE_IO_ERROR = /^SQLITE_IOERR(?:_|$)/;
/** With less room than this, SQLite cannot make the file that it shares with other processes, and speaks of an I/O error. */
const SHARED_FILE_BYTES = 64 * 1024;
/** An error around an error around an error: nobody wraps deeper. */
const MAX_CAUSES = 8;

const WORDS: Readonly<Record<DiskTrouble, { readonly what: string; readonly remedy: string }>> = {
  full: { what: "no space is left on the disk", remedy: "Free some space there" },
  quota: { what: "the disk quota is used up", remedy: "Free some space there, or ask for a larger quota" },
  "read-only": { what: "the file system is read-only", remedy: "Mount it writable again" },
  failing: { what: "the disk reports an I/O error", remedy: "Check the disk" },
};

/** Undefined for any other error. What an error was caused by counts. `path`: a file on the disk, which is asked where SQLite is vague. */
export function diskTrouble(error: unknown, path?: string): DiskTrouble | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
    const code = errnoOf(current) ?? "";
    const known = BY_CODE[code];
    if (known !== undefined) return known;
    if (SQLITE_READ_ONLY.test(code)) return "read-only";
    if (SQLITE_IO_ERROR.test(code)) return path !== undefined && hasNoRoom(dirname(path)) ? "full" : "failing";
    current = current.cause;
  }
  return undefined;
}

/** What happened to which file and what to do, without a final stop: "/x/log: no space is left on the disk. Free …". */
export function diskTroubleText(trouble: DiskTrouble, path: string): string {
  const { what, remedy } = WORDS[trouble];
  return `${path}: ${what}. ${remedy}; work goes on by itself, without a restart`;
}

function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < SHARED_FILE_BYTES;
  } catch {
    return false; // the folder itself cannot be asked; what SQLite said has to do
  }
}
