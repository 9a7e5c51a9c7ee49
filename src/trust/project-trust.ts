/** Whether somebody has agreed to the files of a project as they are: by what this user acked here, or by a lock file that was handed in. */

import { lstatSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { type AwaitingFile, type JudgedFile, readFileContent, type TrustPort } from "#artifacts";
import { defined, errnoOf } from "#base";
import { type AckedFile, type ApprovedLock, createApprovedLock, type TrustKeys } from "./approved-lock.ts";
import { type Change, classifyChange } from "./change-class.ts";
import type { AckedHow, LockEntry, LockFile } from "./lock-file.ts";

export interface ProjectTrustOptions {
  /** The real path of the project. */
  readonly root: string;
  /** In the state folder of the user. */
  readonly directory: string;
  readonly keys: () => TrustKeys;
  /** Who agrees, for the record. */
  readonly by: string;
  readonly now: () => number;
  /** Folders that belong to the user and that no repository reaches: in them a change of prose or metadata needs no second ack. */
  readonly ownFolders: readonly string[];
  /** Told of each file that was taken that way. */
  readonly onPromoted: (file: string, change: Change) => void;
}

/** One file that waits, as it is now and as it was acked. */
export interface WaitingFile extends AwaitingFile {
  /** Undefined when the file is gone or cannot be read as text. */
  readonly text?: string;
  readonly hash?: string;
  readonly acked?: { readonly sha256: string; readonly text?: string; readonly at: string };
  /** Where both texts are known. */
  readonly changed?: Change;
}

export interface ProjectTrust extends TrustPort {
  /** Why nothing counts as acked although a lock is there. */
  problem(): string | undefined;
  readonly isOwnFolder: boolean;
  /** Reads the file anew: what is shown is what is agreed to. */
  look(file: AwaitingFile): WaitingFile;
  /** Agrees to what `look` gave, not to what may lie there meanwhile. */
  ack(files: readonly WaitingFile[], how: AckedHow): void;
  entries(): readonly LockEntry[];
}

export function createProjectTrust(options: ProjectTrustOptions): ProjectTrust {
  const { root, ownFolders, onPromoted } = options;
  const lock: ApprovedLock = createApprovedLock(options);
  const isOwnFolder = ownFolders.some((folder) => isInside(folder, root));

  function look(file: AwaitingFile): WaitingFile {
    const entry = lock.read().files.find(({ path }) => path === file.file);
    const before = entry === undefined ? undefined : lock.textOf(entry.sha256);
    const acked = entry && {
      sha256: entry.sha256,
      at: entry.at,
      ...defined({ text: before }),
    };
    const known = acked === undefined ? {} : { acked };
    if (file.change === "removed") return { ...file, ...known };
    const isOutside = isAbsolute(file.file);
    const path = isOutside ? file.file : join(root, file.file);
    const outcome = readFileContent(path, file.file, isOutside ? undefined : root);
    if ("problem" in outcome) return { ...file, ...known };
    const { text, hash } = outcome.content;
    const changed = before === undefined ? {} : { changed: classifyChange(file.kind, before, text) };
    return { ...file, ...known, text, hash, ...changed };
  }

  function ack(files: readonly WaitingFile[], how: AckedHow): void {
    const at = new Date(options.now()).toISOString();
    const present = files.flatMap(({ file, kind, hash, text }): AckedFile[] => {
      if (hash === undefined || text === undefined) return [];
      return [{ entry: { path: file, sha256: hash, class: kind, at, by: options.by, how }, text }];
    });
    const removed = files.filter(({ change }) => change === "removed").map(({ file }) => file);
    lock.change(present, removed);
  }

  /** Prose and metadata in a folder of the user's own: agreed to with a notice. */
  function promoted(awaiting: readonly AwaitingFile[], judged: readonly JudgedFile[]): readonly AwaitingFile[] {
    const hashes = new Map(judged.map(({ file, hash }) => [file, hash]));
    const mild = awaiting.flatMap((file) => {
      const seen = file.change === "changed" ? look(file) : undefined;
      const isMild = seen?.changed?.class === "prose" || seen?.changed?.class === "metadata";
      // What takes effect is what was judged, not what lies there meanwhile.
      return seen !== undefined && isMild && seen.hash === hashes.get(file.file) ? [seen] : [];
    });
    if (mild.length === 0) return awaiting;
    ack(mild, "promoted");
    for (const { file, changed } of mild) if (changed !== undefined) onPromoted(file, changed);
    return awaiting.filter(({ file }) => !mild.some((one) => one.file === file));
  }

  return {
    isOwnFolder,
    problem: () => lock.read().problem,
    judge(files) {
      const awaiting = awaitingFiles(root, files, lock.read().files);
      if (!isOwnFolder || awaiting.length === 0) return awaiting;
      try {
        return promoted(awaiting, files);
      } catch {
        return awaiting; // the lock cannot be written: whoever is asked finds out why
      }
    },
    look,
    ack,
    entries: () => lock.read().files,
  };
}

/** Exactly the files of a lock file that was handed in, and no others; nothing is learned. */
export function createLockFileTrust(root: string, { files }: LockFile): TrustPort {
  return { judge: (judged) => awaitingFiles(root, judged, files) };
}

/**
 * A file that was acked and lies there but is not read any more counts for nothing; one that is gone may have been a guard, unless it
 * was an eval case, which guards nothing.
 */
function awaitingFiles(
  root: string,
  files: readonly JudgedFile[],
  entries: readonly LockEntry[],
): readonly AwaitingFile[] {
  const acked = new Map(entries.map((entry) => [entry.path, entry]));
  const here = new Set(files.map(({ file }) => file));
  const awaiting = files.flatMap(({ file, kind, hash }): AwaitingFile[] => {
    const entry = acked.get(file);
    if (entry === undefined) return [{ file, kind, change: "new" }];
    return entry.sha256 === hash ? [] : [{ file, kind, change: "changed" }];
  });
  const gone = entries.filter(({ path, class: kind }) => {
    return kind !== "eval" && !here.has(path) && !isThere(isAbsolute(path) ? path : join(root, path));
  });
  return [...awaiting, ...gone.map(({ path, class: kind }): AwaitingFile => ({ file: path, kind, change: "removed" }))];
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A part of the way is no folder any more: the file is gone. Anything else cannot be told, and reading it will say so.
    return errnoOf(error) !== "ENOTDIR";
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
