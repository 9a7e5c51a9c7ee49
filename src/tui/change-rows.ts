/** A change as rows of a screen: side by side where there is room, else one column. Pure. */
import { counted, type DiffLine, visibleLine } from "#base";
import { type RowStyle, wrapped } from "./block-rows.ts";
import type { FileChange } from "./change.ts";
import { codeRows } from "./code-rows.ts";

/** Both sides have at least 40 columns of text. */
const SIDE_BY_SIDE_COLUMNS = 100;
const CONTEXT_LINES = 3;
const BESIDE = " │ ";

export interface ChangeView {
  readonly rows: readonly string[];
  /** The row at which each hunk begins. */
  readonly starts: readonly number[];
}

export interface ChangeLook {
  /** All lines instead of a few around each hunk. */
  readonly isWhole: boolean;
  /** What stands above a hunk. */
  title(hunk: number): string;
}

export function changeView(change: FileChange, { isWhole, title }: ChangeLook, style: RowStyle): ChangeView {
  const rows: string[] = [];
  const starts: number[] = [];
  // A file may have more lines than a call takes arguments.
  const add = (more: readonly string[]): void => {
    for (const row of more) rows.push(row);
  };
  const lines = numberedLines(change);
  const sheet = { ...style, ...sizesOf(change, lines, style) };
  let shownTo = 0;
  for (const [at, hunk] of change.hunks.entries()) {
    const from = isWhole ? shownTo : Math.max(shownTo, hunk.from - CONTEXT_LINES);
    if (from > shownTo) rows.push(style.theme.paint("dim", `  … ${counted(from - shownTo, "unchanged line")}`));
    add(unchangedRows(lines.slice(from, hunk.from), sheet));
    starts.push(rows.length);
    rows.push(title(at));
    add(change.isNew ? newRows(change.path, lines, sheet) : hunkRows(lines.slice(hunk.from, hunk.to), sheet));
    const next = change.hunks[at + 1]?.from ?? lines.length;
    shownTo = isWhole ? hunk.to : Math.min(next, hunk.to + CONTEXT_LINES);
    add(unchangedRows(lines.slice(hunk.to, shownTo), sheet));
  }
  const left = lines.length - shownTo;
  if (left > 0 && isWhole) add(unchangedRows(lines.slice(shownTo), sheet));
  else if (left > 0) rows.push(style.theme.paint("dim", `  … ${counted(left, "unchanged line")}`));
  return { rows, starts };
}

/** A line with its numbers in the text before and in the text after. */
interface NumberedLine extends DiffLine {
  readonly before: number;
  readonly after: number;
}

/** What a newline at the end opens is not a line. */
function numberedLines({ lines }: FileChange): readonly NumberedLine[] {
  let before = 0;
  let after = 0;
  const all = lines.map((line): NumberedLine => {
    if (line.mark !== "+") before += 1;
    if (line.mark !== "-") after += 1;
    return { ...line, before, after };
  });
  const last = all.at(-1);
  const isEnd = last?.text === "" && (last.mark === " " || before === 0);
  return isEnd && all.length > 1 ? all.slice(0, -1) : all;
}

/** Where rows of a change stand: with how many digits, and of how many columns each side is. */
interface Sheet extends RowStyle {
  readonly digits: number;
  readonly sideColumns: number;
  readonly isWide: boolean;
}

function sizesOf(
  { isPiece }: FileChange,
  lines: readonly NumberedLine[],
  { columns }: RowStyle,
): Pick<Sheet, "digits" | "sideColumns" | "isWide"> {
  const last = lines.at(-1);
  // The numbers of a piece are not those of its file.
  const digits = isPiece || last === undefined ? 0 : Math.max(2, String(Math.max(last.before, last.after)).length);
  const isWide = columns >= SIDE_BY_SIDE_COLUMNS;
  const all = isWide ? Math.floor((columns - BESIDE.length) / 2) : columns;
  return { digits, isWide, sideColumns: all - gutter("", "", digits).length };
}

