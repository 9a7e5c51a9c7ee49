/** `fs.write`: creates a file or replaces all of it. */
import { type Tool, textOutput } from "#engine";
import { textArgument } from "./arguments.ts";
import { splitLines } from "./numbered-lines.ts";

export const writeTool: Tool = {
  name: "fs.write",
  label: "Write",
  class: "mutating",
  description: "Create or overwrite a whole file; parent directories are made. To change a part, use fs.edit.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, content: { type: "string" } },
    required: ["path", "content"],
    additionalProperties: false,
  },
  subject: (args) => textArgument(args, "path"),
  async run(args, { ports }) {
    const path = textArgument(args, "path");
    const content = textArgument(args, "content");
    const before = await ports.files.stat(path);
    const bytes = Buffer.from(content, "utf8");
    await ports.files.write(path, bytes);
    const verb = before === undefined ? "Created" : "Overwrote";
    const lines = splitLines(content).length;
    return textOutput(`${verb} ${path} (${lines} ${lines === 1 ? "line" : "lines"}, ${bytes.length} bytes).`);
  },
};
