/** Lets go of everything that undo keeps for one session, in whatever folder it worked. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "#protocol";
import { createContentStore } from "./content-store.ts";
import { createSeal } from "./seal.ts";
import { createSetLog } from "./set-log.ts";
import { workspaceNames } from "./workspace-name.ts";
import { contentsOf } from "./workspace-undo.ts";

/**
 * Returns in how many workspaces there was something. Contents that other sessions do not need go too; while one of them
 * has a call open there, those of the last minutes stay until the next call makes room.
 */
export function forgetSession(
  { directory, key }: { readonly directory: string; readonly key: Uint8Array },
  session: SessionId,
): number {
  const seal = createSeal(key);
  let found = 0;
  for (const name of workspaceNames(directory)) {
    const folder = join(directory, name);
    const sets = join(folder, "sets", session);
    if (!existsSync(sets)) continue;
    found += 1;
    rmSync(sets, { recursive: true, force: true });
    const left = createSetLog(join(folder, "sets"), seal).read();
    const contents = createContentStore(join(folder, "objects"), seal, () => Date.now());
    // A set that does not open may need any of them.
    if (left.damaged > 0) continue;
    contents.collect(contentsOf(left.sets), { sparesYoung: left.open.length > 0 });
  }
  return found;
}
