/** A file that a person named for a result, with the folders above it. */
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";
import { makeFolder } from "#world";

/** `file` is absolute. Rejects with ConfigInvalid. */
export async function writeNamedFile(file: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(file));
    await writeFile(file, text);
  } catch (error) {
    throw new ReasonError("ConfigInvalid", `cannot write ${file}: ${messageOf(error)}`, { cause: error });
  }
}
