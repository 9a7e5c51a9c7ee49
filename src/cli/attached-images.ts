/**
 * The images of a conversation that is typed here. Each stands in the text as a mark, such as `[image 1: shot.png]`, and joins the
 * input in which its mark is sent, in the same form as with `--image`. Nothing but a person's own paste, key or line makes one.
 */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { visibleLine } from "#base";
import type { Input } from "#client";
import { imageBlock, MAX_IMAGE_BYTES, readImageFile } from "#program";
import { type InputBlock, ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { imagePathsIn } from "./image-paths.ts";

/** The oldest are forgotten: each can have 5 MiB. */
const MAX_KEPT = 10;
const MAX_NAME_CHARS = 60;

export interface AttachedImages {
  /**
   * What stands in the line for a pasted or typed text that is nothing but the paths of images; undefined for every other text. That
   * one of them cannot be read is told by `contentOf`.
   */
  fromPaste(text: string): string | undefined;
  /** The same for an image in the clipboard. Rejects with UsageInvalid. */
  fromClipboard(): Promise<string>;
  /** The images whose marks are in the text, then the text. Rejects with UsageInvalid for one that cannot be sent. */
  contentOf(text: string): Promise<Input>;
}

export function createAttachedImages({
  cwd,
  env,
  clipboard,
}: Pick<CliPorts, "cwd" | "env" | "clipboard">): AttachedImages {
  /** By their marks, the oldest first; undefined for one that was forgotten. */
  const images = new Map<string, Promise<InputBlock> | undefined>();

  function keep(image: Promise<InputBlock>, name?: string): string {
    // Whoever sends it is told why there is none.
    image.catch(() => undefined);
    const mark = `[image ${images.size + 1}${name === undefined ? "" : `: ${name}`}]`;
    const oldest = [...images].filter(([, kept]) => kept !== undefined).at(-MAX_KEPT)?.[0];
    if (oldest !== undefined) images.set(oldest, undefined);
    images.set(mark, image);
    return mark;
  }

  return {
    fromPaste(text) {
      const readings = imagePathsIn(text, env.HOME ?? homedir());
      const paths = readings.find(
        (reading) => reading.length <= MAX_KEPT && reading.every((path) => isFile(cwd, path)),
      );
      return paths?.map((path) => keep(readImageFile(cwd, path, path), shownName(cwd, path))).join(" ");
    },
    async fromClipboard() {
      return keep(Promise.resolve(imageBlock(await clipboard(MAX_IMAGE_BYTES), "the clipboard")));
    },
    async contentOf(text) {
      const marks = [...images.keys()].filter((mark) => text.includes(mark));
      if (marks.length === 0) return text;
      const sent = marks.map((mark) => {
        const detail = `${mark} is no longer kept: the last ${MAX_KEPT} images are. Paste it again`;
        return images.get(mark) ?? Promise.reject(new ReasonError("UsageInvalid", detail));
      });
      return [...(await Promise.all(sent)), { type: "text", text }];
    },
  };
}

function isFile(cwd: string, path: string): boolean {
  try {
    return statSync(resolve(cwd, path)).isFile();
  } catch {
    return false;
  }
}

/** Inside the folder as it is named there, otherwise without the folders that are nobody else's business. */
function shownName(cwd: string, path: string): string {
  const inside = relative(cwd, resolve(cwd, path));
  const isOutside = inside.startsWith("..") || isAbsolute(inside);
  return Array.from(visibleLine(isOutside ? basename(path) : inside))
    .slice(-MAX_NAME_CHARS)
    .join("");
}
