/** `fs.glob`: files by name pattern, newest first. What ignore files leave out stays out. */
import { type FilePort, objectSchema } from "#base";
import { ToolError, textOutput } from "#engine";
import { optionalText, textArgument } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { suggestNames } from "./near-names.ts";
import { runRipgrep } from "./ripgrep.ts";

const MAX_FILES = 200;
const MAX_MATCHES = 100_000;
/** Each is looked at by itself, where ripgrep cannot sort. */
const MAX_SORTED_HERE = 5_000;
const LOOKS_AT_ONCE = 16;
/** Ripgrep finds out through `/proc` whether files have times, and sorts nothing where it has no `/proc`. */
const CANNOT_SORT = /sorting by last modified/;

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
  parameters: objectSchema({ pattern: { type: "string" }, path: { type: "string" } }, ["pattern"]),
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
    // A second walk without the pattern: `--glob` alone brings back files that an ignore file leaves out.
    const matchesOf = async (...order: string[]): Promise<string[]> => {
      const matches: string[] = [];
      await walk(order, (file) => {
        if (matching.has(file)) matches.push(directory === "." ? file : `${directory}/${file}`);
        return true;
      });
      return matches;
    };
    const found = await matchesOf("--sortr=modified").catch(async (error: unknown) => {
      if (!(error instanceof ToolError && CANNOT_SORT.test(error.message))) throw error;
      return newestFirst(ports.files, await matchesOf());
    });
    if (found.length === 0) return textOutput("No files found.");
    const more = found.length - MAX_FILES;
    const rest = more > 0 ? [`[${more} more files; narrow the pattern or the path]`] : [];
    return textOutput([...found.slice(0, MAX_FILES), ...rest].join("\n"));
  },
};

async function newestFirst(files: FilePort, paths: readonly string[]): Promise<string[]> {
  if (paths.length > MAX_SORTED_HERE) {
    throw new ToolError(`More than ${MAX_SORTED_HERE} files match; narrow the pattern or the path.`);
  }
  const dated: { readonly path: string; readonly modifiedMs: number }[] = [];
  const left = paths.values();
  const look = async (): Promise<void> => {
    for (const path of left) dated.push({ path, modifiedMs: (await files.stat(path))?.modifiedMs ?? 0 });
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, look));
  return dated.toSorted((a, b) => b.modifiedMs - a.modifiedMs).map(({ path }) => path);
}
