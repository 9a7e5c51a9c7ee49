/**
 * A folder held open by handle, reached from the top without following a single link. Commands write to the workspace, also while this
 * program works on it: a path that was looked at a moment ago may lead out of it by now, what is held open may not.
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "#base";
import { realPathIfThere } from "#world";

const HANDLES = "/proc/self/fd";
/** A handle that needs no right to list the folder; Node has no name for it. */
const LINUX_O_PATH = 0o10000000;
const FOLDER_FLAGS = LINUX_O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Without waiting, so that a pipe in the place of a file cannot hold us. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_ALL = 0o700;
const MODE_BITS = 0o7777;
const NOT_THERE = new Set(["ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

export interface StraightFolder {
  /** The folder itself, through its handle. */
  readonly here: string;
  /** An entry of it; `name` is one part of a path. */
  entry(name: string): string;
  close(): void;
}

/** Undefined when it is not there, is closed to us, or a part of the path is a link. `folder` is absolute; the caller closes it. */
export function openStraight(folder: string): StraightFolder | undefined {
  if (!existsSync(HANDLES)) {
    // Narrows the gap, and does not close it.
    if (realPathIfThere(folder) !== folder || !lstatSync(folder).isDirectory()) return undefined;
    return { here: folder, entry: (name) => join(folder, name), close: () => undefined };
  }
  let handle = openSync("/", FOLDER_FLAGS);
  try {
    for (const name of folder.split("/").filter((part) => part !== "")) {
      const inner = openSync(`${HANDLES}/${handle}/${name}`, FOLDER_FLAGS);
      closeSync(handle);
      handle = inner;
    }
  } catch (error) {
    closeSync(handle);
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
  const here = `${HANDLES}/${handle}`;
  return { here, entry: (name) => `${here}/${name}`, close: () => closeSync(handle) };
}

/** What `use` gives, or undefined when there is no such folder. */
export function inStraight<Result>(folder: string, use: (opened: StraightFolder) => Result): Result | undefined {
  const opened = openStraight(folder);
  if (opened === undefined) return undefined;
  try {
    return use(opened);
  } finally {
    opened.close();
  }
}

/** What is at a path, undefined also where a part of it is a file or a loop of links. Links above it are followed. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (NOT_THERE.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** What is at a path that no link leads to; the last part may be one. */
export function straightEntry(path: string): Stats | undefined {
  return inStraight(dirname(path), ({ entry }) => entryAt(entry(basename(path))));
}

/** The text of a small plain file to which no link leads. */
export function straightText(path: string, maxBytes: number): string | undefined {
  return inStraight(dirname(path), ({ entry }) => smallText(entry(basename(path)), maxBytes));
}

/** Undefined for whatever is not a small plain file. Links above it are followed. */
export function smallText(path: string, maxBytes: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, READ_FLAGS);
  } catch {
    return undefined;
  }
  try {
    const info = fstatSync(file);
    return info.isFile() && info.size <= maxBytes ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}

/** The first part of a path that is a link, as a path; undefined when none is, also when the path ends before. */
export function linkAbove(path: string): string | undefined {
  let at = "";
  for (const name of dirname(path)
    .split("/")
    .filter((part) => part !== "")) {
    at = `${at}/${name}`;
    const info = entryAt(at);
    if (info === undefined) return undefined;
    if (info.isSymbolicLink()) return at;
  }
  return undefined;
}

/** Does it, and once more with the owner's rights to the folder, which a command can have taken away. */
export function withRights<Result>({ here }: StraightFolder, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (errnoOf(error) !== "EACCES") throw error;
    // The handle leads to the folder itself, so no link is followed.
    chmodSync(here, (statSync(here).mode & MODE_BITS) | OWNER_ALL);
    return action();
  }
}
