/**
 * Temporary files of quick tests lie in memory where the machine has such a folder with enough room: most of what they wait for
 * otherwise is a disk that writes databases for good. Elsewhere they stay in the usual folder. Campaigns always use the disk.
 */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "/dev/shm";
const PREFIX = "ht-";
/** Several times what a whole run has at any moment. */
const ROOM_BYTES = 2 * 1024 ** 3;

/** Several projects of one run share the folder of the first. */
export function setup(): (() => void) | undefined {
  if (process.env.TMPDIR?.startsWith(join(FOLDER, PREFIX)) === true || !hasRoom()) return undefined;
  // Short: the path of a socket has to fit into a hundred characters.
  const folder = mkdtempSync(join(FOLDER, PREFIX));
  // Some tests run a program as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  // What one program that a test starts from the sources has compiled serves all others.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    accessSync(FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(FOLDER);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false; // no such folder on this system
  }
}
