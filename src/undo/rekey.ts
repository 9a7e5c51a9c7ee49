/**
 * Gives what undo keeps another key: every workspace is written anew beside the old one, and the old ones go when the
 * caller says so. Until then both are whole, so that whoever is interrupted begins again.
 */
import { statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory } from "#world";
import { loadBaseline, saveBaseline } from "./baseline.ts";
import type { ChangeSet, MaybeState } from "./change-set.ts";
import { createContentStore } from "./content-store.ts";
import { createSeal, type Seal } from "./seal.ts";
import { createSetLog } from "./set-log.ts";
import { readRoot, workspaceName, workspaceNames, writeRoot } from "./workspace-name.ts";
import { forgetWorkspace } from "./workspace-undo.ts";

export interface UndoRekey {
  /** Workspaces that are under the new key now. */
  readonly moved: number;
  /** Of folders that open under neither key: left as they are. */
  readonly unreadable: number;
  /** Removes what is under the old key. */
  finish(): void;
  /** Removes what is under the new one. */
  abandon(): void;
}

/** Throws what the file system throws; what was there is then as it was. */
export function rekeyUndo(options: {
  readonly directory: string;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}): UndoRekey {
  const { directory } = options;
  const from = createSeal(options.from);
  const to = createSeal(options.to);
  const old: string[] = [];
  const made: string[] = [];
  let unreadable = 0;
  for (const name of workspaceNames(directory)) {
    const folder = join(directory, name);
    const root = readRoot(folder, from);
    if (root === undefined) {
      // An interrupted run may have come this far already.
      if (readRoot(folder, to) === undefined) unreadable += 1;
      continue;
    }
    const target = join(directory, workspaceName(to, root));
    made.push(target);
    try {
      forgetWorkspace(target);
      copyWorkspace(folder, target, from, to, root);
    } catch (error) {
      made.forEach(forgetWorkspace);
      throw error;
    }
    old.push(folder);
  }
  return {
    moved: old.length,
    unreadable,
    finish: () => old.forEach(forgetWorkspace),
    abandon: () => made.forEach(forgetWorkspace),
  };
}

function copyWorkspace(folder: string, target: string, from: Seal, to: Seal, root: string): void {
  makePrivateDirectory(target);
  const names = copyContents(join(folder, "objects"), join(target, "objects"), from, to);
  const source = createSetLog(join(folder, "sets"), from).read();
  const sets = createSetLog(join(target, "sets"), to);
  for (const set of source.sets) sets.save(renamed(set, names));
  for (const call of source.open) sets.begin(call);
  const known = loadBaseline(join(folder, "baseline"), from, (hash) => names.has(hash)).map(
    ([path, entry]) =>
      [path, entry.state === undefined ? entry : { ...entry, state: renamedState(entry.state, names) }] as const,
  );
  if (known.length > 0) saveBaseline(join(target, "baseline"), to, new Map(known));
  // Last: a folder without it is one that was not finished.
  writeRoot(target, to, root);
  const { atime, mtime } = statSync(folder);
  utimesSync(target, atime, mtime);
}

/** Old names to new ones. What does not open is left behind: undo would not use it either. */
function copyContents(source: string, target: string, from: Seal, to: Seal): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const kept = createContentStore(source, from, () => Date.now());
  const copies = createContentStore(target, to, () => Date.now());
  for (const name of kept.names()) {
    const content = kept.get(name);
    if (content !== undefined) names.set(name, copies.put(content));
  }
  return names;
}

function renamed(set: ChangeSet, names: ReadonlyMap<string, string>): ChangeSet {
  const files = set.files.map(({ path, before, after }) => ({
    path,
    before: renamedState(before, names),
    after: renamedState(after, names),
  }));
  return { ...set, files };
}

/** A content that is not kept has no new name; under its old one it is like nothing that is there, which is a conflict. */
function renamedState<State extends MaybeState>(state: State, names: ReadonlyMap<string, string>): State {
  if (state === null || state.kind !== "file") return state;
  return { ...state, hash: names.get(state.hash) ?? state.hash };
}
