/** From a workspace to the policy of one command: looks at the disk as it is now, changes nothing. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { protectedNames, realPathIfThere } from "#base";
import { hiddenPaths, kernelSwitches, shownFiles } from "./hidden-paths.ts";
import { parentsBelow, type RepositoryPaths, repositoryPaths } from "./repositories.ts";
import type { HeldName, SandboxNetwork, SandboxPolicy } from "./sandbox.ts";

export interface PolicyOptions {
  /** The workspace, absolute and real. */
  readonly root: string;
  readonly homes: readonly string[];
  /** Files and folders of the harness itself: log, keys, configuration, what undo keeps. */
  readonly ownPaths: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tmp: string;
  readonly emptyFile: string;
  readonly network: SandboxNetwork;
  /** Folders of the workspace that are repositories of their own. */
  readonly nested: readonly string[];
  /** Whether what stands there is a placeholder of another command. */
  readonly isHeld: (path: string) => boolean;
}

/** A protected name that the kernel cannot hold, and how it must still be when the command has ended. */
export type WatchedName =
  | { readonly path: string; readonly was: "missing" }
  /** The `.git` of a workspace that is no repository; a command may begin one. */
  | { readonly path: string; readonly was: "no repository" }
  | { readonly path: string; readonly was: "symlink"; readonly target: string };

export interface PlannedPolicy {
  readonly policy: SandboxPolicy;
  readonly watched: readonly WatchedName[];
}

/** A string says why this workspace cannot be put into a sandbox. */
export function planPolicy(options: PolicyOptions): PlannedPolicy | string {
  const { root, homes, ownPaths, env, tmp, emptyFile, network, isHeld } = options;
  if (root === "/") return "the workspace is the whole file system";
  const hidden = hiddenPaths({ homes, ownPaths, env });
  const around = hidden.find(({ path }) => root === path || root.startsWith(`${path}/`));
  if (around !== undefined && around.path !== "/run") {
    return `the workspace lies in ${around.path}, which commands must not see`;
  }
  const repositories = [root, ...options.nested].map((folder) => repositoryPaths(root, folder));
  const { pinned: fixed, steering, writable } = merged(repositories);
  // A hidden file in the workspace would show again when a folder above it were called something else.
  const pinned = [...fixed, ...hidden.flatMap(({ path }) => parentsBelow(root, path))];
  const isHome = homes.some((home) => realPathIfThere(home) === root);
  const names = [
    ...protectedNames(isHome).map(({ name, missing }) => {
      return { path: join(root, name), missing: missing === "hold" ? ("folder" as const) : missing };
    }),
    ...steering,
  ];
  const readOnly: string[] = [];
  const held: HeldName[] = [];
  // Most names lie in the same few folders.
  const straight = new Map<string, boolean>([[root, true]]);
  const isStraight = (folder: string): boolean => {
    const known = straight.get(folder) ?? realPathIfThere(folder) === folder;
    straight.set(folder, known);
    return known;
  };
  const git = join(root, ".git");
  const watched: WatchedName[] =
    lstatSync(git, { throwIfNoEntry: false }) === undefined ? [{ path: git, was: "no repository" }] : [];
  for (const { path, missing } of names) {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined || isHeld(path)) {
      // Below a folder that is not there, or is a link, nothing can stand.
      if (missing !== "sweep" && isStraight(dirname(path))) held.push({ path, placeholder: missing });
      // Also what is held: the placeholder could go away while the command runs.
      watched.push({ path, was: "missing" });
    } else if (info.isSymbolicLink()) {
      watched.push({ path, was: "symlink", target: readlinkSync(path) });
      const real = realPathIfThere(path);
      if (real !== undefined && real !== root && real.startsWith(`${root}/`)) {
        readOnly.push(real);
        pinned.push(...parentsBelow(root, real));
      }
    } else {
      readOnly.push(path);
    }
  }
  return {
    policy: {
      root,
      writable,
      // A folder is mounted before what is in it; the shorter path is never the inner one.
      pinned: [...new Set(pinned)].sort((a, b) => a.length - b.length),
      readOnly: [...new Set(readOnly)],
      held,
      hidden,
      kernel: kernelSwitches(),
      shown: shownFiles(hidden),
      tmp,
      emptyFile,
      network,
    },
    watched,
  };
}

function merged(all: readonly RepositoryPaths[]): RepositoryPaths {
  return {
    pinned: all.flatMap((one) => one.pinned),
    steering: all.flatMap((one) => one.steering),
    writable: [...new Set(all.flatMap((one) => one.writable))],
  };
}
