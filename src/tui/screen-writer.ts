/**
 * The bytes that bring a terminal from one frame to the next. The conversation stands on the main screen: settled rows are printed
 * once and belong to the terminal's own scrollback; only the live region below them is ever changed. Pure: it writes nothing itself,
 * and never clears the screen or the scrollback.
 */

import { imageHeight } from "./images.ts";
import { forward, rowChange } from "./row-change.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What stands below the settled rows. No row is wider than the terminal, and there are fewer rows than it has. */
export interface LiveRegion {
  readonly rows: readonly string[];
  /** Where the cursor stands, in rows of the region and columns; absent: hidden. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** What the terminal shows now: the region, and the row of it where the cursor was left. */
export interface Displayed {
  readonly region: LiveRegion;
  readonly cursorRow: number;
  readonly columns: number;
}

export interface Painted {
  readonly bytes: string;
  readonly shown: Displayed;
}

const ESC = "\u001b";
const BEGIN = `${ESC}[?2026h`;
const HIDE_CURSOR = `${ESC}[?25l`;
const END = `${ESC}[?2026l`;
const SHOW_CURSOR = `${ESC}[?25h`;
const RESET = `${ESC}[0m`;
const ERASE_BELOW = `${ESC}[J`;

export const nothingDisplayed: Displayed = { region: { rows: [] }, cursorRow: 0, columns: 0 };

/**
 * Prints `settled` above the region and changes the region to `next`. Rows that are the same at the end of both regions (the editor,
 * the status line) are moved, not written again.
 */
export function paintFrame(shown: Displayed, settled: readonly string[], next: LiveRegion, size: Size): Painted {
  // A row that has left the screen at its top cannot be written any more: what is settled goes there in pieces that fit.
  const room = Math.max(1, size.rows - Math.max(shown.region.rows.length, next.rows.length));
  let bytes = "";
  let now = shown;
  let from = 0;
  while (settled.length - from > room) {
    const end = pieceEnd(settled, from, room);
    const piece = paintStep(now, settled.slice(from, end), now.region, size);
    bytes += piece.bytes;
    now = piece.shown;
    from = end;
  }
  const last = paintStep(now, settled.slice(from), next, size);
  return { bytes: bytes + last.bytes, shown: last.shown };
}

/** No piece ends within an image, unless that is larger than a piece. */
function pieceEnd(settled: readonly string[], from: number, room: number): number {
  const end = from + room;
  for (let at = end - 1; at > from; at--) if (at + imageHeight(settled[at] ?? "") > end) return at;
  return end;
}

function paintStep(shown: Displayed, settled: readonly string[], next: LiveRegion, size: Size): Painted {
  const before = shown.region.rows;
  const after = [...settled, ...next.rows];
  const footer = sameAtEnd(before, after);
  const growth = after.length - before.length;
  const pen = createPen(shown.cursorRow);
  const changed = after.slice(0, after.length - footer).some((row, at) => row !== before[at]);
  if (changed || growth !== 0) {
    if (growth > 0) grow(pen, before.length, footer, growth);
    if (growth < 0) shrink(pen, after.length - footer, -growth);
    // After growing or shrinking, what stood behind the footer's old beginning is blank.
    const kept = Math.min(before.length, after.length) - footer;
    const images: (readonly [at: number, row: string])[] = [];
    for (let at = 0; at < after.length - footer; at++) {
      const old = (at < kept ? before[at] : "") ?? "";
      const row = after[at] ?? "";
      const isImage = imageHeight(row) > 0;
      if (isImage) images.push([at, row]);
      const text = isImage ? "" : row;
      if (text !== old) pen.rewrite(at, old, text);
    }
    // Over rows that are blank by then: what is erased afterwards takes a part of an image away.
    for (const [at, row] of images) pen.rewrite(at, "", row);
  }
  const cursor = next.cursor === undefined ? undefined : { ...next.cursor, row: next.cursor.row + settled.length };
  pen.moveTo(cursor?.row ?? Math.max(0, after.length - 1));
  const wasHidden = shown.region.cursor === undefined;
  const column =
    cursor === undefined
      ? wasHidden && before.length > 0
        ? ""
        : HIDE_CURSOR
      : `\r${forward(cursor.column)}${wasHidden ? SHOW_CURSOR : ""}`;
  const bytes = pen.bytes();
  return {
    bytes: bytes === "" && settled.length === 0 && sameCursor(shown, next) ? "" : `${BEGIN}${bytes}${column}${END}`,
    shown: { region: next, cursorRow: pen.row() - settled.length, columns: size.columns },
  };
}

/**
 * After a change of size the terminal has wrapped the rows in its own way: takes the region off the screen from its top on. The cursor
 * stands where the region began, and the next frame begins there.
 */
export function eraseWrapped(shown: Displayed, size: Size, widthOf: (row: string) => number): string {
  const above = shown.region.rows.slice(0, shown.cursorRow);
  const wrapped = above.reduce((rows, row) => rows + Math.max(1, Math.ceil(widthOf(row) / size.columns)), 0);
  return `${up(Math.min(wrapped, size.rows - 1))}\r${RESET}${ERASE_BELOW}`;
}

/** Leaves the region on the screen and the cursor below it. */
export function leaveRegion(shown: Displayed): string {
  const below = shown.region.rows.length - 1 - shown.cursorRow;
  return `${down(below)}${shown.region.rows.length === 0 ? "" : "\r\n"}${RESET}${SHOW_CURSOR}`;
}

/** Takes the region off the screen. The cursor stands where it began. */
export function eraseRegion(shown: Displayed): string {
  return `${up(shown.cursorRow)}\r${RESET}${ERASE_BELOW}${SHOW_CURSOR}`;
}

interface Pen {
  moveTo(row: number): void;
  write(text: string): void;
  rewrite(row: number, old: string, text: string): void;
  /** Line feeds from the row where it stands: scrolls where the screen ends. */
  feed(count: number): void;
  row(): number;
  bytes(): string;
}

function createPen(start: number): Pen {
  let at = start;
  let bytes = "";
  function moveTo(row: number): void {
    bytes += row < at ? up(at - row) : down(row - at);
    at = row;
  }
  return {
    moveTo,
    write(text) {
      bytes += text;
    },
    rewrite(row, old, text) {
      moveTo(row);
      bytes += rowChange(old, text);
    },
    feed(count) {
      bytes += `\r${"\n".repeat(count)}`;
      at += count;
    },
    row: () => at,
    bytes: () => bytes,
  };
}

/** Makes room for `count` rows before the footer, which moves down unwritten. */
function grow(pen: Pen, rows: number, footer: number, count: number): void {
  pen.moveTo(Math.max(0, rows - 1));
  // The first row of an empty region is the one that the cursor stands on.
  pen.feed(rows === 0 ? count - 1 : count);
  if (footer === 0) return;
  pen.moveTo(rows - footer);
  pen.write(`\r${ESC}[${count}L`);
}

/** Takes `count` rows out from `row` on; what stands below moves up. */
function shrink(pen: Pen, row: number, count: number): void {
  pen.moveTo(row);
  pen.write(`\r${ESC}[${count}M`);
}

function sameAtEnd(before: readonly string[], after: readonly string[]): number {
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  return same;
}

function sameCursor({ region }: Displayed, { cursor }: LiveRegion): boolean {
  return region.cursor?.row === cursor?.row && region.cursor?.column === cursor?.column;
}

function up(rows: number): string {
  return rows <= 0 ? "" : `${ESC}[${rows}A`;
}

function down(rows: number): string {
  return rows <= 0 ? "" : `${ESC}[${rows}B`;
}
