/**
 * Where undo keeps what calls have changed: one folder for each workspace below one directory, everything in it sealed
 * with the key that is handed in and readable by its owner alone.
 */
import { realpathSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base";
import { makePrivateDirectory, realPath } from "#world";
import { createSeal } from "./seal.ts";
import { readRoot, workspaceName, workspaceNames, writeRoot } from "./workspace-name.ts";
import { forgetWorkspace, openWorkspaceUndo, type UndoLimits, type WorkspaceUndo } from "./workspace-undo.ts";

const MIB = 1024 * 1024;

export const defaultUndoLimits: UndoLimits = {
  maxStoreBytes: 512 * MIB,
  maxFileBytes: 16 * MIB,
  maxEntries: 100_000,
  maxSets: 2_000,
  maxAgeMs: 30 * 24 * 60 * 60 * 1000,
  maxWorkspaces: 16,
};

export interface UndoStoreOptions {
  /** Made when it is missing. */
  readonly directory: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Pick<Clock, "now">;
  /** Absolute paths of the program's own files: never looked at, never restored. The store itself is always one. */
  readonly ownPaths?: readonly string[];
  readonly limits?: Partial<UndoLimits>;
  /** The time by which change sets become old, of a wall clock that may have leapt ahead. Default: the wall clock. */
  readonly settled?: () => number;
}

export interface UndoStore {
  /** The record of the workspace at this path, which must exist. */
  workspace(root: string): WorkspaceUndo;
}

/** Throws KeyInvalid for a key of the wrong size. Touches the disk only when a workspace is opened. */
export function createUndoStore(options: UndoStoreOptions): UndoStore {
  const { directory, key, clock, ownPaths = [], limits, settled = () => clock.now() } = options;
  const seal = createSeal(key);
  const bounds: UndoLimits = { ...defaultUndoLimits, ...limits };
  const opened = new Map<string, WorkspaceUndo>();
  return {
    workspace(path) {
      const root = realpathSync(path);
      const known = opened.get(root);
      if (known !== undefined) return known;
      const name = workspaceName(seal, root);
      makePrivateDirectory(directory);
      const folder = join(directory, name);
      const workspace = openWorkspaceUndo({
        directory: folder,
        root,
        seal,
        clock,
        settled,
        limits: bounds,
        ownPaths: [directory, ...ownPaths].flatMap((path) => [path, realPath(path)]),
      });
      if (readRoot(folder, seal) !== root) writeRoot(folder, seal, root);
      const now = new Date();
      utimesSync(folder, now, now); // says when it was last used
      dropUnused(directory, name, bounds.maxWorkspaces);
      opened.set(root, workspace);
      return workspace;
    },
  };
}

function dropUnused(directory: string, used: string, maxWorkspaces: number): void {
  const others = workspaceNames(directory).filter((name) => name !== used);
  if (others.length < maxWorkspaces) return;
  const byAge = others
    .map((name) => ({ name, usedMs: statSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => a.usedMs - b.usedMs);
  for (const { name } of byAge.slice(0, others.length - maxWorkspaces + 1)) forgetWorkspace(join(directory, name));
}
