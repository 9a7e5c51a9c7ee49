/** What stays in sight above the editor while the conversation moves on: the todos of the agent. Pure. */
import { visibleLine } from "#base";
import { todoLine } from "#protocol";
import type { RowStyle } from "./block-rows.ts";
import type { Transcript } from "./transcript.ts";

const MAX_ROWS = 8;
/** Of the screen; below that, one row says it all. */
const SHARE = 0.25;

const MARKS: Readonly<Record<Transcript["todos"][number]["state"], string>> = { done: "✓", active: "▸", pending: "·" };

export function pinnedRows({ todos }: Transcript, screenRows: number, style: RowStyle): string[] {
  const { theme, widgets, columns } = style;
  const line = todoLine(todos);
  if (line === undefined || todos.every(({ state }) => state === "done")) return [];
  const room = Math.min(MAX_ROWS, Math.floor(screenRows * SHARE));
  const short = theme.paint("dim", widgets.truncateToWidth(`: ${visibleLine(line)}`, columns, "…"));
  if (room < 3) return [short];
  // From the last one that is done on.
  const active = todos.findIndex(({ state }) => state !== "done");
  const from = Math.max(0, Math.min(active - 1, todos.length - (room - 1)));
  const shown = todos.slice(from, from + room - 1).map(({ text, state }) => {
    const row = widgets.truncateToWidth(`  ${MARKS[state]} ${visibleLine(text)}`, columns, "…");
    return theme.paint(state === "active" ? "accent" : "dim", row);
  });
  return [short, ...shown];
}
