/** Where memories are kept: one folder for those of the user, one for each project. Computes paths only. */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { OwnScope } from "#base";

const HASH_CHARS = 12;
const MAX_NAME_CHARS = 40;

/** `dataDir` is that of the program; `root` the real path of the workspace. */
export function memoryFolders(dataDir: string, root: string): Readonly<Record<OwnScope, string>> {
  const hash = createHash("sha256").update(root).digest("hex").slice(0, HASH_CHARS);
  // The name is for people, the hash tells folders of one name apart.
  const name = basename(root)
    .replace(/[^\w.-]/g, "_")
    .slice(0, MAX_NAME_CHARS);
  const base = join(dataDir, "memory");
  return { user: join(base, "user"), project: join(base, "projects", `${name}-${hash}`) };
}
