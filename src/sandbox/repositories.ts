/**
 * The git repositories of a workspace, and which of their files decide what git runs. Reads the disk, starts no git:
 * a repository is hostile before anybody has looked at it.
 */
import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { configuredPaths, type GitConfiguration, readGitConfiguration } from "./git-configuration.ts";
import type { Placeholder } from "./sandbox.ts";
import { entryAt, inStraight, smallText } from "./straight-folder.ts";

export const MAX_LINK_BYTES = 4096;
const MAX_SUBMODULES = 64;
export const MAX_SWEPT_SUBMODULES = 2_000;
const MAX_LISTED_WORKTREES = 4_096;
/** Each takes up to four mounts. */
const MAX_WORKTREES = 64;
const MAX_SUBMODULE_DEPTH = 6;

/** In a git folder: which object stores of other repositories it borrows from, and thereby which of them commands see. */
export const ALTERNATES = "objects/info/alternates";

/** Stores that lie elsewhere by their names. One in the workspace is there anyway, and a link there is no word of a person. */
export function borrowedOutside(root: string, text: string): string[] {
  return text
    .split("\n")
    .filter((line) => isAbsolute(line))
    .map((line) => resolve(line))
    .filter((path) => !isInside(root, path));
}

export interface SteeringPath {
  readonly path: string;
  readonly missing: Placeholder | "sweep";
  /** A folder in which git runs whatever has the right name, also what a link leads to that is not there yet. */
  readonly isHookFolder?: true;
}

export interface RepositoryPaths {
  /** Writable, but fixed in place. Parents first. */
  readonly pinned: readonly string[];
  /** Decide what git runs; some may not exist. */
  readonly steering: readonly SteeringPath[];
  /** Git folders outside the workspace that its worktree writes to. */
  readonly writable: readonly string[];
}

/** Says that the folder itself is the shared one, which is what git takes for granted where there is no such file. */
export const OWN_COMMON_FOLDER = ".\n";

export interface Person {
  readonly home: string;
  /** Of git, for all repositories. */
  readonly configuration: GitConfiguration;
}

/** `folder` is the workspace or a folder of it with a `.git` in it; all paths are real. */
export function repositoryPaths(root: string, folder: string, person: Person): RepositoryPaths {
  const link = join(folder, ".git");
  const info = entryAt(link);
  if (info === undefined) return { pinned: [], steering: [], writable: [] };
  if (info.isDirectory()) return { ...gitFolder(root, folder, link, person), writable: [] };
  // A link file, or a symlink: where it leads decides what git runs, so it stays as it is.
  const steering = [{ path: link, missing: "sweep" as const }];
  const target = info.isFile() ? worktreeTarget(link) : undefined;
  const pinned = parentsBelow(root, link);
  if (target === undefined) return { pinned, steering, writable: [] };
  const common = gitFolder(root, folder, target.common, person, [target.own]);
  const writable = isInside(root, target.common) ? [] : [target.common];
  return {
    pinned: [...pinned, ...common.pinned.filter((path) => !writable.includes(path))],
    steering: [...steering, ...common.steering],
    writable,
  };
}

/** `worktrees`: folders of linked worktrees in it that count whatever they say of themselves. */
function gitFolder(
  root: string,
  folder: string,
  git: string,
  person: Person,
  worktrees: readonly string[] = [],
): Omit<RepositoryPaths, "writable"> {
  const own = [git, ...submoduleFolders(join(git, "modules"))];
  const configurations = own.map((path) => {
    const files = [join(path, "config"), join(path, "config.worktree")];
    return { path, ...readGitConfiguration(files, person.home) };
  });
  const hookFolders = configurations.flatMap((one) => configuredHooks(root, folder, one, person));
  const included = configurations.flatMap((one) => one.included).filter((path) => isBelow(root, path));
  // A repository that borrows nothing has nothing to fix there.
  const borrowing = own.filter((path) => entryAt(join(path, ALTERNATES)) !== undefined);
  const information = [
    ...own.map((path) => join(path, "info")),
    ...borrowing.flatMap((path) => [join(path, "objects"), join(path, "objects/info")]),
  ];
  const pinned = [...own, ...information, ...hookFolders, ...included].flatMap((path) => [
    ...parentsBelow(root, path),
    ...(own.includes(path) || information.includes(path) ? [path] : []),
  ]);
  const linked = [...new Set([...worktrees, ...worktreesElsewhere(root, git)])];
  // Without that setting git does not read the file.
  const hasWorktreeConfig = configurations.some(
    ({ texts }) => !texts.some((text) => text !== "") || texts.some((text) => /worktreeconfig/i.test(text)),
  );
  const worktreeConfig = hasWorktreeConfig ? { content: "" } : ("sweep" as const);
  return {
    pinned: [...new Set([...pinned, ...linked.flatMap((path) => [dirname(path), path])])],
    steering: [
      ...own.flatMap((path) => [
        { path: join(path, "hooks"), missing: "folder" as const, isHookFolder: true as const },
        { path: join(path, "config"), missing: { content: "" } },
        { path: join(path, "config.worktree"), missing: worktreeConfig },
        { path: join(path, "commondir"), missing: { content: OWN_COMMON_FOLDER } },
        { path: join(path, "info", "attributes"), missing: { content: "" } },
        { path: join(path, ALTERNATES), missing: "sweep" as const },
      ]),
      ...linked.flatMap((path) => [
        { path: join(path, "config.worktree"), missing: worktreeConfig },
        { path: join(path, "commondir"), missing: "sweep" as const },
      ]),
      ...hookFolders.map((path) => ({ path, missing: "folder" as const, isHookFolder: true as const })),
      ...included.map((path) => ({ path, missing: { content: "" } })),
    ],
  };
}

