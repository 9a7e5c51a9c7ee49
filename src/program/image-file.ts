/** An image that a person names on the command line, as a block of their input. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { errnoOf, messageOf } from "#base";
import { type InputBlock, ReasonError } from "#protocol";
import { imageType } from "#tools";

const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Throws UsageInvalid for what is not an image that models take. */
export async function readImageFile(cwd: string, named: string): Promise<InputBlock> {
  const path = resolve(cwd, named);
  const refuse = (why: string): ReasonError => new ReasonError("UsageInvalid", { detail: `--image ${named}: ${why}` });
  try {
    const { size } = await stat(path);
    if (size > MAX_IMAGE_BYTES) throw refuse(`the file has ${size} bytes; send at most ${MAX_IMAGE_BYTES} (5 MiB)`);
    const bytes = await readFile(path);
    const media_type = imageType(bytes);
    if (media_type === undefined) throw refuse("this is not a PNG, JPEG, GIF or WebP image");
    return { type: "image", media_type, data: bytes.toString("base64") };
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    if (errnoOf(error) === "ENOENT") throw refuse("there is no such file");
    throw refuse(messageOf(error));
  }
}
