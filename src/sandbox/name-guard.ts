/**
 * Keeps protected names free while a command runs, and afterwards. The sandbox mounts over a placeholder: an empty folder,
 * which it makes itself and which git does not see, or inside `.git` a file that says what git assumes without it, made
 * here. They go again when the last command that needs them has ended. What took a protected name all the same is moved
 * aside, never deleted: it could be a person's work.
 */
import { lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { rmdir, unlink } from "node:fs/promises";
import { moveAside } from "./held-back.ts";
import { sweepNewRepository } from "./new-repository.ts";
import type { WatchedName } from "./policy.ts";
import type { HeldName, Placeholder } from "./sandbox.ts";

export interface NameGuard {
  /** A placeholder stands there because a command is running. */
  isHeld(path: string): boolean;
  /** From now on these are placeholders until the release. Left out is what the user itself cannot create there. */
  hold(names: readonly HeldName[]): Promise<{ readonly held: readonly HeldName[]; release(): Promise<void> }>;
  /** After the command: makes the watched names what they were. One line for each that was not. */
  sweep(watched: readonly WatchedName[]): readonly string[];
}

/** One for all commands that run in this process, so that none takes away what another one needs. */
export function createNameGuard(): NameGuard {
  const users = new Map<string, number>();
  /** Placeholders that are being removed; whoever wants to hold one waits until it is gone, or its mount would go with it. */
  const leaving = new Map<string, Promise<void>>();
  function give({ path, placeholder }: HeldName): Promise<void> {
    const left = (users.get(path) ?? 1) - 1;
    if (left > 0) {
      users.set(path, left);
      return Promise.resolve();
    }
    users.delete(path);
    const gone = removePlaceholder(path, placeholder).finally(() => leaving.delete(path));
    leaving.set(path, gone);
    return gone;
  }
  const firstLeaving = (names: readonly HeldName[]): Promise<void> | undefined =>
    names.map(({ path }) => leaving.get(path)).find((gone) => gone !== undefined);
  const isHeld = (path: string): boolean => users.has(path) || leaving.has(path);
  return {
    isHeld,
    async hold(names) {
      // Again after each wait: another command may have given one back meanwhile.
      for (let next = firstLeaving(names); next !== undefined; next = firstLeaving(names)) await next;
      const held = names.filter(
        ({ path, placeholder }) => placeholder === "folder" || users.has(path) || placeFile(path, placeholder.content),
      );
      for (const { path } of held) users.set(path, (users.get(path) ?? 0) + 1);
      return {
        held,
        // Side by side: the kernel takes a while to forget that something was mounted there.
        release: async () => void (await Promise.all(held.map(give))),
      };
    },
    sweep: (watched) => watched.flatMap((name) => (isHeld(name.path) ? [] : restoreName(name))),
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

async function removePlaceholder(path: string, placeholder: Placeholder): Promise<void> {
  try {
    if (placeholder === "folder") await rmdir(path);
    else if (lstatSync(path).isFile() && readFileSync(path, "utf8") === placeholder.content) await unlink(path);
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
