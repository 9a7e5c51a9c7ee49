/**
 * Fixes the folders in which other things are mounted. Commands write to the home and to `/tmp` of their session, and what lies deeper
 * in them is mounted again for the next command. A folder on the way there that a command had replaced by a link would lead bubblewrap
 * out of the sandbox: it makes missing mount points, wherever the link leads. What is itself a mount point cannot be replaced.
 */
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { EffectError, errnoOf } from "#base";
import { isInside, parentsBelow } from "./repositories.ts";
import type { Mount, Scratch } from "./sandbox.ts";

/** A folder of the session that is mounted where it stands anyway. */
export interface MountPin {
  readonly path: string;
  readonly from: string;
}

/** Parents first. `writable` are folders that are mounted on themselves. */
export function mountPins(
  scratch: readonly Scratch[],
  placed: readonly Mount[],
  writable: readonly string[],
): readonly MountPin[] {
  const taken = new Set([...scratch.map(({ path }) => path), ...placed.map(({ to }) => to)]);
  const pins = [...taken, ...writable].flatMap((destination) => {
    const around = scratch.filter(({ path }) => path !== destination && isInside(path, destination));
    const inner = around.toSorted((a, b) => b.path.length - a.path.length)[0];
    if (inner === undefined || !("from" in inner)) return [];
    return parentsBelow(inner.path, destination)
      .filter((path) => !placed.some(({ to }) => isInside(to, path)))
      .map((path) => ({ path, from: join(inner.from, path.slice(inner.path.length)) }));
  });
  const byPath = new Map(pins.map((pin) => [pin.path, pin]));
  return [...byPath.values()].filter(({ path }) => !taken.has(path)).sort((a, b) => a.path.length - b.path.length);
}

/** Before each command; the first one of a session finds none of them. Throws when something else took the place of one. */
export function makePins(pins: readonly MountPin[]): void {
  for (const { path, from } of pins) {
    try {
      mkdirSync(from, { mode: 0o700 });
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      if (lstatSync(from).isDirectory()) continue;
      throw new EffectError("SandboxUnavailable", `${path} is not a folder; the command did not run`, { cause: error });
    }
  }
}
