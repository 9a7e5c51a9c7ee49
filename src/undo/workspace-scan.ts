/**
 * One walk over a workspace, or over some paths of it: what is there and how it looks to `lstat`. It follows no symlink
 * and reads no content. It runs in short synchronous slices, because ten thousand asynchronous calls cost several times
 * more than the work itself.
 */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errnoOf } from "#base";
import type { UncoveredPath } from "./change-set.ts";
import { CACHE_MARK, coveredNames, directoryLeftOut } from "./coverage.ts";

/** How long the walk keeps the thread before it lets others run. */
const SLICE_MS = 8;
const SLICE_CHECK_ENTRIES = 64;
const REPLACEMENT_CHARACTER = "\u{fffd}";

export interface ScanOptions {
  /** Absolute and real. */
  readonly root: string;
  /** Where to begin, relative to the root; "" is the root itself. */
  readonly from: readonly string[];
  readonly maxEntries: number;
  /** Entries that are never looked at: the program's own files. */
  readonly never: ReadonlySet<string>;
  /** Directories that must be looked at although they are marked as caches now. */
  readonly mustCover: (path: string) => boolean;
  /** Directories that must not be looked at, because the scan before did not. */
  readonly mustLeave: (path: string) => boolean;
}

export interface Scan {
  readonly entries: ReadonlyMap<string, BigIntStats>;
  /** Trees that were not looked at. */
  readonly leftOut: readonly UncoveredPath[];
  /** Directories of which only a part was looked at. */
  readonly inPart: readonly UncoveredPath[];
}

/** Throws when the root cannot be read; what cannot be read below it is left out. */
export async function scanWorkspace(options: ScanOptions): Promise<Scan> {
  const { root, from, maxEntries, never, mustCover, mustLeave } = options;
  const entries = new Map<string, BigIntStats>();
  const leftOut: UncoveredPath[] = [];
  const inPart: UncoveredPath[] = [];
  const directories: string[] = [];
  let sliceEnd = performance.now() + SLICE_MS;

  function visit(path: string, name: string): void {
    if (never.has(path)) return;
    const info = look(`${root}/${path}`);
    if (info === "hidden") {
      leftOut.push({ path, why: "cannot be read" });
      return;
    }
    if (info === undefined) {
      // Gone since it was listed, or a name that does not survive decoding.
      if (name.includes(REPLACEMENT_CHARACTER)) leftOut.push({ path, why: "its name is not valid UTF-8" });
      return;
    }
    entries.set(path, info);
    if (!info.isDirectory()) return;
    const why = directoryLeftOut(name) ?? (mustLeave(path) ? "was not recorded before the call" : undefined);
    if (why === undefined) directories.push(path);
    else leftOut.push({ path, why });
  }

  for (const path of from) {
    if (path === "") directories.push("");
    else visit(path, path.slice(path.lastIndexOf("/") + 1));
  }
  let sinceCheck = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    if (entries.size >= maxEntries) {
      leftOut.push({ path: directory, why: `the workspace has more than ${maxEntries} entries` });
      continue;
    }
    const listed = namesOf(root, directory);
    if (listed === undefined) {
      leftOut.push({ path: directory, why: "cannot be read" });
      continue;
    }
    if (listed.includes(CACHE_MARK) && directory !== "" && !mustCover(directory)) {
      leftOut.push({ path: directory, why: "is marked as a cache" });
      continue;
    }
    const covered = coveredNames(directory.slice(directory.lastIndexOf("/") + 1), listed);
    if (covered.leftOut !== undefined) inPart.push({ path: directory, why: covered.leftOut });
    const prefix = directory === "" ? "" : `${directory}/`;
    for (const name of covered.names) {
      visit(prefix + name, name);
      if (++sinceCheck < SLICE_CHECK_ENTRIES) continue;
      sinceCheck = 0;
      if (performance.now() < sliceEnd) continue;
      await setImmediate();
      sliceEnd = performance.now() + SLICE_MS;
    }
  }
  return { entries, leftOut, inPart };
}

/** Undefined when nothing is there. */
function look(path: string): BigIntStats | "hidden" | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOTDIR") return undefined;
    if (code === "EACCES") return "hidden";
    throw error;
  }
}

/** Undefined when it may not be read or is gone. The root must be readable. */
function namesOf(root: string, directory: string): string[] | undefined {
  try {
    return readdirSync(`${root}/${directory}`);
  } catch (error) {
    if (directory === "") throw error;
    return undefined;
  }
}
