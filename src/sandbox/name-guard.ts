/**
 * Keeps protected names free while a command runs, and afterwards. The sandbox mounts over an empty folder, which it
 * makes itself and which git does not see; here those folders go again when the last command that needs them has ended.
 * What took a protected name all the same is moved aside, never deleted: it could be a person's work.
 */
import { lstatSync, readlinkSync, rmdirSync, symlinkSync } from "node:fs";
import { moveAside } from "./held-back.ts";
import { sweepNewRepository } from "./new-repository.ts";
import type { WatchedName } from "./policy.ts";

export interface NameGuard {
  /** An empty folder stands there because a command is running. */
  isHeld(path: string): boolean;
  /** From now on these are placeholders; the result ends that. */
  hold(paths: readonly string[]): () => void;
  /** After the command: makes the watched names what they were. One line for each that was not. */
  sweep(watched: readonly WatchedName[]): readonly string[];
}

/** One for all commands that run in this process, so that none takes away what another one needs. */
export function createNameGuard(): NameGuard {
  const users = new Map<string, number>();
  function give(path: string): void {
    const left = (users.get(path) ?? 1) - 1;
    if (left > 0) {
      users.set(path, left);
      return;
    }
    users.delete(path);
    try {
      rmdirSync(path);
    } catch {
      // Never made, or not empty any more: then it is nobody's placeholder, and the sweep looks at it.
    }
  }
  return {
    isHeld: (path) => users.has(path),
    hold(paths) {
      for (const path of paths) users.set(path, (users.get(path) ?? 0) + 1);
      return () => paths.forEach(give);
    },
    sweep: (watched) => watched.flatMap((name) => (users.has(name.path) ? [] : restoreName(name))),
  };
}

function restoreName(name: WatchedName): string[] {
  const { path } = name;
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (name.was === "missing" || name.was === "no repository") {
    if (info === undefined) return [];
    if (name.was === "no repository" && info.isDirectory()) return sweepNewRepository(path);
    return [`${path} is protected: ${moveAside(path)}`];
  }
  if (info?.isSymbolicLink() && readlinkSync(path) === name.target) return [];
  const aside = info === undefined ? "it is back" : moveAside(path);
  symlinkSync(name.target, path);
  return [`${path} is protected: ${aside}`];
}
