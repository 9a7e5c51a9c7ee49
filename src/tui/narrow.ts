/** Rows as the terminal has room for them. For one of a few columns they are made for some more, in which every part has room. Pure. */
import type { Frame } from "./painter.ts";
import type { Size } from "./screen-writer.ts";
import type { Widgets } from "./widgets.ts";

/** A character may take two, and the parts have margins. */
const MIN_COLUMNS = 8;

/** For which rows are made. */
export function layoutColumns({ columns }: Size): number {
  return Math.max(MIN_COLUMNS, columns);
}

/** The terminal would break a row that is wider, and all rows below it would stand elsewhere. */
export function cutToSize(frame: Frame, { columns }: Size, { truncateToWidth, visibleWidth }: Widgets): Frame {
  const end = columns < MIN_COLUMNS ? "" : "…";
  const cut = (rows: readonly string[]): readonly string[] =>
    rows.map((row) => (visibleWidth(row) <= columns ? row : truncateToWidth(row, columns, end)));
  const inside = <Part extends { readonly cursor?: { readonly row: number; readonly column: number } }>(
    part: Part,
  ): Part =>
    part.cursor === undefined
      ? part
      : { ...part, cursor: { ...part.cursor, column: Math.min(part.cursor.column, columns - 1) } };
  if ("full" in frame) return { full: { ...inside(frame.full), rows: cut(frame.full.rows) } };
  const { settled, region } = frame;
  return { settled: cut(settled), region: { ...inside(region), rows: cut(region.rows) } };
}
