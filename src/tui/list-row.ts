/** A row of a picker: a name in its column, then what is said about it. Pure. */
import { visibleLine } from "#base";
import type { LayerContext } from "./layer.ts";

/** The share of the row that the name may take. */
const NAME_SHARE = 0.5;

export function namedRow(
  name: string,
  about: string,
  columns: number,
  style: LayerContext["style"],
): readonly string[] {
  const { theme, widgets } = style;
  const room = Math.min(columns, Math.floor(style.columns * NAME_SHARE));
  const shown = widgets.truncateToWidth(visibleLine(name), Math.max(1, room), "…");
  const gap = " ".repeat(Math.max(2, room + 2 - widgets.visibleWidth(shown)));
  const row = about === "" ? shown : `${shown}${gap}${theme.paint("dim", visibleLine(about))}`;
  return [widgets.truncateToWidth(row, style.columns, "…")];
}
