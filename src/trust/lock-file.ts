/**
 * The format of a lock file: which files of a project somebody has agreed to, each by its SHA-256. Pure text in and out; who may
 * be believed is decided by whoever reads it. Described for people in docs/guide/trust.md.
 */

import { fileKinds, isOptionalKind, type JudgedFile } from "#artifacts";
import { canonicalJson, defined, isRecord } from "#base";
import { LockFileError } from "./lock-file-error.ts";
import { parseServerAnswer, type ServerAnswer } from "./server-answer.ts";

export const LOCK_FORMAT = "harness-approved-lock";
export const LOCK_VERSION = 1;
/** Far more than any project has. */
const MAX_ENTRIES = 100_000;
export const MAX_LOCK_BYTES = 32 * 1024 * 1024;

/** `individual`: reviewed. `bulk`: with its folder. `created`: written by this program. `promoted`: a harmless change in a folder of the user. */
export type AckedHow = "individual" | "bulk" | "created" | "promoted";

export interface LockEntry {
  /** Relative to the project with `/`, absolute outside it. */
  readonly path: string;
  readonly sha256: string;
  readonly class: JudgedFile["kind"];
  /** RFC 3339. */
  readonly at: string;
  /** The user who agreed. */
  readonly by: string;
  readonly how: AckedHow;
  /** Somebody said no to this content of an optional file: it is left out. */
  readonly denied?: true;
}

export interface LockFile {
  /** Sorted by path, each path once. */
  readonly files: readonly LockEntry[];
  /** What its owner said about the MCP servers that the project declares. In one that is handed on, paths are relative to the project. */
  readonly servers?: readonly ServerAnswer[];
  /** The project that it is for; absent in one that is handed on. */
  readonly root?: string;
  /** Hex; absent in one that is handed on. */
  readonly mac?: string;
}

export { LockFileError };

export function writeLock({ files, servers, root, mac }: LockFile): string {
  const lock = {
    format: LOCK_FORMAT,
    version: LOCK_VERSION,
    ...defined({ root }),
    files: sorted(files),
    ...answered(servers),
    ...defined({ mac }),
  };
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** What a code of authenticity is made over: everything but the code. */
export function lockContent({ files, servers, root }: LockFile): string {
  const content = { format: LOCK_FORMAT, version: LOCK_VERSION, root: root ?? null, files: sorted(files) };
  return canonicalJson({ ...content, ...answered(servers) });
}

/** Absent where there are none, as in locks that were written before there were servers. */
function answered(servers: readonly ServerAnswer[] = []): Pick<LockFile, "servers"> {
  if (servers.length === 0) return {};
  return { servers: servers.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
}

/** Throws LockFileError, with what is wrong, for anything that `writeLock` would not have written. */
export function parseLock(text: string): LockFile {
  let lock: unknown;
  try {
    lock = JSON.parse(text);
  } catch (cause) {
    throw new LockFileError("it is not JSON", { cause });
  }
  if (!isRecord(lock) || lock.format !== LOCK_FORMAT) throw new LockFileError(`"format" is not "${LOCK_FORMAT}"`);
  if (lock.version !== LOCK_VERSION) {
    throw new LockFileError(
      `its version is ${JSON.stringify(lock.version)}, but this version of Harness reads version ${LOCK_VERSION}`,
    );
  }
  const { files, servers = [], root, mac } = lock;
  if (!Array.isArray(files) || files.length > MAX_ENTRIES) throw new LockFileError('"files" is not a list of files');
  const entries = files.map(parseEntry);
  if (new Set(entries.map(({ path }) => path)).size !== entries.length) {
    throw new LockFileError("a path appears in it twice");
  }
  if (!Array.isArray(servers) || servers.length > MAX_ENTRIES) throw new LockFileError('"servers" is not a list');
  if (root !== undefined && typeof root !== "string") throw new LockFileError('"root" is not a path');
  if (mac !== undefined && typeof mac !== "string") throw new LockFileError('"mac" is not text');
  return { files: entries, ...answered(servers.map(parseServerAnswer)), ...defined({ root, mac }) };
}

const hows: readonly string[] = ["individual", "bulk", "created", "promoted"] satisfies readonly AckedHow[];

function parseEntry(entry: unknown, index: number): LockEntry {
  const wrong = (what: string): LockFileError => new LockFileError(`entry ${index + 1}: ${what}`);
  if (!isRecord(entry)) throw wrong("it is not an object");
  const { path, sha256, class: kind, at, by, how, denied } = entry;
  if (typeof path !== "string" || path === "" || path.includes("\0")) throw wrong('"path" is not a path');
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) throw wrong('"sha256" is not 64 hex digits');
  if (typeof kind !== "string" || !Object.hasOwn(fileKinds, kind)) throw wrong('"class" is unknown');
  if (typeof at !== "string" || typeof by !== "string") throw wrong('"at" and "by" are not text');
  if (typeof how !== "string" || !hows.includes(how)) throw wrong('"how" is unknown');
  if (denied !== undefined && (denied !== true || !isOptionalKind(kind))) throw wrong('"denied" is not true');
  // Both are in the lists above.
  const known = { class: kind as LockEntry["class"], how: how as AckedHow };
  return { path, sha256, at, by, ...known, ...(denied === true ? { denied } : {}) };
}

function sorted(files: readonly LockEntry[]): readonly LockEntry[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
