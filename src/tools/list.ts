/** `fs.list`: one directory, not its subdirectories. */
import { type DirectoryEntry, type FilePort, objectSchema } from "#base";
import { ToolError, textOutput } from "#engine";
import { optionalText } from "./arguments.ts";
import type { BuiltinTool } from "./facts.ts";
import { formatBytes } from "./file-kind.ts";
import { suggestNames } from "./near-names.ts";

const MAX_ENTRIES = 500;

export const listTool: BuiltinTool = {
  name: "fs.list",
  label: "Ls",
  class: "read_only",
  kind: "list",
  paths: [{ name: "path", means: "target", reveals: true }],
  description: "List a directory (default: workspace root).",
  parameters: objectSchema({ path: { type: "string" } }),
  subject: (args) => optionalText(args, "path") ?? ".",
  async run(args, { ports }) {
    const path = optionalText(args, "path") ?? ".";
    const info = await ports.files.stat(path);
    if (info === undefined) throw new ToolError(`${path} does not exist.${await suggestNames(ports.files, path)}`);
    if (info.kind !== "directory") throw new ToolError(`${path} is a file; read it with fs.read.`);
    const entries = await ports.files.list(path);
    if (entries.length === 0) return textOutput(`${path} is empty.`);
    const ordered = [...entries.filter(isDirectory), ...entries.filter((entry) => !isDirectory(entry))];
    const shown = ordered.slice(0, MAX_ENTRIES);
    const lines = await Promise.all(shown.map((entry) => describe(ports.files, path, entry)));
    if (ordered.length > shown.length) lines.push(`[${ordered.length - shown.length} more entries; use fs.glob]`);
    return textOutput(lines.join("\n"));
  },
};

function isDirectory(entry: DirectoryEntry): boolean {
  return entry.kind === "directory";
}

/** A link is named and not followed: it may lead outside, which is not for this list to ask. */
async function describe(files: FilePort, directory: string, entry: DirectoryEntry): Promise<string> {
  if (entry.kind === "directory") return `${entry.name}/`;
  if (entry.kind !== "file") return `${entry.name} (${entry.kind === "symlink" ? "link" : "special file"})`;
  const info = await files.stat(`${directory}/${entry.name}`);
  return info === undefined ? `${entry.name} (gone)` : `${entry.name} (${formatBytes(info.sizeBytes)})`;
}
