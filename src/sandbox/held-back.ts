/** Moves out of the way what took a protected name: to the same place, under a name that nothing reads by itself. */
import { randomInt } from "node:crypto";
import { lstatSync, renameSync } from "node:fs";
import { basename, dirname } from "node:path";
import { openStraight, withRights } from "./straight-folder.ts";

const SUFFIX = ".held-back";
/** Tried in turn. A command can take them all beforehand, so then a number follows that it cannot guess. */
const PLAIN_NAMES = 10;
const MAX_NAMES = 20;
/** Of the name: with more the new one could be too long for the disk. */
const MAX_KEPT_BYTES = 200;
const [LEAST_NUMBER, MOST_NUMBER] = [1e9, 1e12];

export function isHeldBack(name: string): boolean {
  return /\.held-back(?:-\d+)?$/.test(name);
}

/** Says where it went. Throws when there is no way: then the call fails, and says so. Follows no link. */
export function moveAside(path: string): string {
  const folder = openStraight(dirname(path));
  if (folder === undefined)
    throw new Error(`${path} is protected, and Harness cannot move aside what a command put there`);
  try {
    const name = basename(path);
    const kept = Buffer.from(name).subarray(0, MAX_KEPT_BYTES).toString("utf8");
    for (let number = 0; number < MAX_NAMES; number++) {
      const target = `${kept}${SUFFIX}${ending(number)}`;
      const taken = withRights(folder, () => lstatSync(folder.entry(target), { throwIfNoEntry: false }));
      if (taken !== undefined) continue;
      withRights(folder, () => renameSync(folder.entry(name), folder.entry(target)));
      return `Harness moved what the command put there to ${dirname(path)}/${target}`;
    }
  } finally {
    folder.close();
  }
  throw new Error(`${path} is protected, and too many files were already moved aside next to it; remove some`);
}

function ending(number: number): string {
  if (number === 0) return "";
  return `-${number < PLAIN_NAMES ? number : randomInt(LEAST_NUMBER, MOST_NUMBER)}`;
}

/** What sweeping did, one line for each thing, and what it could not do. */
export interface Swept {
  readonly lines: readonly string[];
  readonly failures: readonly Error[];
}

/** Sweeps each of them: what fails for one must not keep the others from it. */
export function sweepEach<Thing>(things: readonly Thing[], sweep: (thing: Thing) => readonly string[]): Swept {
  const lines: string[] = [];
  const failures: Error[] = [];
  for (const thing of things) {
    try {
      lines.push(...sweep(thing));
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)));
    }
  }
  return { lines, failures };
}

export function sweptTogether(all: readonly Swept[]): Swept {
  return { lines: all.flatMap(({ lines }) => lines), failures: all.flatMap(({ failures }) => failures) };
}
