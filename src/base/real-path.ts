/** Where a path of the program leads. For paths of the workspace there is `workspace-path.ts`, which refuses what leads out of it. */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "./thrown.ts";

/** With links resolved, as far as it is there. `path` is absolute. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT" || dirname(path) === path) return path;
    return join(realPath(dirname(path)), basename(path));
  }
}
