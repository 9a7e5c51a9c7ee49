/**
 * The repositories below a workspace: those that are there when a session begins, and those that its commands begin. The
 * former are protected like the workspace's own; the latter are looked at after each command, for what would run programs.
 */
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { realPathIfThere } from "#base";
import { moveAside } from "./held-back.ts";
import { sweepNewRepository } from "./new-repository.ts";
import { entriesOf, isInside, MAX_LINK_BYTES, smallText } from "./repositories.ts";

const MAX_NESTED = 64;
const MAX_NESTED_DEPTH = 5;
const MAX_WALKED_FOLDERS = 2_000;
/** Never looked through: they are large, and what is in them was not cloned by a person. */
const PASSED_OVER = new Set(["node_modules", ".git", ".venv", "venv", "target", "dist", "build", "vendor", ".cache"]);

export interface NestedRepositories {
  /** Folders below the workspace, itself left out, that had a `.git` at the beginning. */
  readonly folders: readonly string[];
  /** False when a bound was met and not everything was looked at. */
  readonly complete: boolean;
  /** After a command: takes what runs programs out of the repositories that commands have begun. One line for each thing. */
  sweepBegun(): readonly string[];
}

export function nestedRepositories(root: string): NestedRepositories {
  /** When the entries of a folder last changed. The time of its content can be set back, this one cannot. */
  const walked = new Map<string, { readonly depth: number; changed: bigint }>();
  const found = new Set<string>();
  let complete = true;

  function walk(from: string, startDepth: number): void {
    const pending = [{ path: from, depth: startDepth }];
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const { path, depth } = next;
      if ((walked.size >= MAX_WALKED_FOLDERS && !walked.has(path)) || found.size >= MAX_NESTED) {
        complete = false;
        return;
      }
      walked.set(path, { depth, changed: changeOf(path) });
      for (const entry of entriesOf(path)) {
        if (entry.name === ".git" && depth > 0) found.add(path);
        if (!entry.isDirectory() || PASSED_OVER.has(entry.name) || depth >= MAX_NESTED_DEPTH) continue;
        const inner = join(path, entry.name);
        if (!walked.has(inner)) pending.push({ path: inner, depth: depth + 1 });
      }
    }
  }

  walk(root, 0);
  const folders = [...found];
  return {
    folders,
    complete,
    sweepBegun() {
      for (const [path, { depth, changed }] of [...walked]) {
        const now = changeOf(path);
        if (now === 0n) walked.delete(path);
        else if (now !== changed) walk(path, depth);
      }
      return [...found].filter((folder) => !folders.includes(folder)).flatMap((folder) => sweepLink(root, folder));
    },
  };
}

function changeOf(path: string): bigint {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? 0n;
}

/** A `.git` may be the folder, or a file that names it; whatever else it is goes. */
function sweepLink(root: string, folder: string): readonly string[] {
  const link = join(folder, ".git");
  const info = lstatSync(link, { throwIfNoEntry: false });
  if (info === undefined) return [];
  if (info.isDirectory()) return sweepNewRepository(link);
  const named = info.isFile() ? /^gitdir: (.+?)\r?\n?$/.exec(smallText(link, MAX_LINK_BYTES) ?? "")?.[1] : undefined;
  const git = named === undefined ? undefined : realPathIfThere(resolve(folder, named));
  if (git === undefined) return [`${link} is protected: ${moveAside(link)}`];
  // A worktree of the workspace's own repository, whose configuration is protected already.
  const common = smallText(join(git, "commondir"), MAX_LINK_BYTES)?.trim();
  if (common !== undefined && realPathIfThere(resolve(git, common)) === join(root, ".git")) return [];
  return isInside(root, git) ? sweepNewRepository(git) : [];
}
