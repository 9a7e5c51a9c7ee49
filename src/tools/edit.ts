/** `fs.edit`: replaces one exact piece of a text file, or every one. Matching is never fuzzy; only the advice is. */
import { type FilePort, objectSchema } from "#base";
import { ToolError, textOutput } from "#engine";
import { flagArgument, textArgument } from "./arguments.ts";
import { adviseNoMatch } from "./edit-advice.ts";
import type { BuiltinTool } from "./facts.ts";
import { binaryKind, decodeText, formatBytes } from "./file-kind.ts";
import { withSuggestion } from "./near-names.ts";
import { lineNumberAt, numberedLine, splitLines } from "./numbered-lines.ts";
import { adviseRedactionMark, refuseForeignMarks } from "./redaction-marks.ts";

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_LISTED_MATCHES = 20;
const EXCERPT_CONTEXT_LINES = 3;
const MAX_EXCERPT_LINES = 40;

export const editTool: BuiltinTool = {
  name: "fs.edit",
  label: "Edit",
  class: "mutating",
  kind: "change",
  paths: [{ name: "path", means: "target", reveals: true }],
  description:
    "Replace old_text with new_text in a file. old_text: exact, without line numbers, with enough lines around it to be unique unless all is set.",
  parameters: objectSchema(
    {
      path: { type: "string" },
      old_text: { type: "string" },
      new_text: { type: "string" },
      all: { type: "boolean" },
    },
    ["path", "old_text", "new_text"],
  ),
  subject: (args) => textArgument(args, "path"),
  async run(args, { ports }) {
    const path = textArgument(args, "path");
    const oldText = textArgument(args, "old_text");
    const newText = textArgument(args, "new_text");
    if (oldText === "") throw new ToolError("old_text is empty; write whole files with fs.write.", "InvalidArguments");
    if (oldText === newText) throw new ToolError("old_text and new_text are the same.", "InvalidArguments");
    const text = await readText(ports.files, path);
    const change = findMatches(text, oldText, newText);
    const [first] = change.matches;
    if (first === undefined) {
      const advice = adviseRedactionMark(text, oldText) ?? adviseNoMatch(text, oldText);
      throw new ToolError(`old_text is not in ${path}. ${advice}`);
    }
    if (change.matches.length > 1 && !flagArgument(args, "all")) throw ambiguous(path, text, change.matches);
    refuseForeignMarks(path, text, newText);
    const result = replaceAt(text, change);
    await ports.files.write(path, Buffer.from(result, "utf8"));
    const count = change.matches.length === 1 ? "" : ` (${change.matches.length} places; the first is shown)`;
    return textOutput(`Edited ${path}${count}:\n${excerpt(result, first, change.newText)}`);
  },
};

interface Change {
  readonly matches: readonly number[];
  readonly oldText: string;
  readonly newText: string;
}

async function readText(files: FilePort, path: string): Promise<string> {
  try {
    const bytes = await files.read(path, MAX_FILE_BYTES);
    const text = decodeText(bytes);
    if (text !== undefined) return text;
    throw new ToolError(`${path} is not a text file: ${binaryKind(bytes)}, ${formatBytes(bytes.length)}.`);
  } catch (error) {
    throw await withSuggestion(error, files, path);
  }
}

/** In a file with CRLF endings the given texts take them over; what is not replaced stays byte for byte. */
function findMatches(text: string, oldText: string, newText: string): Change {
  const exact = { matches: positions(text, oldText), oldText, newText };
  if (!usesCrlf(text)) return exact;
  const converted = { oldText: toCrlf(oldText), newText: toCrlf(newText) };
  const matches = positions(text, converted.oldText);
  return matches.length > 0 ? { matches, ...converted } : exact;
}

function usesCrlf(text: string): boolean {
  const crlf = positions(text, "\r\n").length;
  return crlf > 0 && crlf * 2 >= positions(text, "\n").length;
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function positions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function replaceAt(text: string, { matches, oldText, newText }: Change): string {
  const parts: string[] = [];
  let from = 0;
  for (const at of matches) {
    parts.push(text.slice(from, at), newText);
    from = at + oldText.length;
  }
  return parts.join("") + text.slice(from);
}

function ambiguous(path: string, text: string, matches: readonly number[]): ToolError {
  const lines = matches.slice(0, MAX_LISTED_MATCHES).map((at) => lineNumberAt(text, at));
  const rest = matches.length > lines.length ? ", …" : "";
  return new ToolError(
    `old_text is in ${path} ${matches.length} times, at lines ${lines.join(", ")}${rest}. ` +
      "Add surrounding lines to make it unique, or set all to replace every one.",
  );
}

function excerpt(text: string, at: number, newText: string): string {
  const lines = splitLines(text);
  const changed = lineNumberAt(text, at);
  const first = Math.max(1, changed - EXCERPT_CONTEXT_LINES);
  const last = Math.min(
    lines.length,
    changed + Math.max(1, splitLines(newText).length) - 1 + EXCERPT_CONTEXT_LINES,
    first + MAX_EXCERPT_LINES - 1,
  );
  return lines
    .slice(first - 1, last)
    .map((line, index) => numberedLine(line, first + index))
    .join("\n");
}
