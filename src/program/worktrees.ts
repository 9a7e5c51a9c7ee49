/**
 * Git worktrees for delegates, below the cache folder of the user: made by a git that runs no hooks and no filters, compared without
 * asking git about files of the delegate, removed with their branch. Those of programs that were killed are swept by the next one.
 */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type Clock, defined, isRecord, jsonIn } from "#base";
import type { OpenWorktree, Worktree, WorktreeChange } from "#delegation";
import { ToolError } from "#engine";
import { ReasonError } from "#protocol";
import { worktreeBase } from "#stores";
import { createOwner, createWorkspaceFiles, isAlive, makePrivateDirectory, writePrivateFile } from "#world";
import { git } from "./git.ts";

/** Of the repository; each is compared by its content. */
const MAX_FILES = 20_000;
const MAX_COMPARED_BYTES = 64 * 1024 * 1024;
const BRANCH = "refs/heads/harness/";
const OWNER_FILE = "owner.json";

export interface WorktreesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, "now">;
  readonly onFailure: (text: string) => void;
}

/** Sweeps what killed programs left. */
export function createWorktrees({ env, clock, onFailure }: WorktreesOptions): OpenWorktree {
  const base = worktreeBase(env);
  let swept: Promise<void> | undefined;
  const sweepOnce = (folder: string): Promise<void> => {
    swept ??= sweep(folder, clock).catch((error: unknown) => onFailure(`worktrees were not swept: ${String(error)}`));
    return swept;
  };
  if (base !== undefined && existsSync(base)) void sweepOnce(base);
  return async (workspace, name) => {
    if (base === undefined) throw new ToolError("isolation: worktree needs HOME or XDG_CACHE_HOME.", "KindDelegation");
    await sweepOnce(base);
    return open(workspace, name, join(base, name));
  };
}

