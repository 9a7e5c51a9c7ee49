/** Files written whole or not at all, which only their owner can read. For what the program keeps, never for the workspace. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, ifThere } from "#base";
import { makeFolder } from "./make-folder.ts";

/** How the name of a file ends that is being written. */
const DRAFT = /\.[0-9a-f]{12}\.tmp$/;

export function makePrivateDirectory(path: string): void {
  makeFolder(path, 0o700);
}

export interface WriteOptions {
  /** Waits until the disk has it under its name. */
  readonly durable: boolean;
  /** For a file that others may read. */
  readonly mode?: number;
}

/** Through a temporary name that nobody could prepare; a link at the path is replaced, not followed. */
export function writePrivateFile(path: string, content: Uint8Array | string, options: WriteOptions): void {
  throughDraft(path, content, options, (draft) => renameSync(draft, path));
}

/** The same for a file that must not be there yet: of two that make it at once the first wins. False when it is there. Durable. */
export function createPrivateFile(path: string, content: Uint8Array | string): boolean {
  let isMade = true;
  throughDraft(path, content, { durable: true }, (draft) => {
    try {
      linkSync(draft, path);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      isMade = false;
    }
    rmSync(draft);
  });
  return isMade;
}

function throughDraft(
  path: string,
  content: Uint8Array | string,
  { durable, mode = 0o600 }: WriteOptions,
  place: (draft: string) => void,
): void {
  const random = process.getBuiltinModule("node:crypto").randomBytes(6);
  const draft = `${path}.${random.toString("hex")}.tmp`;
  let file: number;
  try {
    file = openSync(draft, "wx", mode);
  } catch (error) {
    throw named(error, path);
  }
  try {
    try {
      writeFileSync(file, content);
      if (durable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    place(draft);
    if (durable) syncFolder(dirname(path));
  } catch (error) {
    rmSync(draft, { force: true });
    throw named(error, path);
  }
}

/** A write names no file, and a rename one that nobody knows. */
function named(error: unknown, path: string): unknown {
  return errnoOf(error) === undefined ? error : Object.assign(error as Error, { path });
}

/** Drafts of writers that were killed, for whoever alone may write the file now. */
export function removeDrafts(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${basename(path)}.`) && DRAFT.test(name)) rmSync(join(folder, name), { force: true });
  }
}

/**
 * The same file with other content: what is mounted over its name in a sandbox that runs stays there, which a rename would take away.
 * For short texts, which readers get whole. False when there is none, or it is not ours alone.
 */
export function rewritePrivateFile(path: string, content: string): boolean {
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENXIO", "EISDIR"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
  try {
    if (!isOwn(fstatSync(file))) return false;
    const bytes = Buffer.from(content);
    // A disk that fills up takes a part, and says so at the next try.
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, done);
    ftruncateSync(file, bytes.length);
    return true;
  } catch (error) {
    throw named(error, path);
  } finally {
    closeSync(file);
  }
}

/** The name that is there goes to the one that is moved. */
export function movePrivateFile(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

export function removePrivateFile(path: string): void {
  rmSync(path, { force: true });
}

/** Makes new and changed names in a folder durable. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return; // has no such thing
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Undefined when it does not exist. */
export function readPrivateFile(path: string): Buffer | undefined {
  return ifThere(() => readFileSync(path));
}

/**
 * As `readPrivateFile`, for what is believed because only the program could have written it: throws, and says why, for a link, a
 * file that others can reach or that belongs to somebody else, and one that is too large.
 */
export function readOwnedFile(path: string, maxBytes: number): Buffer | undefined {
  const file = ifThere(() => openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  if (file === undefined) return undefined;
  try {
    const info = fstatSync(file);
    if (!info.isFile()) throw new Error("it is not a regular file");
    if (!isOwn(info)) throw new Error("others can reach it, or it belongs to somebody else");
    if (info.size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function isOwn(info: Stats): boolean {
  const isOurs = process.getuid === undefined || (info.uid === process.getuid() && (info.mode & 0o077) === 0);
  return info.isFile() && isOurs;
}
