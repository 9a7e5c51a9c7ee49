/** `fs.glob`: files by name pattern, newest first. What ignore files leave out stays out. */
import { ToolError, textOutput } from "#engine";
import { optionalText, textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { suggestNames } from "./near-names.ts";
import { runRipgrep } from "./ripgrep.ts";

const MAX_FILES = 200;
const MAX_MATCHES = 100_000;

export const globTool: BuiltinTool = {
  name: "fs.glob",
  label: "Glob",
  class: "read_only",
  kind: "list",
  paths: [
    { name: "pattern", means: "glob", reveals: true },
    { name: "path", means: "target", reveals: true },
  ],
  description: "Find files by glob such as src/**/*.ts, newest first. Ignored files are left out.",
  parameters: {
    type: "object",
    properties: { pattern: { type: "string" }, path: { type: "string" } },
    required: ["pattern"],
    additionalProperties: false,
  },
  subject: (args) => optionalText(args, "path") ?? ".",
  async run(args, { ports, signal }) {
    const path = optionalText(args, "path") ?? ".";
    // Everything from here on is about the real folder: what is hidden is known by its real name.
    const directory = await ports.files.locate(path);
    const info = await ports.files.stat(directory);
    if (info === undefined) throw new ToolError(`${path} does not exist.${await suggestNames(ports.files, path)}`);
    if (info.kind !== "directory") throw new ToolError(`${path} is not a directory.`);
    const pattern = textArgument(args, "pattern").replace(/^(\.\/)+/, "");
    const walk = (walkArgs: readonly string[], onRecord: (file: string) => boolean) =>
      runRipgrep(
        ports,
        { args: ["--files", "--null", ...walkArgs], cwd: directory, separator: "\0", onRecord },
        signal,
      );

    const matching = new Set<string>();
    await walk([`--glob=${pattern}`], (file) => matching.add(file).size <= MAX_MATCHES);
    if (matching.size === 0) return textOutput("No files found.");
    if (matching.size > MAX_MATCHES) {
      throw new ToolError(`More than ${MAX_MATCHES} files match; narrow the pattern or the path.`);
    }
    const found: string[] = [];
    let total = 0;
    // A second walk without the pattern: `--glob` alone brings back files that an ignore file leaves out.
    await walk(["--sortr=modified"], (file) => {
      if (matching.has(file) && ++total <= MAX_FILES) found.push(directory === "." ? file : `${directory}/${file}`);
      return true;
    });
    if (total === 0) return textOutput("No files found.");
    if (total > found.length) found.push(`[${total - found.length} more files; narrow the pattern or the path]`);
    return textOutput(found.join("\n"));
  },
};