async function open(workspace: string, name: string, place: string): Promise<Worktree> {
  const ask = (args: readonly string[], why: string): Promise<string> =>
    git(workspace, args, (detail) => new ReasonError("KindDelegation", `isolation: worktree ${why}: ${detail}`));
  try {
    const shown = await ask(["rev-parse", "--show-prefix", "--show-toplevel"], "needs a git repository");
    const [prefix = "", top = ""] = shown.trimEnd().split("\n");
    const commit = (await ask(["rev-parse", "--verify", "HEAD^{commit}"], "needs a commit to begin from")).trim();
    const branch = `${BRANCH}${name}`;
    const taken = await ask(["for-each-ref", "--format=%(refname)", branch], "failed");
    if (taken.trim() !== "") {
      throw new ToolError(
        `isolation: worktree failed: there is already a branch harness/${name}. Remove it with git branch -D harness/${name}.`,
        "KindDelegation",
      );
    }
    makePrivateDirectory(place);
    writePrivateFile(join(place, OWNER_FILE), JSON.stringify({ owner: createOwner(), repository: top }), {
      durable: true,
    });
    const root = join(place, name);
    const close = (): Promise<void> => remove(place, top);
    try {
      const off = await filtersOff(workspace);
      await ask([...off, "worktree", "add", "--no-track", "-b", `harness/${name}`, root, commit], "failed");
      const folder = join(root, prefix);
      if (!existsSync(folder))
        throw new ToolError(`isolation: worktree failed: ${prefix} is not in the last commit.`, "KindDelegation");
      return opened({ root, folder, commit, ask, close });
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    if (error instanceof ReasonError) throw new ToolError(error.message, error.reason);
    throw error;
  }
}

interface Made {
  readonly root: string;
  readonly folder: string;
  readonly commit: string;
  readonly ask: (args: readonly string[], why: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

function opened({ root, folder, commit, ask, close }: Made): Worktree {
  const algorithm = commit.length === 40 ? "sha1" : "sha256";
  const nameOf = (content: Uint8Array): string =>
    createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");

  /** Undefined where nothing is; of a link its target. */
  function nameAt(path: string): { readonly name: string; readonly isOther: boolean } | undefined {
    const full = join(folder, path);
    const info = lstatSync(full, { throwIfNoEntry: false });
    if (info === undefined || info.isDirectory()) return undefined;
    if (info.isSymbolicLink()) return { name: nameOf(Buffer.from(readlinkSync(full))), isOther: true };
    if (!info.isFile() || info.size > MAX_COMPARED_BYTES) return { name: `of ${info.size} bytes`, isOther: true };
    return { name: nameOf(readFileSync(full)), isOther: false };
  }

  return {
    folder: realpathSync(folder),
    nameOf,
    async changes() {
      const listed = await ask(["ls-tree", "-r", "-z", commit], "failed");
      const before = new Map<string, { readonly name: string; readonly isOther: boolean }>();
      for (const row of listed.split("\0")) {
        const [, mode, name, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(row) ?? [];
        if (path !== undefined && name !== undefined)
          before.set(path, { name, isOther: mode?.startsWith("100") !== true });
      }
      // Not by the link in the worktree, which the delegate can write: git is told where everything is.
      const common = (await ask(["rev-parse", "--path-format=absolute", "--git-common-dir"], "failed")).trim();
      const own = ["--git-dir", join(common, "worktrees", basename(root)), "--work-tree", root, "-C", folder];
      const present = await ask([...own, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], "failed");
      const paths = new Set([...before.keys(), ...present.split("\0").filter((path) => path !== "")]);
      if (paths.size > MAX_FILES)
        throw new ToolError(`The repository has more than ${MAX_FILES} files.`, "KindDelegation");
      return [...paths].toSorted().flatMap((path) => changeOf(path, before.get(path), nameAt(path)));
    },
    read: (path, maxBytes) => createWorkspaceFiles(folder).read(path, maxBytes),
    close,
  };

  function changeOf(
    path: string,
    base: { readonly name: string; readonly isOther: boolean } | undefined,
    now: { readonly name: string; readonly isOther: boolean } | undefined,
  ): WorktreeChange[] {
    if (base?.name === now?.name) return [];
    const kind = base === undefined ? "added" : now === undefined ? "removed" : "changed";
    const isOther = base?.isOther === true || now?.isOther === true;
    // A submodule that nobody has checked out is an empty folder, and no change.
    if (base?.isOther === true && now === undefined && existsSync(join(folder, path))) return [];
    return [
      {
        ...{ path, kind },
        ...defined({ base: base?.name, now: now?.name }),
        ...(isOther ? { isOther: true } : {}),
      },
    ];
  }
}

/** Filters of the configuration are programs, and files of a delegate would be their input. */
async function filtersOff(workspace: string): Promise<string[]> {
  const failed = (detail: string): ReasonError => new ReasonError("KindDelegation", detail);
  const names = (await git(workspace, ["config", "--list", "--name-only", "-z"], failed)).split("\0");
  const filters = [...new Set(names.filter((name) => /^filter\..*\.(smudge|clean|process|required)$/s.test(name)))];
  return filters.flatMap((name) => ["-c", name.endsWith(".required") ? `${name}=false` : `${name}=`]);
}

/** Only what carries our own name: a `git worktree prune` would also forget worktrees on a disk that is not there now. */
async function remove(place: string, repository: string): Promise<void> {
  const name = basename(place);
  const failed = (detail: string): ReasonError => new ReasonError("KindDelegation", detail);
  rmSync(join(place, name), { recursive: true, force: true });
  if (existsSync(repository)) {
    const common = (await git(repository, ["rev-parse", "--path-format=absolute", "--git-common-dir"], failed)).trim();
    const known = join(common, "worktrees", name);
    if (existsSync(known)) rmSync(known, { recursive: true, force: true });
    const refs = await git(repository, ["for-each-ref", "--format=%(refname)", `${BRANCH}${name}`], failed);
    if (refs.trim() !== "") await git(repository, ["update-ref", "-d", `${BRANCH}${name}`], failed);
  }
  rmSync(place, { recursive: true, force: true });
}

async function sweep(base: string, clock: Pick<Clock, "now">): Promise<void> {
  if (!existsSync(base)) return;
  for (const name of readdirSync(base)) {
    const place = join(base, name);
    const file = join(place, OWNER_FILE);
    const facts = existsSync(file) ? jsonIn(readFileSync(file, "utf8")) : undefined;
    if (!isRecord(facts) || typeof facts.owner !== "string" || typeof facts.repository !== "string") continue;
    if (!isAlive(facts.owner, lstatSync(file).mtimeMs, clock.now())) await remove(place, facts.repository);
  }
}
