/**
 * Tells a disk that takes nothing from every other failure. It is nobody's mistake and it passes: whoever sees it keeps what it has,
 * says what to do, and tries again.
 */
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
/** An error around an error around an error: nobody wraps deeper. */
const MAX_CAUSES = 8;

const WORDS: Readonly<Record<DiskTrouble, { readonly what: string; readonly remedy: string }>> = {
  full: { what: "no space is left on the disk", remedy: "Free some space there" },
  quota: { what: "the disk quota is used up", remedy: "Free some space there, or ask for a larger quota" },
  "read-only": { what: "the file system is read-only", remedy: "Mount it writable again" },
  failing: {
    what: "the disk reports an I/O error",
    remedy: "Check the disk, and whether it is still mounted writable",
  },
};

/** Undefined for any other error. What an error was caused by counts. `hasNoRoom`: whether the disk is full, asked where SQLite is vague. */
export function diskTrouble(error: unknown, hasNoRoom: () => boolean = () => false): DiskTrouble | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
    const code = errnoOf(current) ?? "";
    const known = BY_CODE[code];
    if (known !== undefined) return known;
    if (SQLITE_READ_ONLY.test(code)) return "read-only";
    if (SQLITE_IO_ERROR.test(code)) return hasNoRoom() ? "full" : "failing";
    current = current.cause;
  }
  return undefined;
}

/** What happened to which file and what to do, without a final stop: "/x/log: no space is left on the disk. Free …". */
export function diskTroubleText(trouble: DiskTrouble, path: string): string {
  const { what, remedy } = WORDS[trouble];
  return `${path}: ${what}. ${remedy}; work goes on by itself, without a restart`;
}
