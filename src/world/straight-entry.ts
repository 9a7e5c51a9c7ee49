/**
 * Reaches an entry of a folder without following a link on the way: commands write to the workspace while this program reads it, so a
 * folder that was looked at a moment ago may be a link out of it by now. Reads at once, without the thread pool.
 */
import { closeSync, constants, existsSync, openSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

const HANDLES = "/proc/self/fd";
/** A handle that needs no right to list the folder; Node has no name for it. */
const LINUX_O_PATH = 0o10000000;
const FOLDER_FLAGS = LINUX_O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** For a file that is reached so. Without waiting, so that a pipe in its place cannot hold us. */
export const STRAIGHT_READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Calls `use` with a path that names the entry as long as `use` runs. `root` is real, `path` is relative to it and normal. Throws what
 * the system says (ENOENT, ENOTDIR) when a folder on the way is missing or a link.
 */
export function atStraightEntry<Result>(root: string, path: string, use: (place: string) => Result): Result {
  const names = path.split("/");
  const last = names.pop() ?? "";
  if (!existsSync(HANDLES)) {
    // Narrows the gap, and does not close it.
    const folder = dirname(join(root, path));
    if (realpathSync(folder) === folder) return use(join(root, path));
    throw Object.assign(new Error(`${path} is reached through a link`), { code: "ENOTDIR" });
  }
  let handle = openSync(root, FOLDER_FLAGS);
  try {
    for (const name of names) {
      const inner = openSync(`${HANDLES}/${handle}/${name}`, FOLDER_FLAGS);
      closeSync(handle);
      handle = inner;
    }
    return use(`${HANDLES}/${handle}/${last}`);
  } finally {
    closeSync(handle);
  }
}
