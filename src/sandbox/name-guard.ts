/**
 * Keeps protected names free while a command runs, and afterwards. The sandbox mounts over a placeholder: an empty folder,
 * which it makes itself and which git does not see, or inside `.git` a file that says what git assumes without it, made
 * here. They go again when the last command that needs them has ended. What took a protected name all the same is moved
 * aside, never deleted: it could be a person's work.
 */
import { readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf, once } from "#base";
import type { WatchedName } from "./guarded-names.ts";
import { moveAside, type Swept, sweepEach, sweptTogether } from "./held-back.ts";
import type { HeldJournal } from "./held-journal.ts";
import { sweepNewRepository } from "./new-repository.ts";
import type { HeldName, Placeholder } from "./sandbox.ts";
import {
  inStraight,
  linkAbove,
  openStraight,
  type StraightFolder,
  smallText,
  straightEntry,
  withRights,
} from "./straight-folder.ts";

export interface NameGuard {
  /** Before anybody looks at a workspace: resolves when the placeholders of programs that were killed are gone. */
  ready(): Promise<void>;
  /** A placeholder stands there because a command is running. */
  isHeld(path: string): boolean;
  /** From now on these are placeholders until the release. Left out is what the user itself cannot create there. */
  hold(names: readonly HeldName[]): Promise<{ readonly held: readonly HeldName[]; release(): Promise<void> }>;
  /** After the command: makes the watched names what they were. One line for each that was not. */
  sweep(watched: readonly WatchedName[]): Swept;
}

/**
 * One for all commands that run in this process, so that none takes away what another one needs. Without a journal, a program that is
 * killed leaves its placeholders.
 */
export function createNameGuard(journal?: HeldJournal): NameGuard {
  const users = new Map<string, number>();
  /** What is on disk, or may be. */
  const standing = new Map<string, HeldName>();
  /** Once: those of programs that were killed. */
  const swept = once(async () => {
    await journal?.sweep(async (left) => {
      await Promise.all(left.map(({ path, placeholder }) => removePlaceholder(path, placeholder)));
    });
  });
  /** Placeholders that are being removed; whoever wants to hold one waits until it is gone, or its mount would go with it. */
  const leaving = new Map<string, Promise<void>>();
  function give({ path, placeholder }: HeldName): Promise<void> {
    const left = (users.get(path) ?? 1) - 1;
    if (left > 0) {
      users.set(path, left);
      return Promise.resolve();
    }
    users.delete(path);
    const gone = removePlaceholder(path, placeholder).finally(() => {
      leaving.delete(path);
      standing.delete(path);
    });
    leaving.set(path, gone);
    return gone;
  }
  const note = (): void => journal?.write([...standing.values()]);
  const firstLeaving = (names: readonly HeldName[]): Promise<void> | undefined =>
    names.map(({ path }) => leaving.get(path)).find((gone) => gone !== undefined);
  const isHeld = (path: string): boolean => users.has(path) || leaving.has(path);
  return {
    ready: swept,
    isHeld,
    async hold(names) {
      // Again after each wait: another command may have given one back meanwhile.
      for (let next = firstLeaving(names); next !== undefined; next = firstLeaving(names)) await next;
      for (const name of names) standing.set(name.path, name);
      note();
      const held = names.filter(
        ({ path, placeholder }) => placeholder === "folder" || users.has(path) || placeFile(path, placeholder.content),
      );
      for (const { path } of held) users.set(path, (users.get(path) ?? 0) + 1);
      return {
        held,
        // Side by side: the kernel takes a while to forget that something was mounted there.
        async release() {
          await Promise.all(held.map(give));
          for (const { path } of names) if (!isHeld(path)) standing.delete(path);
          note();
        },
      };
    },
    sweep: (watched) => sweptTogether(watched.filter(({ path }) => !isHeld(path)).map(sweepName)),
  };
}

/** False when there is no way to put a file there, which the command has not either. */
function placeFile(path: string, content: string): boolean {
  try {
    return inStraight(dirname(path), ({ entry }) => placeIn(entry(basename(path)), content)) ?? false;
  } catch (error) {
    const code = errnoOf(error);
    // It has come into being since the policy was made: what it is now stays as it is.
    if (code === "EEXIST") return true;
    if (code === "EACCES" || code === "EROFS" || code === "EPERM") return false;
    throw error;
  }
}

function placeIn(path: string, content: string): true {
  writeFileSync(path, content, { flag: "wx" });
  return true;
}

async function removePlaceholder(path: string, placeholder: Placeholder): Promise<void> {
  const folder = openStraight(dirname(path));
  if (folder === undefined) return;
  const place = folder.entry(basename(path));
  try {
    if (placeholder === "folder") await rmdir(place);
    else if (smallText(place, placeholder.content.length) === placeholder.content) await unlink(place);
  } catch {
    // Never made, or not what it was: then it is nobody's placeholder, and the sweep looks at it.
  } finally {
    folder.close();
  }
}

function sweepName(name: WatchedName): Swept {
  const { path } = name;
  if (name.was === "no repository" && straightEntry(path)?.isDirectory() === true) {
    return sweepNewRepository(dirname(path), path);
  }
  if (name.was === "listed") {
    const added = namesIn(path).filter((one) => name.matches(one) && !name.names.includes(one));
    return sweepEach(added, (one) => [`${join(path, one)} is protected: ${moveAside(join(path, one))}`]);
  }
  return sweepEach([name], restoreName);
}

function namesIn(path: string): readonly string[] {
  return inStraight(path, (folder) => withRights(folder, () => readdirSync(folder.here))) ?? [];
}

function restoreName(name: Exclude<WatchedName, { was: "listed" }>): string[] {
  const { path } = name;
  const link = linkAbove(path);
  // No link was above it when the command began.
  if (link !== undefined) return [`${link} leads to a protected name: ${moveAside(link)}`];
  const info = straightEntry(path);
  if (name.was !== "symlink") return info === undefined ? [] : [`${path} is protected: ${moveAside(path)}`];
  const isAsItWas = ({ entry }: StraightFolder): boolean =>
    info?.isSymbolicLink() === true && readlinkSync(entry(basename(path))) === name.target;
  if (inStraight(dirname(path), isAsItWas) === true) return [];
  const aside = info === undefined ? "Harness put it back" : moveAside(path);
  inStraight(dirname(path), ({ entry }) => symlinkSync(name.target, entry(basename(path))));
  return [`${path} is protected: ${aside}`];
}
