/** Whether a disk has room, for errors of SQLite that do not say. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";

/** With less room than this, SQLite cannot make the file that it shares with other processes, and speaks of an I/O error. */
const SHARED_FILE_BYTES = 64 * 1024;

/** `path`: a file on the disk, which need not exist. */
export function hasNoRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < SHARED_FILE_BYTES;
  } catch {
    return false; // the folder itself cannot be asked; what SQLite said has to do
  }
}
