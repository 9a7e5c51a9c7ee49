/** Reads one artifact file within its bounds. What cannot be read, and what is no text, is a problem and never an exception. */
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { isInside } from "#world";
import type { Problem, SourceLocation } from "./project.ts";
import { error } from "./schema.ts";

/** Of any file that a project consists of. */
export const MAX_FILE_BYTES = 1024 * 1024;

export interface FileContent {
  /** Without a byte order mark; line ends are `\n`. */
  readonly text: string;
  /** SHA-256 of the bytes, hex. */
  readonly hash: string;
  readonly bytes: number;
}

export type FileOutcome =
  | { readonly content: FileContent; readonly stats: BigIntStats }
  /** `missing`: there is no such file, which only the caller can judge. */
  | { readonly problem: Problem; readonly missing: boolean; readonly stats?: BigIntStats };

/** `inside`: the real path that it must not leave; undefined for a file that may be anywhere. */
export function readFileContent(path: string, file: string, inside: string | undefined): FileOutcome {
  const at: SourceLocation = { file, line: 1, column: 1 };
  let descriptor: number | undefined;
  try {
    const real = realpathSync.native(path);
    if (inside !== undefined && !isInside(inside, real)) {
      return {
        problem: error("outside-project", at, "The file is a symbolic link to a place outside the project."),
        missing: false,
      };
    }
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) {
      const message = stats.isDirectory()
        ? "This is a folder, but Harness expects a file here."
        : "This is not a regular file.";
      return { problem: error("not-a-file", at, message), missing: false, stats };
    }
    if (stats.size > MAX_FILE_BYTES) {
      const message = `The file has ${stats.size} bytes; the limit is ${MAX_FILE_BYTES}.`;
      return { problem: error("too-large", at, message), missing: false, stats };
    }
    const bytes = readWhole(descriptor, Number(stats.size));
    const problem = textProblem(bytes, at);
    if (problem !== undefined) return { problem, missing: false, stats };
    const text = bytes
      .toString("utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n");
    return { content: { text, hash: hash("sha256", bytes, "hex"), bytes: bytes.length }, stats };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    const missing = code === "ENOENT";
    const message = missing ? "The file does not exist." : `The file cannot be read (${code}).`;
    return { problem: error(missing ? "file-not-found" : "unreadable", at, message), missing };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** A file that grows while it is read is cut at the size it had; the next look at it sees that it changed. */
function readWhole(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const got = readSync(descriptor, bytes, length, size - length, length);
    if (got === 0) break;
    length += got;
  }
  return bytes.subarray(0, length);
}

function textProblem(bytes: Buffer, at: SourceLocation): Problem | undefined {
  const zero = bytes.indexOf(0);
  if (zero >= 0)
    return error("not-text", placeOf(bytes, zero, at), "The file contains a NUL byte, so it is not a text file.");
  if (isUtf8(bytes)) return undefined;
  let start = 0;
  for (let line = 1; start <= bytes.length; line++) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    const part = bytes.subarray(start, end);
    if (!isUtf8(part)) {
      const column = part.toString("utf8").indexOf("\uFFFD") + 1;
      return error("not-text", { ...at, line, column }, "The file is not UTF-8.", { expected: "UTF-8" });
    }
    start = end + 1;
  }
  return error("not-text", at, "The file is not UTF-8.", { expected: "UTF-8" });
}

function placeOf(bytes: Buffer, offset: number, at: SourceLocation): SourceLocation {
  const before = bytes.subarray(0, offset).toString("utf8").split("\n");
  return { ...at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
