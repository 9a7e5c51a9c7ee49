/** Cassettes on disk: read whole, written whole or not at all. */
import { open, readFile, stat, unlink } from "node:fs/promises";
import { fileErrorText, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { writePrivateFile } from "#world";
import { parseCassette } from "./cassette-text.ts";
import type { Cassette } from "./entries.ts";

/** Larger than any that is written. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Throws CassetteInvalid. */
export async function readCassette(file: string): Promise<Cassette> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
    text = await readFile(file, "utf8");
  } catch (error) {
    const detail = fileErrorText(error, file) ?? `cannot be read: ${messageOf(error)}`;
    throw new ReasonError("CassetteInvalid", { place: file, detail }, { cause: error });
  }
  return parseCassette(file, text);
}

/** Tells before a session is run whether its cassette could be put there. */
export async function checkPlace(file: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await (await open(draft, "wx", 0o600)).close();
    await unlink(draft);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new ReasonError("CassetteNotWritten", detail, { cause: error });
  }
}

export async function writeCassette(file: string, text: string): Promise<void> {
  writePrivateFile(file, text, { durable: true });
}
