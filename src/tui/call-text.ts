/** What a call would do, as rows that a person decides on: every byte of its arguments, with hidden characters written out. Pure. */
import { canonicalJson, isRecord, visibleLine, visibleLines, withContext } from "#base";
import { type RowStyle, wrapped } from "./block-rows.ts";
import type { FileChange } from "./change.ts";

const CONTEXT_LINES = 3;

/** The arguments in full: what a person agrees to. */
export function argsText(args: unknown, summary = ""): string {
  if (!isRecord(args)) return args === undefined || args === null ? summary : canonicalJson(args);
  const fields = Object.entries(args);
  const [only] = fields;
  if (fields.length === 1 && typeof only?.[1] === "string") return only[1];
  return fields
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

/** Behind a bar of ours, where no content can be; every hidden character is written out. */
export function foreignRows(text: string, style: RowStyle): string[] {
  return visibleLines(text)
    .split("\n")
    .flatMap((line) => barred(line, style));
}

/** The change as a unified diff with a few unchanged lines around each hunk; the other arguments stand above it. */
export function changeRows(args: unknown, change: FileChange, style: RowStyle): string[] {
  const { theme } = style;
  const known = new Set(["old_text", "new_text", "content"]);
  const others = Object.fromEntries(Object.entries(isRecord(args) ? args : {}).filter(([name]) => !known.has(name)));
  const fields = Object.entries(others).map(([name, value]) => {
    return `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}${name === "path" && change.isNew ? " [new file]" : ""}`;
  });
  const { lines: all, isNew } = change;
  const last = all.at(-1);
  // What a newline at the end opens is not a line, unless it is what changes.
  const isEnd = last?.text === "" && (last.mark === " " || isNew) && all.length > 1;
  const noNewline = isNew && last?.text !== "" ? barred(theme.paint("dim", "\\ no newline at the end"), style) : [];
  const lines = withContext(isEnd ? all.slice(0, -1) : all, CONTEXT_LINES).flatMap((line, at) => {
    if (line === undefined) return at === 0 ? [] : barred(theme.paint("dim", "⋮"), style);
    const rows = barred(`${line.mark} ${visibleLine(line.text)}`, style);
    return line.mark === " " ? rows : rows.map((row) => theme.paint(line.mark === "+" ? "good" : "bad", row));
  });
  return [...foreignRows(fields.join("\n"), style), ...lines, ...noNewline];
}

function barred(line: string, { theme, columns, widgets }: RowStyle): string[] {
  const rows = wrapped(line === "" ? " " : line, columns - 4, widgets);
  return rows.map((row) => `${theme.paint("accent", "  │ ")}${row}`);
}
