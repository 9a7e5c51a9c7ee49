/** What a person sends with an input, from a file that they name or from bytes: an image or a text file, as a block. */
import { constants, type FileHandle, open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { errnoOf, messageOf } from "#base";
import { type InputBlock, ReasonError } from "#protocol";
import { binaryKind, decodeText, imageType } from "#tools";

export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const IMAGE_LIMIT: Limit = { bytes: MAX_IMAGE_BYTES, what: "the image", words: " (5 MiB)" };
/** No text of as many characters as an input may have in files is larger. */
const TEXT_LIMIT: Limit = { bytes: 1_600_000, what: "the file", words: "" };

interface Limit {
  readonly bytes: number;
  readonly what: string;
  readonly words: string;
}

/** Throws UsageInvalid for what is not an image that models take. `called` is what the person reads: where it came from. */
export async function readImageFile(cwd: string, named: string, called = `--image ${named}`): Promise<InputBlock> {
  return imageBlock(await readBytes(resolve(cwd, named), called, IMAGE_LIMIT), called);
}

/** As `readImageFile`, of bytes that came from elsewhere. */
export function imageBlock(bytes: Uint8Array, called: string): InputBlock {
  if (bytes.length > MAX_IMAGE_BYTES) throw tooLarge(called, bytes.length, IMAGE_LIMIT);
  const media_type = imageType(bytes);
  if (media_type === undefined) throw refused(called, "this is not a PNG, JPEG, GIF or WebP image");
  return { type: "image", media_type, data: Buffer.from(bytes).toString("base64") };
}

/** Throws UsageInvalid for what is not text. Whether its name and its length are right is for the edge to say. */
export async function readTextFile(cwd: string, named: string): Promise<InputBlock> {
  const called = `--file ${named}`;
  const bytes = await readBytes(resolve(cwd, named), called, TEXT_LIMIT);
  const text = decodeText(bytes);
  if (text === undefined) throw refused(called, `only UTF-8 text can be sent, and this is ${binaryKind(bytes)}`);
  return { type: "file", name: basename(named), text };
}

async function readBytes(path: string, called: string, limit: Limit): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    // A pipe in its place would keep us waiting.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const info = await file.stat();
    if (!info.isFile()) throw refused(called, "this is not a file");
    if (info.size > limit.bytes) throw tooLarge(called, info.size, limit);
    return await file.readFile();
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    throw refused(called, errnoOf(error) === "ENOENT" ? "there is no such file" : messageOf(error));
  } finally {
    await file?.close();
  }
}

function tooLarge(called: string, bytes: number, { bytes: limit, what, words }: Limit): ReasonError {
  return refused(called, `${what} has ${bytes} bytes; send at most ${limit}${words}`);
}

function refused(called: string, why: string): ReasonError {
  return new ReasonError("UsageInvalid", `${called}: ${why}`);
}
