/** What stays in sight above the editor while the conversation moves on: the plan, and the todos of the agent. Pure. */
import { visibleLine } from "#base";
import { todoLine } from "#protocol";
import type { RowStyle } from "./block-rows.ts";
import type { Keymap } from "./key-table.ts";
import { keyName } from "./layer-rows.ts";
import { planTitle } from "./plan.ts";
import type { State } from "./state.ts";
import type { Transcript } from "./transcript.ts";

const MAX_ROWS = 8;
/** Of the screen; below that, one row says it all. */
const SHARE = 0.25;

const MARKS: Readonly<Record<Transcript["todos"][number]["state"], string>> = { done: "✓", active: "▸", pending: "·" };

export function pinnedRows(state: State, keymap: Keymap, style: RowStyle): string[] {
  return [...planRow(state, keymap, style), ...todoRows(state.transcript, state.size.rows, style)];
}

/** A plan that a question asks about stands there. */
function planRow({ plan, questions }: State, keymap: Keymap, { theme, widgets, columns }: RowStyle): string[] {
  const { agreed, proposed } = plan;
  const text = proposed?.plan ?? agreed;
  if (text === undefined || questions.waiting.some(({ kind }) => kind === "plan")) return [];
  const key = keyName(keymap.keyOf("open-plan"));
  const end = key === "" ? "" : `  ${key} ${proposed === undefined ? "shows it" : "answers"}`;
  const begin = `: plan ${proposed === undefined ? "agreed" : "waits for you"}: ${planTitle(text)}`;
  const row = `${widgets.truncateToWidth(begin, Math.max(1, columns - end.length), "…")}${end}`;
  return [theme.paint(proposed === undefined ? "dim" : "warn", widgets.truncateToWidth(row, columns))];
}

function todoRows({ todos }: Transcript, screenRows: number, style: RowStyle): string[] {
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
