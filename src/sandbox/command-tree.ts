/** Removes folders that commands wrote to. They leave folders without rights in them, as Go does with every module that it fetches. */
import { chmodSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "#base";
import { inStraight } from "./straight-folder.ts";

/** Nobody needs more; what lies deeper stays, and the folders above it. */
const MAX_DEPTH = 200;

/** False when something is still there: a later session tries again, and none is kept from its work. */
export function removeCommandTree(path: string): boolean {
  try {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if (errnoOf(error) !== "EACCES") throw error;
      // No command has a say in what is above it.
      openToOwner(join(realpathSync(dirname(path)), basename(path)), 0);
      rmSync(path, { recursive: true, force: true });
    }
    return true;
  } catch {
    return false;
  }
}

/** Follows no link. */
function openToOwner(folder: string, depth: number): void {
  if (depth > MAX_DEPTH) return;
  inStraight(folder, ({ here }) => {
    chmodSync(here, 0o700);
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      if (entry.isDirectory()) openToOwner(join(folder, entry.name), depth + 1);
    }
  });
}
