/** `fs.remove`: deletes one file, or a directory with all that is in it. */
import { objectSchema } from "#base";
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
  parameters: objectSchema({ path: { type: "string" }, recursive: { type: "boolean" } }, ["path"]),
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
