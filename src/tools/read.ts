/** `fs.read`: a page of a text file with line numbers, or an image. Refuses other binaries. */
import { EffectError, type FilePort, objectSchema } from "#base";
import { ToolError, type ToolOutput, textOutput } from "#engine";
import { type Arguments, optionalInteger, textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { binaryKind, decodeText, formatBytes, imageType } from "./file-kind.ts";
import { suggestNames } from "./near-names.ts";
import { numberedLine, splitLines } from "./numbered-lines.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const PAGE_LINES = 2_000;
const PAGE_CHARS = 100 * 1024;

export const readTool: BuiltinTool = {
  name: "fs.read",
  label: "Read",
  class: "read_only",
  kind: "read",
  paths: [{ name: "path", means: "target", reveals: true }],
  description:
    "Read a text file as numbered lines, or an image. offset: first line (from 1), limit: line count, for long files.",
  parameters: objectSchema({ path: { type: "string" }, offset: { type: "integer" }, limit: { type: "integer" } }, [
    "path",
  ]),
  subject: (args) => textArgument(args, "path"),
  async run(args, { ports }) {
    const path = textArgument(args, "path");
    const bytes = await readExisting(ports.files, path);
    const image = imageType(bytes);
    if (image !== undefined) return imageOutput(path, image, bytes);
    const text = decodeText(bytes);
    if (text === undefined) {
      throw new ToolError(`${path} is not a text file: ${binaryKind(bytes)}, ${formatBytes(bytes.length)}.`);
    }
    if (text === "") return textOutput(`${path} is empty.`);
    return textOutput(page(path, splitLines(text), args));
  },
};

/** Reads first and asks questions only when that fails: most reads succeed, and each look at the disk costs. */
async function readExisting(files: FilePort, path: string): Promise<Uint8Array> {
  try {
    return await files.read(path, MAX_FILE_BYTES);
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    if (error.reason === "TooLarge") {
      throw new ToolError(`${error.message}. Search it with fs.search, or cut out a part with exec (sed -n, tail).`);
    }
    const info = error.reason === "OutsideWorkspace" ? undefined : await files.stat(path);
    if (info?.kind === "directory") throw new ToolError(`${path} is a directory; list it with fs.list.`);
    if (error.reason !== "NotFound") throw error;
    throw new ToolError(`${path} does not exist.${await suggestNames(files, path)}`);
  }
}

function imageOutput(
  path: string,
  mediaType: NonNullable<ReturnType<typeof imageType>>,
  bytes: Uint8Array,
): ToolOutput {
  if (bytes.length > MAX_IMAGE_BYTES) {
    const [size, limit] = [formatBytes(bytes.length), formatBytes(MAX_IMAGE_BYTES)];
    throw new ToolError(`${path} is an image (${mediaType}) of ${size}; at most ${limit} can be shown.`);
  }
  return { content: [{ type: "image", media_type: mediaType, data: Buffer.from(bytes).toString("base64") }] };
}

function page(path: string, lines: readonly string[], args: Arguments): string {
  const first = optionalInteger(args, "offset", 1) ?? 1;
  const count = Math.min(optionalInteger(args, "limit", 1) ?? PAGE_LINES, PAGE_LINES);
  if (first > lines.length) throw new ToolError(`${path} has ${lines.length} lines; offset ${first} is past its end.`);
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines.slice(first - 1, first - 1 + count)) {
    const text = numberedLine(line, first + shown.length);
    chars += text.length + 1;
    if (chars > PAGE_CHARS && shown.length > 0) break;
    shown.push(text);
  }
  const next = first + shown.length;
  if (next > lines.length) return shown.join("\n");
  return `${shown.join("\n")}\n[lines ${first}-${next - 1} of ${lines.length}; next page: offset=${next}]`;
}
