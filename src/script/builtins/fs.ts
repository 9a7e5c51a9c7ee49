/** `fs`: text files of the workspace. Hooks get only what reads. */
import { integerOf, optionalInteger, textOf } from "../arguments.ts";
import { checkRange, splitLines, withLines } from "../file-lines.ts";
import { checkInput, firstMatch } from "../patterns.ts";
import type { ScriptCall } from "../script-call.ts";
import {
  diffFiles,
  globPaths,
  listEntries,
  MAX_FILE_BYTES,
  readText,
  readTextOrNothing,
  statEntry,
  writableFiles,
  writeText,
} from "../script-files.ts";
import { type Arguments, type FunctionRow, module, row, scripts, toolsOnly } from "./definition.ts";

const MAX_FOUND = 10_000;

type Run = FunctionRow["run"];

function reading(
  name: string,
  params: string,
  returns: string,
  meaning: string,
  run: Run,
  shown?: string,
): FunctionRow {
  return { name, params, returns, meaning, run, effect: true, ...(shown !== undefined && { shown }) };
}

function changing(
  name: string,
  params: string,
  meaning: string,
  run: (args: Arguments, call: ScriptCall) => Promise<void>,
): FunctionRow {
  const silent: Run = async (args, call) => {
    await run(args, call);
    return null;
  };
  return row(`${name}(${params})`, "None", meaning, { effect: true, toolClass: "mutating", audience: toolsOnly }).runs(
    silent,
  );
}

const readers: readonly FunctionRow[] = [
  reading("read", "path", "string", "The text of a file of at most 10 MiB. Fails when it is not UTF-8.", (args, call) =>
    readText(call.parts.files, textOf(args, "path")),
  ),
  reading("exists", "path", "bool", "Whether the file or folder exists.", async (args, call) => {
    return (await call.parts.files.stat(textOf(args, "path"))) !== undefined;
  }),
  reading("list", "path", "list", "Entries of a folder by name: `{name, is_dir, size, modified}`.", (args, call) =>
    listEntries(call.parts.files, textOf(args, "path")),
  ),
  reading("stat", "path", "dict", "`{name, size, is_dir, modified}`. Fails if the path does not exist.", (args, call) =>
    statEntry(call.parts.files, textOf(args, "path")),
  ),
  reading(
    "glob",
    "pattern",
    "list",
    "Paths that match, in order: `*`, `?` and `[a-z]` within one part of a path. There is no `**`.",
    (args, call) => globPaths(call.parts.files, textOf(args, "pattern")),
  ),
  reading("diff", "a, b", "string", "Unified diff of two files; empty when they are the same.", (args, call) =>
    diffFiles(call.parts.files, textOf(args, "a"), textOf(args, "b")),
  ),
  reading(
    "read_lines",
    "path, start?=1, end?=None",
    "list",
    "Lines `start` to `end`, both included, counted from 1. The list is shorter if the file ends earlier.",
    async (args, call) => {
      const [start, end] = [integerOf(args, "start"), optionalInteger(args, "end")];
      if (start < 1) throw new Error("start must be at least 1");
      return splitLines(await readText(call.parts.files, textOf(args, "path"))).lines.slice(start - 1, end);
    },
  ),
  reading("line_count", "path", "int", "How many lines a file has.", async (args, call) => {
    return splitLines(await readText(call.parts.files, textOf(args, "path"))).lines.length;
  }),
  reading(
    "find",
    "path, pattern",
    "list",
    "Lines of a file that match a regular expression: `{line, text}`.",
    async (args, call, host) => {
      const pattern = call.state.patterns.compile(textOf(args, "pattern"));
      const text = await readText(call.parts.files, textOf(args, "path"));
      host.charge(text.length);
      const found: { line: number; text: string }[] = [];
      for (const [index, line] of splitLines(text).lines.entries()) {
        checkInput(line);
        if (firstMatch(pattern, line) === null) continue;
        if (found.length >= MAX_FOUND) throw new Error(`more than ${MAX_FOUND} lines match`);
        found.push({ line: index + 1, text: line });
      }
      return found;
    },
  ),
];

