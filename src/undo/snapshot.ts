/**
 * Knows the contents of a workspace before a call changes them. A scan by `lstat` tells which files look as they did when
 * they were last read; only the others are read, hashed and put into the content store. Two snapshots around a call make
 * its changes. It restores nothing.
 *
 * A file is taken to be unchanged when size, mtime, ctime, inode and mode are, with one exception: a file that was
 * written within the resolution of the file system's clock before it was read could change again and look the same, so it
 * is read again until its times have aged.
 */
import { type BigIntStats, closeSync, fstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { defined, errnoOf } from "#base";
import { atStraightEntry, STRAIGHT_READ_FLAGS } from "#world";
import { type EntryState, type FileChange, type RewrittenPath, sameState, type UncoveredPath } from "./change-set.ts";
import { scanWorkspace } from "./workspace-scan.ts";

/** Coarser than the clock of any file system we meet, the kernel's tick included. */
export const RACY_MS = 50;
/** A file that was born this much before the call began was not made by it. */
export const BIRTH_MARGIN_MS = 20;
/** So many trees that were not looked at are named in a change set. */
const MAX_LEFT_OUT = 50;
const READ_SLICE_MS = 8;
const NS_PER_MS = 1_000_000n;

/** An entry as it was last read. */
export interface KnownEntry {
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly rawMode: bigint;
  readonly birthNs: bigint;
  /** Looking the same means being the same. */
  readonly settled: boolean;
  /** Absent when its content is unknown; `why` says it. */
  readonly state?: EntryState;
  readonly why?: string;
}

export interface Snapshot {
  readonly startedMs: number;
  readonly entries: ReadonlyMap<string, KnownEntry>;
  readonly leftOut: readonly UncoveredPath[];
  readonly inPart: readonly UncoveredPath[];
  /** How many contents had to be read. */
  readonly readCount: number;
}

export interface SnapshotParts {
  /** Absolute and real. */
  readonly root: string;
  /** Relative paths that are never looked at. */
  readonly never: ReadonlySet<string>;
  readonly maxEntries: number;
  readonly maxFileBytes: number;
  /** Names the content, and keeps it when there is room. */
  readonly keep: (content: Uint8Array) => string;
}

export interface SnapshotTaker {
  /** What was read so far, by path. */
  readonly known: ReadonlyMap<string, KnownEntry>;
  /** Starts from what another run has read. */
  seed(entries: Iterable<readonly [string, KnownEntry]>): void;
  /** `from`: paths to look at with all below them; "" is the whole workspace. Throws when it cannot be taken. */
  take(from: readonly string[], before?: Snapshot): Promise<Snapshot>;
}

export function createSnapshotTaker({ root, never, maxEntries, maxFileBytes, keep }: SnapshotParts): SnapshotTaker {
  let known = new Map<string, KnownEntry>();

  function read(path: string, info: BigIntStats): KnownEntry | undefined {
    const nowMs = Date.now(); // compared with file times, which are the kernel's and not the port's
    if (info.isDirectory()) return entry(info, nowMs, { kind: "directory", mode: modeOf(info) });
    try {
      if (info.isSymbolicLink()) {
        const target = atStraightEntry(root, path, (place) => readlinkSync(place));
        return entry(info, nowMs, { kind: "symlink", target });
      }
      if (!info.isFile()) return entry(info, nowMs, "is neither a file, a symbolic link nor a directory");
      if (info.size > maxFileBytes) return entry(info, nowMs, `is larger than ${maxFileBytes} bytes`);
      return atStraightEntry(root, path, (place) => readContent(place, nowMs));
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined; // gone since it was listed
      if (code === "EACCES" || code === "EPERM" || code === "ELOOP" || code === "ENXIO") {
        return entry(info, nowMs, "cannot be read");
      }
      throw error;
    }
  }

  function readContent(place: string, nowMs: number): KnownEntry {
    const file = openSync(place, STRAIGHT_READ_FLAGS);
    try {
      // Looked at before it is read: a change while we read makes it look different at the next scan.
      const info = fstatSync(file, { bigint: true });
      if (!info.isFile()) return entry(info, nowMs, "is not a regular file");
      if (info.size > maxFileBytes) return entry(info, nowMs, `is larger than ${maxFileBytes} bytes`);
      const content = readFileSync(file);
      return entry(info, nowMs, { kind: "file", mode: modeOf(info), size: content.length, hash: keep(content) });
    } finally {
      closeSync(file);
    }
  }

  return {
    get known() {
      return known;
    },
    seed(entries) {
      known = new Map(entries);
    },
    async take(from, before) {
      const startedMs = Date.now();
      const left = new Set(before?.leftOut.map(({ path }) => path));
      const scan = await scanWorkspace({
        root,
        from,
        maxEntries,
        never,
        mustCover: (path) => before?.entries.has(path) ?? false,
        mustLeave: (path) => left.has(path),
      });
      const entries = new Map<string, KnownEntry>();
      let readCount = 0;
      let sliceEnd = performance.now() + READ_SLICE_MS;
      for (const [path, info] of scan.entries) {
        const last = known.get(path);
        if (last?.settled === true && looksAs(last, info)) {
          entries.set(path, last);
          continue;
        }
        const present = read(path, info);
        readCount += 1;
        if (present !== undefined) entries.set(path, present);
        if (performance.now() < sliceEnd) continue;
        await setImmediate();
        sliceEnd = performance.now() + READ_SLICE_MS;
      }
      if (from.includes("")) known = entries;
      else for (const [path, present] of entries) known.set(path, present);
      return { startedMs, entries, leftOut: scan.leftOut, inPart: scan.inPart, readCount };
    },
  };
}

export interface Changes {
  readonly files: readonly FileChange[];
  readonly uncovered: readonly UncoveredPath[];
  readonly leftOut: readonly UncoveredPath[];
  readonly rewritten: readonly RewrittenPath[];
}

/** What changed between two snapshots of the same paths. `isKept` tells whether a former content can be had again. */
export function compareSnapshots(before: Snapshot, after: Snapshot, isKept: (hash: string) => boolean): Changes {
  const files: FileChange[] = [];
  const uncovered: UncoveredPath[] = [];
  const rewritten: RewrittenPath[] = [];
  const unread = new Set(after.leftOut.map(({ path }) => path));
  const cut = halfKnown(before, after);
  for (const [path, why] of cut) uncovered.push({ path, why });
  const unreadBefore = new Set(before.leftOut.map(({ path }) => path));
  for (const { path, why } of after.leftOut) {
    if (before.entries.has(path) && !unreadBefore.has(path)) uncovered.push({ path, why: `after the call: ${why}` });
  }
  let inodes: Set<bigint> | undefined;
  const wasThere = (ino: bigint): boolean => {
    inodes ??= new Set(Array.from(before.entries.values(), (known) => known.ino));
    return inodes.has(ino);
  };

  for (const [path, now] of after.entries) {
    const then = before.entries.get(path);
    if (then === now || cut.has(path) || isBelow(path, cut)) continue;
    if (then?.state !== undefined && now.state !== undefined) {
      if (sameState(then.state, now.state)) {
        const [foundAt, leftAt] = [writtenAt(then), writtenAt(now)];
        if (foundAt !== undefined && leftAt !== undefined && foundAt !== leftAt)
          rewritten.push({ path, foundAt, leftAt });
        continue;
      }
    } else if (then !== undefined && looksAs(then, now)) continue;
    const why = now.why ?? then?.why ?? movedIn(then, now, before.startedMs, wasThere);
    if (why !== undefined) uncovered.push({ path, why });
    else change(path, then, now);
  }
  for (const [path, then] of before.entries) {
    if (after.entries.has(path) || isBelow(path, unread) || cut.has(path) || isBelow(path, cut)) continue;
    if (then.state === undefined) uncovered.push({ path, why: then.why ?? "its content is unknown" });
    else change(path, then);
  }
  return { files, uncovered, leftOut: [...after.leftOut, ...after.inPart].slice(0, MAX_LEFT_OUT), rewritten };

  function change(path: string, then: KnownEntry | undefined, now?: KnownEntry): void {
    const [was, is] = [then?.state ?? null, now?.state ?? null];
    if (was?.kind === "file" && !isKept(was.hash)) {
      uncovered.push({ path, why: "undo did not save its previous content: the undo store is full" });
    } else {
      files.push({ path, before: was, after: is, ...defined({ foundAt: writtenAt(then), leftAt: writtenAt(now) }) });
    }
  }
}

/**
 * Trees that came or went with the call and were not looked at in whole, by path. Half of one must be neither removed nor
 * made: a repository without its objects is no repository.
 */
function halfKnown(before: Snapshot, after: Snapshot): ReadonlyMap<string, string> {
  const came = [...after.leftOut, ...after.inPart].filter(({ path }) => path !== "" && !before.entries.has(path));
  const went = [...before.leftOut, ...before.inPart].filter(({ path }) => path !== "" && !after.entries.has(path));
  return new Map([...came, ...went].map(({ path, why }) => [path, why]));
}

/** A new entry that is older than the call came from where we do not look: removing it could lose its only copy. */
function movedIn(
  then: KnownEntry | undefined,
  now: KnownEntry,
  startedMs: number,
  wasThere: (ino: bigint) => boolean,
): string | undefined {
  // A file system that does not know when a file was born says 0.
  if (then !== undefined || now.birthNs === 0n || wasThere(now.ino)) return undefined;
  const old = now.birthNs < BigInt(startedMs - BIRTH_MARGIN_MS) * NS_PER_MS;
  return old ? "was moved here from a folder that undo does not cover" : undefined;
}

function isBelow(path: string, directories: Pick<ReadonlySet<string>, "has" | "size">): boolean {
  if (directories.size === 0) return false;
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    if (directories.has(path.slice(0, at))) return true;
  }
  return directories.has("");
}

