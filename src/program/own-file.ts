/** Files in the user's own folders that take effect without an ack: nobody else may be able to write them. */
import { lstat, readdir, readFile } from "node:fs/promises";
import { errnoOf, messageOf } from "#base";
import { ReasonError } from "#protocol";

export const OWN_FILE_MAX_BYTES = 256 * 1024;

/** Undefined when it is not there. Rejects with ConfigInvalid for a file that is too large, or that others may write. */
export async function ownText(file: string): Promise<string | undefined> {
  try {
    const stats = await lstat(file);
    const { mode, size, uid } = stats;
    const refused = !stats.isFile()
      ? "is a link or not an ordinary file: put the file itself there"
      : size > OWN_FILE_MAX_BYTES
        ? `is larger than ${OWN_FILE_MAX_BYTES} bytes`
        : (mode & 0o022) !== 0 || (process.getuid !== undefined && uid !== process.getuid())
          ? "can be written by others: make it yours alone with chmod go-w"
          : undefined;
    if (refused !== undefined) throw new ReasonError("ConfigInvalid", `${file} ${refused}`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    if (errnoOf(error) === "ENOENT") return undefined;
    throw new ReasonError("ConfigInvalid", `cannot read ${file}: ${messageOf(error)}`);
  }
}

/** Sorted names in a folder that end so; none where there is no folder. Rejects with ConfigInvalid. */
export async function namesIn(folder: string, ending: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(ending)).toSorted();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw new ReasonError("ConfigInvalid", `cannot read ${folder}: ${messageOf(error)}`);
  }
}
