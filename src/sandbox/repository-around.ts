/**
 * Folders outside a workspace that git reads when it works there: the repository that the workspace is a part of, the shared folder of a
 * linked worktree, the repository above a submodule, and object stores that it borrows from. Each is shown only when it says itself that
 * it belongs to the workspace, or is plainly a repository: a project can bring along links of its choice.
 */
import { lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { realPathIfThere } from "#world";
import { ALTERNATES, borrowedOutside, isInside, MAX_LINK_BYTES, worktreeTarget } from "./repositories.ts";
import { smallText } from "./straight-folder.ts";

const MAX_ALTERNATES = 8;

/** Real paths, to be seen and not changed. `homes` and what is above them never count as a repository around. */
export function repositoriesAround(root: string, homes: readonly string[]): string[] {
  const link = join(root, ".git");
  const info = lstatSync(link, { throwIfNoEntry: false });
  const around = info === undefined ? surrounding(root, homes) : undefined;
  const git =
    around !== undefined
      ? join(around, ".git")
      : info?.isDirectory()
        ? link
        : info?.isFile()
          ? (worktreeTarget(link)?.common ?? submoduleTarget(root, link))
          : undefined;
  if (git === undefined) return [];
  return [...(around === undefined ? [git] : [around]), ...alternates(root, git)].filter(
    (path) => !isInside(root, path),
  );
}

/** The nearest folder above with a repository in it. */
function surrounding(root: string, homes: readonly string[]): string | undefined {
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder)) {
    if (homes.some((home) => isInside(folder, realPathIfThere(home) ?? home))) return undefined;
    if (isRepository(join(folder, ".git"))) return folder;
  }
  return undefined;
}

/** The folder of a submodule in the repository above it, when its configuration names this very workspace. */
function submoduleTarget(root: string, link: string): string | undefined {
  const named = /^gitdir: (.+?)\r?\n?$/.exec(smallText(link, MAX_LINK_BYTES) ?? "")?.[1];
  const git = named === undefined ? undefined : realPathIfThere(resolve(root, named));
  if (git === undefined || !isRepository(git)) return undefined;
  const worktree = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(smallText(join(git, "config"), 64 * 1024) ?? "")?.[1];
  return worktree !== undefined && realPathIfThere(resolve(git, worktree)) === root ? git : undefined;
}

/** Object stores of other repositories on this machine, as `git clone --shared` names them. */
function alternates(root: string, git: string): string[] {
  return borrowedOutside(root, smallText(join(git, ALTERNATES), MAX_LINK_BYTES) ?? "")
    .slice(0, MAX_ALTERNATES)
    .flatMap((line) => realPathIfThere(line) ?? [])
    .filter((path) => path.endsWith("/objects") && isRepository(dirname(path)));
}

function isRepository(git: string): boolean {
  const head = lstatSync(join(git, "HEAD"), { throwIfNoEntry: false });
  return head?.isFile() === true && lstatSync(join(git, "objects"), { throwIfNoEntry: false })?.isDirectory() === true;
}
