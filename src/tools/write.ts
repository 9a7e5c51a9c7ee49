/** `fs.write`: creates a file or replaces all of it. */
import { type FileInfo, type FilePort, hasMarker, objectSchema } from "#base";
import { textOutput } from "#engine";
import { textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { splitLines } from "./numbered-lines.ts";
import { refuseRedactionMarks } from "./redaction-marks.ts";

/** Of a larger file no part is looked at: a text with a mark is then refused. */
const MAX_COMPARED_BYTES = 8 * 1024 * 1024;

export const writeTool: BuiltinTool = {
  name: "fs.write",
  label: "Write",
  class: "mutating",
  kind: "change",
  paths: [{ name: "path", means: "target", reveals: false }],
  description: "Create or overwrite a whole file; parent directories are made. To change a part, use fs.edit.",
  parameters: objectSchema({ path: { type: "string" }, content: { type: "string" } }, ["path", "content"]),
  subject: (args) => textArgument(args, "path"),
  async run(args, { ports }) {
    const path = textArgument(args, "path");
    const content = textArgument(args, "content");
    const before = await ports.files.stat(path);
    refuseRedactionMarks(path, await earlierText(ports.files, path, before, content), content);
    const bytes = Buffer.from(content, "utf8");
    await ports.files.write(path, bytes);
    const verb = before === undefined ? "Created" : "Overwrote";
    const lines = splitLines(content).length;
    return textOutput(`${verb} ${path} (${lines} ${lines === 1 ? "line" : "lines"}, ${bytes.length} bytes).`);
  },
};

/** What the file held, where that matters: most texts have no mark, and their file is not read. */
async function earlierText(
  files: FilePort,
  path: string,
  before: FileInfo | undefined,
  content: string,
): Promise<string> {
  const isThere = before !== undefined && before.kind !== "directory" && before.sizeBytes <= MAX_COMPARED_BYTES;
  if (!isThere || !hasMarker(content)) return "";
  return Buffer.from(await files.read(path, MAX_COMPARED_BYTES)).toString("utf8");
}
