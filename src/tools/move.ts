/** `fs.move`: renames or moves one file or directory. */
import { objectSchema } from "#base";
import { textOutput } from "#engine";
import { textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { withSuggestion } from "./near-names.ts";

export const moveTool: BuiltinTool = {
  name: "fs.move",
  label: "Move",
  class: "mutating",
  kind: "change",
  paths: [
    // Under its new name it can be read.
    { name: "from", means: "entry", reveals: true },
    { name: "to", means: "entry", reveals: false },
  ],
  description: "Move or rename a file or directory; never overwrites.",
  parameters: objectSchema({ from: { type: "string" }, to: { type: "string" } }, ["from", "to"]),
  subject: (args) => `${textArgument(args, "from")} -> ${textArgument(args, "to")}`,
  async run(args, { ports }) {
    const from = textArgument(args, "from");
    const to = textArgument(args, "to");
    try {
      await ports.files.move(from, to);
    } catch (error) {
      throw await withSuggestion(error, ports.files, from);
    }
    return textOutput(`Moved ${from} to ${to}.`);
  },
};
