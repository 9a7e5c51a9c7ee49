/**
 * What lies in a workspace that its confinements must know of: repositories below it, secret files, and pipes and sockets that somebody
 * else may listen on. Walks the folders once and looks again only at those that changed. Repositories that commands begin are swept.
 */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { realPathIfThere } from "#world";
import { moveAside, type Swept, sweepEach, sweptTogether } from "./held-back.ts";
import { sweepNewRepository } from "./new-repository.ts";
import { isInside, MAX_LINK_BYTES } from "./repositories.ts";
import type { HiddenPath } from "./sandbox.ts";
import {
  inStraight,
  type StraightFolder,
  smallText,
  straightEntry,
  straightText,
  withRights,
} from "./straight-folder.ts";

const MAX_NESTED = 64;
const MAX_DEPTH = 8;
/** Each is looked at before every command that nobody was asked about. */
const MAX_WALKED_FOLDERS = 2_000;
/** Each is a mount. */
const MAX_MASKED = 256;
/** Never walked: they are large, and what is in them was not put there by a person. */
const PASSED_OVER = new Set(["node_modules", ".git", ".venv", "venv", "target", ".cache"]);

export interface WorkspaceSurvey {
  /** Folders below the workspace, itself left out, that had a `.git` at the beginning. */
  readonly repositories: readonly string[];
  /** Those and what commands have begun, as of the last look. */
  found(): readonly string[];
  /** As of the last look. */
  secrets(): readonly HiddenPath[];
  /** Named pipes and sockets. */
  channels(): readonly HiddenPath[];
  /** False when a bound was met and not everything was looked at. */
  isComplete(): boolean;
  /** Looks again at what changed. */
  refresh(): void;
  /** After a command: takes what runs programs out of the repositories that commands have begun. */
  sweepBegun(): Swept;
}

interface WalkedFolder {
  readonly depth: number;
  /** When its entries last changed. The time of its content can be set back, this one cannot. */
  readonly changed: bigint;
  readonly secrets: readonly HiddenPath[];
  readonly channels: readonly HiddenPath[];
}

/** `isSecret` judges a path relative to the workspace by its name. `except`: a folder that is looked at elsewhere. */
export function surveyWorkspace(root: string, isSecret: (path: string) => boolean, except?: string): WorkspaceSurvey {
  const walked = new Map<string, WalkedFolder>();
  const found = new Set<string>();
  let complete = true;

  /** `opens`: folders that cannot be listed are opened, because a command can have closed them to hide what is in them. */
  function walk(from: string, startDepth: number, opens: boolean): void {
    const pending = [{ path: from, depth: startDepth }];
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const { path, depth } = next;
      if ((walked.size >= MAX_WALKED_FOLDERS && !walked.has(path)) || found.size >= MAX_NESTED) {
        complete = false;
        return;
      }
      const changed = changeOf(path);
      const secrets: HiddenPath[] = [];
      const channels: HiddenPath[] = [];
      for (const entry of entriesIn(path, opens)) {
        const inner = join(path, entry.name);
        if (entry.name === ".git") {
          if (depth > 0) found.add(path);
          continue;
        }
        if (entry.isFIFO() || entry.isSocket()) channels.push({ path: inner, kind: "file" });
        else if (isMasked(entry, inner))
          secrets.push({ path: inner, kind: entry.isDirectory() ? "directory" : "file" });
        else if (entry.isDirectory() && !PASSED_OVER.has(entry.name) && inner !== except) {
          if (depth >= MAX_DEPTH) complete = false;
          else if (!walked.has(inner)) pending.push({ path: inner, depth: depth + 1 });
        }
      }
      walked.set(path, { depth, changed, secrets, channels });
    }
  }

  /** The files of a project that the harness itself obeys are no secret to its agents; a link is masked where it leads. */
  function isMasked(entry: Dirent, path: string): boolean {
    if (!entry.isFile() && !entry.isDirectory()) return false;
    return entry.name !== ".harness" && isSecret(path.slice(root.length + 1));
  }

  function refresh(opens = false): void {
    for (const [path, { depth, changed }] of [...walked]) {
      const now = changeOf(path);
      if (now === 0n) walked.delete(path);
      else if (now !== changed) walk(path, depth, opens);
    }
  }

  function gathered(which: "secrets" | "channels"): readonly HiddenPath[] {
    const all = [...walked.values()].flatMap((folder) => folder[which]);
    if (all.length > MAX_MASKED) complete = false;
    return all.slice(0, MAX_MASKED);
  }

  walk(root, 0, false);
  const repositories = [...found];
  return {
    repositories,
    found: () => [...found],
    secrets: () => gathered("secrets"),
    channels: () => gathered("channels"),
    isComplete: () => complete,
    refresh: () => refresh(),
    sweepBegun() {
      refresh(true);
      const begun = [...found].filter((folder) => !repositories.includes(folder));
      return sweptTogether(begun.map((folder) => sweepLink(root, folder)));
    },
  };
}

/** 0 for what is not there, and for a link in the place of a folder. */
function changeOf(path: string): bigint {
  const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return info?.isDirectory() === true ? info.ctimeNs : 0n;
}

/** Of a folder to which no link leads. */
function entriesIn(path: string, opens: boolean): readonly Dirent[] {
  try {
    const list = (folder: StraightFolder) => readdirSync(folder.here, { withFileTypes: true });
    return inStraight(path, (folder) => (opens ? withRights(folder, () => list(folder)) : list(folder))) ?? [];
  } catch {
    // Not ours to read; a command could not change it either.
    return [];
  }
}

/** A `.git` may be the folder, or a file that names it; whatever else it is goes. */
function sweepLink(root: string, folder: string): Swept {
  const link = join(folder, ".git");
  const info = straightEntry(link);
  if (info?.isDirectory() === true) return sweepNewRepository(root, link);
  const text = info?.isFile() === true ? straightText(link, MAX_LINK_BYTES) : undefined;
  const named = /^gitdir: (.+?)\r?\n?$/.exec(text ?? "")?.[1];
  const git = named === undefined ? undefined : realPathIfThere(resolve(folder, named));
  if (git === undefined) {
    return sweepEach(info === undefined ? [] : [link], (path) => [`${path} is protected: ${moveAside(path)}`]);
  }
  // A worktree of the workspace's own repository, whose configuration is protected already.
  const common = smallText(join(git, "commondir"), MAX_LINK_BYTES)?.trim();
  const isOurs = common !== undefined && realPathIfThere(resolve(git, common)) === join(root, ".git");
  return isOurs || !isInside(root, git) ? sweptTogether([]) : sweepNewRepository(root, git);
}
