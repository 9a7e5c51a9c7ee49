/** A change as rows of a screen: side by side where there is room, else one column. Pure. */
import { visibleLine } from "#base";
import { type RowStyle, wrapped } from "./block-rows.ts";
import type { FileChange, Hunk } from "./change.ts";
import { codeRows } from "./code-rows.ts";

/** Both sides have at least 45 columns of text. */
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
  let shownTo = 0;
  for (const [at, hunk] of change.hunks.entries()) {
    const from = isWhole ? shownTo : Math.max(shownTo, hunk.from - CONTEXT_LINES);
    if (from > shownTo) rows.push(style.theme.paint("dim", `  … ${from - shownTo} unchanged lines`));
    add(linesOf(change, { from, to: hunk.from }, style));
    starts.push(rows.length);
    rows.push(title(at));
    add(hunkRows(change, hunk, style));
    const next = change.hunks[at + 1]?.from ?? change.lines.length;
    shownTo = isWhole ? hunk.to : Math.min(next, hunk.to + CONTEXT_LINES);
    add(linesOf(change, { from: hunk.to, to: shownTo }, style));
  }
  const left = change.lines.length - shownTo;
  if (left > 0 && isWhole) add(linesOf(change, { from: shownTo, to: change.lines.length }, style));
  else if (left > 0) rows.push(style.theme.paint("dim", `  … ${left} unchanged lines`));
  return { rows, starts };
}

function isWide({ columns }: RowStyle): boolean {
  return columns >= SIDE_BY_SIDE_COLUMNS;
}

function sideColumns({ columns }: RowStyle): number {
  return Math.floor((columns - BESIDE.length - 2) / 2);
}

/** Unchanged lines. */
function linesOf({ lines }: FileChange, { from, to }: Hunk, style: RowStyle): string[] {
  return lines.slice(from, to).flatMap(({ text }) => {
    return isWide(style) ? pair(text, text, style) : one(" ", text, style);
  });
}

function hunkRows(change: FileChange, { from, to }: Hunk, style: RowStyle): string[] {
  if (change.isNew && change.hunks.length === 1) return newRows(change, style);
  const lines = change.lines.slice(from, to);
  const of = (mark: string): string[] => lines.filter((line) => line.mark === mark).map(({ text }) => text);
  const [before, after] = [of("-"), of("+")];
  if (!isWide(style)) {
    const removed = before.flatMap((text) => one("-", text, style));
    return removed.concat(after.flatMap((text) => one("+", text, style)));
  }
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => {
    return pair(before[at], after[at], style, true);
  }).flat();
}

/** The whole text in the colours of its language, by the name of the file. */
function newRows({ path, lines }: FileChange, style: RowStyle): string[] {
  const { theme, widgets } = style;
  const texts = lines.map(({ text }) => visibleLine(text));
  const coloured = codeRows(texts, widgets.codeCarry(path), style).rows;
  const isPlain = theme.name === "none" || widgets.codeCarry(path) === undefined;
  const rows = coloured.map((row, at) => (isPlain ? theme.paint("good", texts[at] ?? "") : row));
  const label = theme.paint("dim", "[new file]");
  if (!isWide(style)) {
    const mark = theme.paint("good", "+");
    const wide = style.columns - 4;
    return [`  ${label}`].concat(
      rows.flatMap((row) => wrapped(row || " ", wide, widgets).map((one) => `  ${mark} ${one}`)),
    );
  }
  const width = sideColumns(style);
  const beside = theme.paint("dim", BESIDE);
  return rows.flatMap((row, at) =>
    wrapped(row || " ", width, widgets).map((one, part) => {
      const left = at === 0 && part === 0 ? label + " ".repeat(width - "[new file]".length) : " ".repeat(width);
      return `  ${left}${beside}${one}`;
    }),
  );
}

function one(mark: string, text: string, { theme, columns, widgets }: RowStyle): string[] {
  return wrapped(visibleLine(text) || " ", columns - 4, widgets).map((row) => painted(mark, `  ${mark} ${row}`, theme));
}

function pair(left: string | undefined, right: string | undefined, style: RowStyle, isChanged = false): string[] {
  const { widgets, theme } = style;
  const width = sideColumns(style);
  const rowsOf = (text: string | undefined): string[] =>
    text === undefined ? [] : wrapped(visibleLine(text) || " ", width, widgets);
  const [before, after] = [rowsOf(left), rowsOf(right)];
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => {
    const cell = before[at] ?? "";
    const gap = " ".repeat(Math.max(0, width - widgets.visibleWidth(cell)));
    const [a, b] = isChanged
      ? [painted("-", cell, theme), painted("+", after[at] ?? "", theme)]
      : [cell, after[at] ?? ""];
    return `  ${a}${gap}${theme.paint("dim", BESIDE)}${b}`;
  });
}

function painted(mark: string, text: string, theme: RowStyle["theme"]): string {
  return mark === " " ? text : theme.paint(mark === "+" ? "good" : "bad", text);
}

/** As a unified diff, for other programs. */
export function patchText({ path, lines, isNew }: FileChange): string {
  const before = lines.filter(({ mark }) => mark !== "+").length;
  const after = lines.filter(({ mark }) => mark !== "-").length;
  const body = lines.map(({ mark, text }) => `${mark}${text}`).join("\n");
  const from = isNew ? "/dev/null" : `a/${path}`;
  return `--- ${from}\n+++ b/${path}\n@@ -${isNew ? 0 : 1},${before} +1,${after} @@\n${body}\n`;
}
