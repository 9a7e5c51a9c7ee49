/**
 * Reads a small file of the workspace in one go. The same jail as `workspace-files.ts` (real path first, then every folder
 * and the file opened by handle without following links), but without a trip to the thread pool for each of a dozen
 * system calls, which cost ten times as much as they do. Whatever is unusual is left to the slow way, which words it.
 */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";

/** Larger files are read piece by piece, so that nothing else waits for them. */
export const SMALL_FILE_BYTES = 256 * 1024;

const HANDLES = "/proc/self/fd";
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Undefined when it is not a small, plain file inside the workspace, is hidden, or when the system has no handle paths. */
export function readSmallFile(root: string, path: string, isHidden: (real: string) => boolean): Uint8Array | undefined {
  const open: number[] = [];
  const opened = (descriptor: number): number => {
    open.push(descriptor);
    return descriptor;
  };
  try {
    if (path.includes("\0")) return undefined;
    const inside = relative(root, realpathSync.native(resolve(root, path)));
    if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined;
    if (isHidden(inside) || isHidden(relative(root, resolve(root, path)))) return undefined;
    const names = inside.split(sep);
    const last = names.pop() ?? "";
    let folder = opened(openSync(root, FOLDER_FLAGS));
    for (const name of names) folder = opened(openSync(`${HANDLES}/${folder}/${name}`, FOLDER_FLAGS));
    const file = opened(openSync(`${HANDLES}/${folder}/${last}`, FILE_FLAGS));
    const info = fstatSync(file);
    if (!info.isFile() || info.size > SMALL_FILE_BYTES) return undefined;
    // One byte more than it says it has: a file that grows meanwhile is read the slow way.
    const bytes = Buffer.alloc(info.size + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return length === info.size ? bytes.subarray(0, length) : undefined;
  } catch {
    return undefined; // the slow way finds the same and says what it is
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}