const changers: readonly FunctionRow[] = [
  changing("write", "path, content", "Writes a file and creates its folders.", (args, call) =>
    writeText(writableFiles(call), textOf(args, "path"), textOf(args, "content")),
  ),
  changing(
    "append",
    "path, content",
    "Appends to a file. Creates the file if it does not exist.",
    async (args, call) => {
      const [files, path] = [writableFiles(call), textOf(args, "path")];
      await writeText(files, path, (await readTextOrNothing(files, path)) + textOf(args, "content"));
    },
  ),
  changing("remove", "path", "Removes a file.", async (args, call) => {
    const [files, path] = [writableFiles(call), textOf(args, "path")];
    if ((await files.stat(path))?.kind === "directory") throw new Error(`${path} is a folder`);
    await files.remove(path, { recursive: false });
  }),
  changing("mkdir", "path", "Creates a folder and its parent folders.", (args, call) =>
    writableFiles(call).makeDirectory(textOf(args, "path")),
  ),
  changing("copy", "src, dst", "Copies a file. Replaces an existing file.", async (args, call) => {
    const files = writableFiles(call);
    await files.write(textOf(args, "dst"), await files.read(textOf(args, "src"), MAX_FILE_BYTES));
  }),
  changing("move", "src, dst", "Renames or moves a file or folder. Fails if the target exists.", (args, call) =>
    writableFiles(call).move(textOf(args, "src"), textOf(args, "dst")),
  ),
  changing("replace", "path, old, new", "Replaces `old`, which must occur exactly once in the file.", (args, call) =>
    edit(args, call, (text, path) => replaceOnce(text, textOf(args, "old"), textOf(args, "new"), path)),
  ),
  changing("replace_all", "path, old, new", "Replaces all occurrences of `old`.", (args, call) =>
    edit(args, call, (text) => {
      const old = textOf(args, "old");
      if (old === "") throw new Error("old must not be empty");
      const pieces = text.split(old);
      const added = (pieces.length - 1) * textOf(args, "new").length;
      if (text.length + added > MAX_FILE_BYTES)
        throw new Error(`the file would have more than ${MAX_FILE_BYTES} bytes`);
      return pieces.join(textOf(args, "new"));
    }),
  ),
  changing(
    "insert_at",
    "path, line, content",
    "Inserts text before a line. The number after the last line appends to the file.",
    (args, call) =>
      edit(args, call, (text) => {
        const line = integerOf(args, "line");
        checkRange(line, line, splitLines(text).lines.length + 1);
        return withLines(text, line, line - 1, textOf(args, "content"));
      }),
  ),
  changing("replace_lines", "path, start, end, content", "Replaces lines `start` to `end`.", (args, call) =>
    editLines(args, call, textOf(args, "content")),
  ),
  changing("delete_lines", "path, start, end", "Deletes lines `start` to `end`.", (args, call) =>
    editLines(args, call, ""),
  ),
];

export const fs = module("fs", "Files of the workspace", scripts, [...readers, ...changers]);

async function edit(args: Arguments, call: ScriptCall, change: (text: string, path: string) => string): Promise<void> {
  const [files, path] = [writableFiles(call), textOf(args, "path")];
  const text = await readText(files, path);
  await writeText(files, path, change(text, path));
}

function editLines(args: Arguments, call: ScriptCall, content: string): Promise<void> {
  return edit(args, call, (text) => {
    const [start, end] = [integerOf(args, "start"), integerOf(args, "end")];
    checkRange(start, end, splitLines(text).lines.length);
    return withLines(text, start, end, content);
  });
}

function replaceOnce(text: string, old: string, replacement: string, path: string): string {
  if (old === "") throw new Error("old must not be empty");
  const first = text.indexOf(old);
  if (first < 0) throw new Error(`old is not in ${path}`);
  if (text.indexOf(old, first + 1) >= 0) throw new Error(`old is in ${path} more than once`);
  return text.slice(0, first) + replacement + text.slice(first + old.length);
}
