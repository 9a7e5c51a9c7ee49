/** The bytes that bring the alternate screen from one frame to the next: rows at fixed places, and only what differs. Pure. */
import { rowChange } from "./row-change.ts";
import type { Size } from "./screen-writer.ts";

/** A whole screen. Rows below the last one are blank. */
export interface FullFrame {
  readonly rows: readonly string[];
  /** Absent: hidden. */
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface FullDisplayed {
  readonly rows: readonly string[];
  readonly size: Size;
}

const ESC = "\u001b";
const BEGIN = `${ESC}[?2026h${ESC}[?25l`;
const END = `${ESC}[?2026l`;
const CLEAR = `${ESC}[0m${ESC}[2J`;
const ERASE_ROW = `${ESC}[0m${ESC}[K`;
const SHOW_CURSOR = `${ESC}[?25h`;

/** `shown` is absent on a screen that was just entered. */
export function paintFullScreen(
  shown: FullDisplayed | undefined,
  frame: FullFrame,
  size: Size,
): { readonly bytes: string; readonly shown: FullDisplayed } {
  const isSame = shown?.size.columns === size.columns && shown.size.rows === size.rows;
  const before = isSame ? shown.rows : [];
  const rows = Array.from({ length: size.rows }, (_, at) => frame.rows[at] ?? "");
  let bytes = isSame ? "" : CLEAR;
  for (const [at, row] of rows.entries()) {
    const old = before[at] ?? "";
    if (row !== old) bytes += `${position(at, 0)}${row === "" ? ERASE_ROW : rowChange(old, row)}`;
  }
  const cursor = frame.cursor === undefined ? "" : `${position(frame.cursor.row, frame.cursor.column)}${SHOW_CURSOR}`;
  return { bytes: `${BEGIN}${bytes}${cursor}${END}`, shown: { rows, size } };
}

function position(row: number, column: number): string {
  return `${ESC}[${row + 1};${column + 1}H`;
}