/** `  12 + `. */
function gutter(number: number | string, mark: string, digits: number): string {
  return digits === 0 ? `  ${mark.padEnd(1)} ` : ` ${String(number).padStart(digits)} ${mark.padEnd(1)} `;
}

function unchangedRows(lines: readonly NumberedLine[], sheet: Sheet): string[] {
  return lines.flatMap((line) => (sheet.isWide ? pair(line, line, sheet) : one(line, sheet)));
}

function hunkRows(lines: readonly NumberedLine[], sheet: Sheet): string[] {
  const of = (mark: string): NumberedLine[] => lines.filter((line) => line.mark === mark);
  const [before, after] = [of("-"), of("+")];
  if (!sheet.isWide) return [...before, ...after].flatMap((line) => one(line, sheet));
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => {
    return pair(before[at], after[at], sheet);
  }).flat();
}

/** The whole text in the colours of its language, by the name of the file. */
function newRows(path: string, lines: readonly NumberedLine[], sheet: Sheet): string[] {
  const { theme, widgets, isWide, sideColumns, digits } = sheet;
  const texts = lines.map(({ text }) => visibleLine(text));
  const coloured = codeRows(texts, widgets.codeCarry(path), sheet).rows;
  const isPlain = theme.name === "none" || widgets.codeCarry(path) === undefined;
  const rows = lines.flatMap(({ after }, at) => {
    const row = isPlain ? theme.paint("good", texts[at] ?? "") : (coloured[at] ?? "");
    return wrapped(row || " ", sideColumns, widgets).map((part, index) => {
      return `${theme.paint("dim", gutter(index === 0 ? after : "", isWide ? " " : "+", digits))}${part}`;
    });
  });
  const label = theme.paint("dim", "  [new file]");
  if (!isWide) return [label, ...rows];
  const empty = " ".repeat(sideColumns + gutter("", "", digits).length);
  const beside = theme.paint("dim", BESIDE);
  return rows.map((row, at) => `${at === 0 ? label + empty.slice("  [new file]".length) : empty}${beside}${row}`);
}

function one({ mark, text, before, after }: NumberedLine, sheet: Sheet): string[] {
  return sideRows({ mark, text, number: mark === "-" ? before : after }, sheet);
}

function pair(left: NumberedLine | undefined, right: NumberedLine | undefined, sheet: Sheet): string[] {
  const { widgets, theme, sideColumns, digits } = sheet;
  const rowsOf = (line: NumberedLine | undefined, number = 0): string[] =>
    line === undefined ? [] : sideRows({ mark: line.mark, text: line.text, number }, sheet);
  const [before, after] = [rowsOf(left, left?.before), rowsOf(right, right?.after)];
  const width = sideColumns + gutter("", "", digits).length;
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => {
    const cell = before[at] ?? "";
    const gap = " ".repeat(Math.max(0, width - widgets.visibleWidth(cell)));
    return `${cell}${gap}${theme.paint("dim", BESIDE)}${after[at] ?? ""}`;
  });
}

interface SideLine extends DiffLine {
  readonly number: number;
}

function sideRows({ mark, text, number }: SideLine, { theme, widgets, sideColumns, digits }: Sheet): string[] {
  return wrapped(visibleLine(text) || " ", sideColumns, widgets).map((row, at) => {
    const head = gutter(at === 0 ? number : "", mark, digits);
    if (mark === " ") return `${theme.paint("dim", head)}${row}`;
    return theme.paint(mark === "+" ? "good" : "bad", `${head}${row}`);
  });
}

/** As a unified diff, for other programs. */
export function patchText({ path, lines, isNew }: FileChange): string {
  const before = lines.filter(({ mark }) => mark !== "+").length;
  const after = lines.filter(({ mark }) => mark !== "-").length;
  const body = lines.map(({ mark, text }) => `${mark}${text}`).join("\n");
  const from = isNew ? "/dev/null" : `a/${path}`;
  return `--- ${from}\n+++ b/${path}\n@@ -${isNew ? 0 : 1},${before} +1,${after} @@\n${body}\n`;
}