function looksAs(known: KnownEntry, info: BigIntStats | KnownEntry): boolean {
  const rawMode = "rawMode" in info ? info.rawMode : info.mode;
  return (
    known.ctimeNs === info.ctimeNs &&
    known.mtimeNs === info.mtimeNs &&
    known.size === info.size &&
    known.ino === info.ino &&
    known.rawMode === rawMode
  );
}

function entry(info: BigIntStats, nowMs: number, known: EntryState | string): KnownEntry {
  const { ino, size, mtimeNs, ctimeNs, mode: rawMode, birthtimeNs: birthNs } = info;
  // ctime decides: every change sets it, and nobody can set it back. A directory has no content of its own and an
  // unread file none that is known: for those the looks are all there is.
  const settled =
    typeof known === "string" || known.kind === "directory" || ctimeNs < BigInt(nowMs - RACY_MS) * NS_PER_MS;
  const common = { ino, size, mtimeNs, ctimeNs, rawMode, birthNs, settled };
  return typeof known === "string" ? { ...common, why: known } : { ...common, state: known };
}

/** A folder is written whenever something comes or goes in it, which says nothing about the folder. */
function writtenAt(known: KnownEntry | undefined): string | undefined {
  return known?.state === undefined || known.state.kind === "directory" ? undefined : String(known.mtimeNs);
}

function modeOf(info: BigIntStats): number {
  return Number(info.mode) & 0o7777;
}