/** Folders of linked worktrees that lie outside of the workspace: what is written there steers git in another place. */
function worktreesElsewhere(root: string, git: string): string[] {
  return (
    entriesOf(join(git, "worktrees"))
      .filter((entry) => entry.isDirectory())
      .slice(0, MAX_LISTED_WORKTREES)
      .map((entry) => join(git, "worktrees", entry.name))
      // The oldest: a command could make many so that others are passed over.
      .map((path) => ({ path, bornMs: entryAt(path)?.birthtimeMs ?? 0 }))
      .sort((a, b) => a.bornMs - b.bornMs)
      .slice(0, MAX_WORKTREES)
      .map(({ path }) => path)
      .filter((path) => !isInside(root, resolve(path, smallText(join(path, "gitdir"), MAX_LINK_BYTES)?.trim() ?? "/")))
  );
}

/** Git folders of submodules of a repository whose work tree is `folder`. For sweeping, so many more are looked for than are mounted. */
export function submodulesOf(folder: string): string[] {
  const link = join(folder, ".git");
  const info = entryAt(link);
  const git = info?.isDirectory() ? link : info?.isFile() ? worktreeTarget(link)?.common : undefined;
  return git === undefined ? [] : submoduleFolders(join(git, "modules"), MAX_SWEPT_SUBMODULES);
}

/** The folders under `.git/modules` that are repositories themselves. */
export function submoduleFolders(modules: string, max = MAX_SUBMODULES): string[] {
  const found: string[] = [];
  const walk = (folder: string, depth: number): void => {
    if (depth > MAX_SUBMODULE_DEPTH || found.length >= max) return;
    for (const entry of entriesOf(folder)) {
      if (!entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      if (entryAt(join(path, "HEAD")) === undefined) walk(path, depth + 1);
      else {
        found.push(path);
        walk(join(path, "modules"), depth + 1);
      }
    }
  };
  walk(modules, 0);
  return found;
}

/** Where `core.hooksPath` of the repository or of the person leads, when that lies in the workspace. */
function configuredHooks(
  root: string,
  folder: string,
  { path: git, texts, hooksPaths }: GitConfiguration & { readonly path: string },
  { home, configuration }: Person,
): string[] {
  const elsewhere = texts
    .flatMap((text) => configuredPaths(text, "worktree", home))
    .map((value) => resolve(git, value));
  const paths = [...hooksPaths, ...configuration.hooksPaths].flatMap((value) =>
    [folder, ...elsewhere].map((from) => resolve(from, value)),
  );
  return [...new Set(paths)].filter((path) => isBelow(root, path));
}

function isBelow(root: string, path: string): boolean {
  return path !== root && isInside(root, path);
}

/**
 * The shared git folder of a linked worktree and its own one in that, if they say so themselves: a link file alone, which
 * a project can bring along, must not make a folder of its choice writable.
 */
export function worktreeTarget(link: string): { readonly common: string; readonly own: string } | undefined {
  const text = smallText(link, MAX_LINK_BYTES);
  const named = /^gitdir: (.+?)\r?\n?$/.exec(text ?? "")?.[1];
  if (named === undefined) return undefined;
  try {
    const git = realpathSync(resolve(dirname(link), named));
    const back = smallText(join(git, "gitdir"), MAX_LINK_BYTES)?.trim();
    if (back === undefined || realpathSync(resolve(git, back)) !== link) return undefined;
    const common = realpathSync(resolve(git, smallText(join(git, "commondir"), MAX_LINK_BYTES)?.trim() ?? ""));
    if (join(common, "worktrees", basename(git)) !== git) return undefined;
    return lstatSync(join(common, "objects")).isDirectory() && lstatSync(join(common, "HEAD")).isFile()
      ? { common, own: git }
      : undefined;
  } catch {
    // A link that leads nowhere: git does not work there, and nothing becomes writable.
    return undefined;
  }
}

/** The folders between the root and the path, outermost first, both left out. */
export function parentsBelow(root: string, path: string): string[] {
  const parents: string[] = [];
  for (let above = dirname(path); isInside(root, above) && above !== root; above = dirname(above))
    parents.unshift(above);
  return parents;
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** Of a folder to which no link leads: a link may lead to names that are no business of a command. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return inStraight(folder, ({ here }) => readdirSync(here, { withFileTypes: true })) ?? [];
  } catch {
    // Not there, or not ours to read; a command could not change it either.
    return [];
  }
}
