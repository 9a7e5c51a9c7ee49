/** Where a path leads that the program itself has named. For those that a tool names there is `workspace-path.ts`, which refuses what leads out of it. */
import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { errnoOf } from "#base";

/** Undefined when it leads nowhere, or where nobody may look. */
export function realPathIfThere(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** With links resolved, as far as it is there. `path` is absolute. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) return path;
    return join(realPath(dirname(path)), basename(path));
  }
}

/** `folder` itself is inside. Looks at no disk. */
export function isInside(folder: string, path: string): boolean {
  // Most paths say it themselves, and a start asks about thousands. With `..` in it, a path may lead out again.
  if (folder !== "" && path.startsWith(folder + sep) && !path.includes(`${sep}..`)) return true;
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
