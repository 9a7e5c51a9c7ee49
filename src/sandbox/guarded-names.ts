/**
 * Which names of a workspace a command must not change, and how each is kept: mounted read-only, held free by a placeholder, or looked
 * at when the command has ended. Follows links to their end, and changes nothing.
 */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { protectedNames, protectedPatterns } from "#base";
import { realPathIfThere } from "#world";
import { readGitConfiguration } from "./git-configuration.ts";
import {
  entriesOf,
  isInside,
  parentsBelow,
  type RepositoryPaths,
  repositoryPaths,
  type SteeringPath,
} from "./repositories.ts";
import type { HeldName, HiddenPath, SandboxPolicy } from "./sandbox.ts";
import { entryAt, linkAbove } from "./straight-folder.ts";

/** The kernel follows no more of them in one path. */
const MAX_LINKS = 40;
const MAX_LINKS_IN_FOLDER = 256;

export interface RepositoryOptions {
  /** The workspace, absolute and real. */
  readonly root: string;
  readonly home: string;
  /** Files in which the person and the machine configure git for all repositories; some may not exist. */
  readonly gitConfigurations: readonly string[];
  /** Folders of the workspace that are repositories of their own. */
  readonly nested: readonly string[];
}

export interface GuardOptions extends RepositoryOptions {
  /** Whether what stands there is a placeholder of another command. */
  readonly isHeld: (path: string) => boolean;
  /** A person agreed that this command changes git's settings. */
  readonly mayChangeSteering: boolean;
}

/** A protected name that the kernel cannot hold, and how it must still be when the command has ended. */
export type WatchedName =
  | { readonly path: string; readonly was: "missing" }
  /** The `.git` of a workspace that is no repository; a command may begin one. */
  | { readonly path: string; readonly was: "no repository" }
  | { readonly path: string; readonly was: "symlink"; readonly target: string }
  /** A folder in which no other names of this kind may appear than those that were there. */
  | {
      readonly path: string;
      readonly was: "listed";
      readonly names: readonly string[];
      matches(name: string): boolean;
    };

export interface GuardedNames extends Pick<SandboxPolicy, "pinned" | "readOnly" | "held"> {
  readonly writable: readonly string[];
  readonly watched: readonly WatchedName[];
}

/** Files and folders of the workspace that git's configuration makes steering files: folders of hooks, further configuration. Absolute. */
export function namedByGit({ root, home, gitConfigurations, nested }: RepositoryOptions): string[] {
  const person = { home, configuration: readGitConfiguration(gitConfigurations, home) };
  const { steering } = merged([root, ...nested].map((folder) => repositoryPaths(root, folder, person)));
  const all = [...steering.map(({ path }) => path), ...person.configuration.included];
  // Also where a link leads.
  return [...new Set(all.flatMap((path) => [path, realPathIfThere(path) ?? path]))].filter(
    (path) => path !== root && isInside(root, path),
  );
}

/** Steering files: what is there is read-only, what is not there is held or watched. */
export function guardNames(options: GuardOptions, hidden: readonly HiddenPath[]): GuardedNames {
  const { root, home, nested, isHeld, mayChangeSteering } = options;
  const person = { home, configuration: readGitConfiguration(options.gitConfigurations, home) };
  const {
    pinned: fixed,
    steering,
    writable,
  } = merged([root, ...nested].map((folder) => repositoryPaths(root, folder, person)));
  // A hidden file in the workspace would show again when a folder above it were called something else.
  const pinned = [...fixed, ...hidden.flatMap(({ path }) => parentsBelow(root, path))];
  const listed = protectedPatterns().map(({ folder, matches }) => {
    const path = join(root, folder);
    const there = entriesOf(path).map(({ name }) => name);
    return { path, was: "listed" as const, names: there.filter(matches), matches };
  });
  const names: (SteeringPath & { readonly links?: number })[] = [
    ...protectedNames().map(({ name, missing }) => {
      return { path: join(root, name), missing: missing === "hold" ? ("folder" as const) : missing };
    }),
    ...listed.flatMap(({ path, names: there }) =>
      there.map((name) => ({ path: join(path, name), missing: "sweep" as const })),
    ),
    ...person.configuration.included.map((path) => ({ path, missing: { content: "" } })),
    ...(mayChangeSteering ? [] : steering),
  ];
  const readOnly: string[] = [];
  const held: HeldName[] = [];
  const isStraight = straightFolders(root);
  const git = join(root, ".git");
  const watched: WatchedName[] = [
    ...listed,
    ...(entryAt(git) === undefined ? [{ path: git, was: "no repository" as const }] : []),
  ];
  const places = [root, ...writable];
  const seen = new Set<string>();
  for (let next = names.shift(); next !== undefined; next = names.shift()) {
    const { path, missing, isHookFolder, links = 0 } = next;
    // What lies elsewhere the command cannot change.
    if (seen.has(path) || path === root || !places.some((place) => isInside(place, path))) continue;
    seen.add(path);
    const info = isHeld(path) ? undefined : entryAt(path);
    const link = linkAbove(path) ?? (info?.isSymbolicLink() ? path : undefined);
    if (link !== undefined) {
      const target = readlinkSync(link);
      watched.push({ path: link, was: "symlink", target });
      // Protected is also where it leads, in each part of the way.
      const led = join(resolve(dirname(link), target), path.slice(link.length));
      pinned.push(...parentsBelow(root, led));
      const kept = {
        missing: missing === "folder" ? missing : ("sweep" as const),
        ...(isHookFolder && { isHookFolder }),
      };
      if (links < MAX_LINKS) names.push({ path: led, ...kept, links: links + 1 });
    } else if (info === undefined) {
      // Below a folder that is not there nothing can stand.
      if (missing !== "sweep" && isStraight(dirname(path))) held.push({ path, placeholder: missing });
      // Also what is held: the placeholder could go away while the command runs.
      watched.push({ path, was: "missing" });
    } else {
      readOnly.push(path);
      pinned.push(...parentsBelow(root, path));
      if (info.isDirectory()) names.push(...linksIn(path, isHookFolder === true));
    }
  }
  return {
    // A folder is mounted before what is in it; the shorter path is never the inner one. What is not there has nothing to pin.
    pinned: [...new Set(pinned)].filter(isStraight).sort((a, b) => a.length - b.length),
    readOnly: [...new Set(readOnly)],
    held,
    writable,
    watched,
  };
}

/** Files that links in a protected folder lead to. Of hooks also what is not there: git runs it as soon as it is. */
function linksIn(folder: string, isHookFolder: boolean): SteeringPath[] {
  return entriesOf(folder)
    .filter((entry) => entry.isSymbolicLink())
    .slice(0, MAX_LINKS_IN_FOLDER)
    .map(({ name }) => join(folder, name))
    .filter((path) => {
      const real = realPathIfThere(path);
      return real === undefined ? isHookFolder : lstatSync(real).isFile();
    })
    .map((path) => ({ path, missing: "folder" }));
}

/** Whether a folder is there, and no part of its path is a link. Most names lie in the same few folders. */
function straightFolders(root: string): (folder: string) => boolean {
  const known = new Map<string, boolean>([[root, true]]);
  return (folder) => {
    const straight = known.get(folder) ?? (realPathIfThere(folder) === folder && lstatSync(folder).isDirectory());
    known.set(folder, straight);
    return straight;
  };
}

function merged(all: readonly RepositoryPaths[]): RepositoryPaths {
  return {
    pinned: all.flatMap((one) => one.pinned),
    steering: all.flatMap((one) => one.steering),
    writable: [...new Set(all.flatMap((one) => one.writable))],
  };
}
