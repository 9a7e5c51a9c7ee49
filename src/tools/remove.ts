/** `fs.remove`: deletes one file, or a directory with all that is in it. */
import { textOutput } from "#engine";
import { flagArgument, textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { withSuggestion } from "./near-names.ts";

export const removeTool: BuiltinTool = {
  name: "fs.remove",
  label: "Remove",
  class: "mutating",
  kind: "change",
  paths: [{ name: "path", means: "entry", reveals: false }],
  description: "Delete a file, or a directory with recursive.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, recursive: { type: "boolean" } },
    required: ["path"],
    additionalProperties: false,
  },
  subject: (args) => textArgument(args, "path"),
  async run(args, { ports }) {
    const path = textArgument(args, "path");
    try {
      await ports.files.remove(path, { recursive: flagArgument(args, "recursive") });
    } catch (error) {
      throw await withSuggestion(error, ports.files, path);
    }
    return textOutput(`Removed ${path}.`);
  },
};
