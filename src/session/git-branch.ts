/** The branch that is checked out in a folder, as git's own file names it. Starts no program, and reads nothing but that file. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const HEAD_MAX_BYTES = 1024;
const MAX_PARENTS = 40;
const COMMIT_CHARS = 10;

/** Undefined outside a repository; the beginning of the commit where no branch is checked out. */
export async function gitBranch(folder: string): Promise<string | undefined> {
  let at = folder;
  for (let left = MAX_PARENTS; left > 0; left--) {
    const head = (await firstLine(join(at, ".git", "HEAD"))) ?? (await headOfWorktree(at));
    if (head !== undefined) return branchOf(head);
    if (dirname(at) === at) return undefined;
    at = dirname(at);
  }
  return undefined;
}

/** A worktree or submodule has a file that names its git folder. */
async function headOfWorktree(at: string): Promise<string | undefined> {
  const [, place] = /^gitdir: (.+)$/.exec((await firstLine(join(at, ".git"))) ?? "") ?? [];
  return place === undefined ? undefined : firstLine(join(resolve(at, place), "HEAD"));
}

function branchOf(head: string): string | undefined {
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  if (branch !== undefined) return branch;
  return /^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, COMMIT_CHARS) : undefined;
}

/** Undefined where no file is: a status line goes without. */
async function firstLine(path: string): Promise<string | undefined> {
  // A pipe in its place holds nobody up.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_MAX_BYTES), 0, HEAD_MAX_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0]?.trim();
  } catch {
    return undefined; // a folder, or gone in between
  } finally {
    await file.close();
  }
}
