/** Whether somebody has agreed to the files of a project as they are: by what this user acked here, or by a lock file that was handed in. */

import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import {
  type AwaitingFile,
  isOptionalKind,
  type JudgedFile,
  type Judgement,
  optionalKinds,
  readFileContent,
  type TrustPort,
} from "#artifacts";
import { defined, errnoOf } from "#base";
import { isInside } from "#world";
import { type AckedFile, type ApprovedLock, createApprovedLock, type TrustKeys } from "./approved-lock.ts";
import { type Change, classifyChange } from "./change-class.ts";
import type { AckedHow, LockEntry, LockFile } from "./lock-file.ts";
import type { ServerAnswer } from "./server-answer.ts";

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
  /** When an earlier content of it was denied, RFC 3339. */
  readonly deniedAt?: string;
}

export interface ProjectTrust extends TrustPort {
  /** Why nothing counts as acked although a lock is there. */
  problem(): string | undefined;
  readonly isOwnFolder: boolean;
  /** Reads the file anew: what is shown is what is agreed to. */
  look(file: AwaitingFile): WaitingFile;
  /** Agrees to what `look` gave, not to what may lie there meanwhile. */
  ack(files: readonly WaitingFile[], how: AckedHow): void;
  /** Says no to what `look` gave of optional files: they are left out until they change. Artifacts are passed over. */
  deny(files: readonly WaitingFile[]): void;
  entries(): readonly LockEntry[];
  /** What was said about the MCP servers of the project. */
  serverAnswers(): readonly ServerAnswer[];
  answerServer(answer: Omit<ServerAnswer, "at" | "by">): void;
}

export function createProjectTrust(options: ProjectTrustOptions): ProjectTrust {
  const { root, ownFolders, onPromoted } = options;
  const lock: ApprovedLock = createApprovedLock(options);
  const isOwnFolder = ownFolders.some((folder) => isInside(folder, root));

  function look(file: AwaitingFile): WaitingFile {
    const entry = lock.read().files.find(({ path }) => path === file.file);
    // Against a text that was denied nothing is compared.
    const agreed = entry?.denied === true ? undefined : entry;
    const before = agreed === undefined ? undefined : lock.textOf(agreed.sha256);
    const acked = agreed && {
      sha256: agreed.sha256,
      at: agreed.at,
      ...defined({ text: before }),
    };
    const known = defined({ acked, deniedAt: entry?.denied === true ? entry.at : undefined });
    if (file.change === "removed") return { ...file, ...known };
    const isOutside = isAbsolute(file.file) || file.file.startsWith("../");
    const path = resolve(root, file.file);
    const outcome = readFileContent(path, file.file, isOutside ? undefined : root);
    if ("problem" in outcome) return { ...file, ...known };
    const { text, hash } = outcome.content;
    const changed = before === undefined ? {} : { changed: classifyChange(file.kind, before, text) };
    return { ...file, ...known, text, hash, ...changed };
  }

  function answer(files: readonly WaitingFile[], how: AckedHow, denied?: true): void {
    const at = new Date(options.now()).toISOString();
    const present = files.flatMap(({ file, kind, hash, text }): AckedFile[] => {
      if (hash === undefined || text === undefined) return [];
      return [
        { entry: { path: file, sha256: hash, class: kind, at, by: options.by, how, ...defined({ denied }) }, text },
      ];
    });
    const removed = files.filter(({ change }) => change === "removed").map(({ file }) => file);
    lock.change(present, removed);
  }

  const ack: ProjectTrust["ack"] = (files, how) => answer(files, how);

  /** Prose and metadata in a folder of the user's own: agreed to with a notice. */
  function promoted({ awaiting, denied }: Judgement, judged: readonly JudgedFile[]): Judgement {
    const hashes = new Map(judged.map(({ file, hash }) => [file, hash]));
    const mild = awaiting.flatMap((file) => {
      const seen = file.change === "changed" ? look(file) : undefined;
      const isMild = seen?.changed?.class === "prose" || seen?.changed?.class === "metadata";
      // What takes effect is what was judged, not what lies there meanwhile.
      return seen !== undefined && isMild && seen.hash === hashes.get(file.file) ? [seen] : [];
    });
    if (mild.length === 0) return { awaiting, denied };
    ack(mild, "promoted");
    for (const { file, changed } of mild) if (changed !== undefined) onPromoted(file, changed);
    return { awaiting: awaiting.filter(({ file }) => !mild.some((one) => one.file === file)), denied };
  }

  return {
    isOwnFolder,
    problem: () => lock.read().problem,
    judge(files) {
      const judgement = judgeFiles(root, files, lock.read().files);
      if (!isOwnFolder || judgement.awaiting.length === 0) return judgement;
      try {
        return promoted(judgement, files);
      } catch {
        return judgement; // the lock cannot be written: whoever is asked finds out why
      }
    },
    look,
    ack,
    deny: (files) =>
      answer(
        files.filter(({ kind, change }) => isOptionalKind(kind) && change !== "removed"),
        "individual",
        true,
      ),
    entries: () => lock.read().files,
    serverAnswers: () => lock.read().servers,
    answerServer(answer) {
      lock.answer([{ ...answer, at: new Date(options.now()).toISOString(), by: options.by }]);
    },
  };
}

/** Exactly the files of a lock file that was handed in, and no others; nothing is learned. */
export function createLockFileTrust(root: string, { files }: LockFile): TrustPort {
  return { judge: (judged) => judgeFiles(root, judged, files) };
}

/**
 * A file that was acked and lies there but is not read any more counts for nothing; one that is gone may have been a guard, unless
 * files of its kind guard nothing, or it was denied.
 */
function judgeFiles(root: string, files: readonly JudgedFile[], entries: readonly LockEntry[]): Judgement {
  const acked = new Map(entries.map((entry) => [entry.path, entry]));
  const here = new Set(files.map(({ file }) => file));
  const awaiting = files.flatMap(({ file, kind, hash }): AwaitingFile[] => {
    const entry = acked.get(file);
    // An artifact cannot be left out, so a no to an optional file of that name is no answer.
    if (entry === undefined || (isDenied(entry) && !isOptionalKind(kind))) return [{ file, kind, change: "new" }];
    return entry.sha256 === hash ? [] : [{ file, kind, change: "changed" }];
  });
  const gone = entries.filter((entry) => {
    return mayGuard(entry.class) && !isDenied(entry) && !here.has(entry.path) && !isThere(resolve(root, entry.path));
  });
  const waiting = new Set(awaiting.map(({ file }) => file));
  return {
    awaiting: [
      ...awaiting,
      ...gone.map(({ path, class: kind }): AwaitingFile => ({ file: path, kind, change: "removed" })),
    ],
    denied: entries
      .filter((entry) => isDenied(entry) && here.has(entry.path) && !waiting.has(entry.path))
      .map(({ path }) => path),
  };
}

function isDenied({ denied }: LockEntry): boolean {
  return denied === true;
}

function mayGuard(kind: LockEntry["class"]): boolean {
  return isOptionalKind(kind) ? optionalKinds[kind].guards : kind !== "eval";
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A part of the way is no folder any more: the file is gone. Anything else cannot be told, and reading it will say so.
    return errnoOf(error) !== "ENOTDIR";
  }
}
