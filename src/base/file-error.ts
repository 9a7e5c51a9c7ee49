/** Turns an errno of the file system into an `EffectError` that says what happened to which path. */

import { EffectError, type EffectReason } from "./effect-error.ts";
import { errnoOf } from "./thrown.ts";

const REASONS: Readonly<Record<string, readonly [EffectReason, string]>> = {
  ENOENT: ["NotFound", "does not exist"],
  EEXIST: ["AlreadyExists", "already exists"],
  EISDIR: ["NotAFile", "is a directory"],
  ENXIO: ["NotAFile", "is not a regular file"],
  ENOTDIR: ["NotADirectory", "is not a directory, or a part of its path is not"],
  ENOTEMPTY: ["NotEmpty", "is a directory that is not empty"],
  EACCES: ["AccessDenied", "may not be accessed"],
  EPERM: ["AccessDenied", "may not be changed"],
  EROFS: ["AccessDenied", "is on a read-only file system"],
  EBUSY: ["AccessDenied", "is in use"],
  EXDEV: ["AccessDenied", "is on another file system"],
  EINVAL: ["AccessDenied", "is not possible there (a directory cannot be moved into itself)"],
  ELOOP: ["AccessDenied", "leads through too many symbolic links"],
  ENAMETOOLONG: ["NotFound", "has a name that is too long"],
  EFBIG: ["TooLarge", "is too large for the file system"],
  ENOSPC: ["DiskFull", "cannot be written: the disk is full"],
  EDQUOT: ["DiskFull", "cannot be written: the disk quota is used up"],
  EIO: ["AccessDenied", "cannot be accessed: the disk reports an I/O error"],
};

/** `shown` is the path as the caller gave it. An `EffectError` passes through; an unknown errno is `AccessDenied`. */
export function fileError(error: unknown, shown: string): EffectError {
  if (error instanceof EffectError) return error;
  const code = errnoOf(error);
  const [reason, text] = REASONS[code ?? ""] ?? ["AccessDenied", `failed (${code ?? String(error)})`];
  return new EffectError(reason, `${shown} ${text}`, { cause: error });
}

/**
 * What the file system said, in a sentence about the path that it named, or about `shown` where it named none; undefined for an error
 * that is not of the file system.
 */
export function fileErrorText(error: unknown, shown: string): string | undefined {
  const [, text] = REASONS[errnoOf(error) ?? ""] ?? [];
  // What a socket says carries its address.
  if (text === undefined || !(error instanceof Error) || !("syscall" in error) || "address" in error) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : shown;
  return `${path} ${text}`;
}
