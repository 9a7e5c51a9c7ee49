/** What is shown before the widgets are loaded: an empty editor, in which plain letters that are typed already stand. Pure. */
import type { LiveRegion, Size } from "./screen-writer.ts";
import type { Theme } from "./theme.ts";

const PLAIN = /^[ -~]*$/;

export function firstRegion(typed: string, status: string, { columns }: Size, theme: Theme): LiveRegion {
  const border = theme.paint("dim", "─".repeat(columns));
  const isShown = PLAIN.test(typed) && typed.length < columns;
  const line = isShown ? typed : "";
  const plainStatus = PLAIN.test(status) ? status.slice(0, columns) : "";
  return { rows: [border, line, border, theme.paint("dim", plainStatus)], cursor: { row: 1, column: line.length } };
}
