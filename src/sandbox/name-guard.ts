/**
 * Keeps protected names free while a command runs, and afterwards. The sandbox mounts over a placeholder: an empty folder,
 * which it makes itself and which git does not see, or inside `.git` a file that says what git assumes without it, made
 * here. They go again when the last command that needs them has ended. What took a protected name all the same is moved
 * aside, never deleted: it could be a person's work.
 */
import { lstatSync, readFileSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { moveAside } from "./held-back.ts";
import { sweepNewRepository } from "./new-repository.ts";
import type { WatchedName } from "./policy.ts";
import type { HeldName, Placeholder } from "./sandbox.ts";

export interface NameGuard {
  /** A placeholder stands there because a command is running. */
  isHeld(path: string): boolean;
  /** From now on these are placeholders until the release. Left out is what the user itself cannot create there. */
  hold(names: readonly HeldName[]): { readonly held: readonly HeldName[]; release(): void };
  /** After the command: makes the watched names what they were. One line for each that was not. */
  sweep(watched: readonly WatchedName[]): readonly string[];
}

/** One for all commands that run in this process, so that none takes away what another one needs. */
export function createNameGuard(): NameGuard {
  const users = new Map<string, number>();
  function give({ path, placeholder }: HeldName): void {
    const left = (users.get(path) ?? 1) - 1;
    if (left > 0) {
      users.set(path, left);
      return;
    }
    users.delete(path);
    removePlaceholder(path, placeholder);
  }
  return {
    isHeld: (path) => users.has(path),
    hold(names) {
      const held = names.filter(
        ({ path, placeholder }) => placeholder === "folder" || users.has(path) || placeFile(path, placeholder.content),
      );
      for (const { path } of held) users.set(path, (users.get(path) ?? 0) + 1);
      return { held, release: () => held.forEach(give) };
    },
    sweep: (watched) => watched.flatMap((name) => (users.has(name.path) ? [] : restoreName(name))),
  };
}

/** False when there is no way to put a file there, which the command has not either. */
function placeFile(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: "wx" });
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // It has come into being since the policy was made: what it is now stays as it is.
    if (code === "EEXIST") return true;
    if (code === "EACCES" || code === "EROFS" || code === "EPERM") return false;
    throw error;
  }
}

function removePlaceholder(path: string, placeholder: Placeholder): void {
  try {
    if (placeholder === "folder") rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, "utf8") === placeholder.content) unlinkSync(path);
  } catch {
    // Never made, or not what it was: then it is nobody's placeholder, and the sweep looks at it.
  }
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
