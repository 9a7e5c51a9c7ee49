/** An image that a person sends, from a file that they name or from bytes, as a block of their input. */
import { constants, type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { errnoOf, messageOf } from "#base";
import { type InputBlock, ReasonError } from "#protocol";
import { imageType } from "#tools";

export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Throws UsageInvalid for what is not an image that models take. `called` is what the person reads: where it came from. */
export async function readImageFile(cwd: string, named: string, called = `--image ${named}`): Promise<InputBlock> {
  let file: FileHandle | undefined;
  try {
    // A pipe in its place would keep us waiting.
    file = await open(resolve(cwd, named), constants.O_RDONLY | constants.O_NONBLOCK);
    const info = await file.stat();
    if (!info.isFile()) throw refused(called, "this is not a file");
    if (info.size > MAX_IMAGE_BYTES) throw tooLarge(called, info.size);
    return imageBlock(await file.readFile(), called);
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    throw refused(called, errnoOf(error) === "ENOENT" ? "there is no such file" : messageOf(error));
  } finally {
    await file?.close();
  }
}

/** As `readImageFile`, of bytes that came from elsewhere. */
export function imageBlock(bytes: Uint8Array, called: string): InputBlock {
  if (bytes.length > MAX_IMAGE_BYTES) throw tooLarge(called, bytes.length);
  const media_type = imageType(bytes);
  if (media_type === undefined) throw refused(called, "this is not a PNG, JPEG, GIF or WebP image");
  return { type: "image", media_type, data: Buffer.from(bytes).toString("base64") };
}

function tooLarge(called: string, bytes: number): ReasonError {
  return refused(called, `the image has ${bytes} bytes; send at most ${MAX_IMAGE_BYTES} (5 MiB)`);
}

function refused(called: string, why: string): ReasonError {
  return new ReasonError("UsageInvalid", `${called}: ${why}`);
}
