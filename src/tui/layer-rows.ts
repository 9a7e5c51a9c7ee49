/** Rows that every layer has: its head, and what its keys do. Pure. */
import type { RowStyle } from "./block-rows.ts";
import type { Keymap } from "./key-table.ts";

/** A rule with a title on the left and a word on the right. */
export function headRow(title: string, right: string, { theme, columns, widgets }: RowStyle): string {
  const end = right === "" ? "" : ` ${right} ──`;
  const begin = widgets.truncateToWidth(`── ${title} `, Math.max(1, columns - end.length));
  const rule = "─".repeat(Math.max(0, columns - widgets.visibleWidth(begin) - end.length));
  return theme.paint("strong", widgets.truncateToWidth(`${begin}${rule}${end}`, columns));
}

/** `Enter choose · Esc close`, for these actions. */
export function keyHints(hints: readonly (readonly [action: string, text: string])[], keymap: Keymap): string {
  return hints
    .map(([action, text]) => [keyName(keymap.keyOf(action)), text] as const)
    .filter(([key]) => key !== "")
    .map(([key, text]) => `${key} ${text}`)
    .join(" · ");
}

/** The same in as many rows as it takes; none is cut within a hint. */
export function keyHintRows(
  hints: readonly (readonly [action: string, text: string])[],
  keymap: Keymap,
  { columns, widgets }: RowStyle,
): string[] {
  const rows: string[] = [];
  for (const hint of hints.map((one) => keyHints([one], keymap)).filter((text) => text !== "")) {
    const longer = `${rows.at(-1) ?? ""} · ${hint}`;
    if (rows.length > 0 && widgets.visibleWidth(longer) <= columns) rows[rows.length - 1] = longer;
    else rows.push(hint);
  }
  return rows;
}

const NAMES: Readonly<Record<string, string>> = {
  escape: "Esc",
  enter: "Enter",
  pageUp: "PgUp",
  pageDown: "PgDn",
  wheelUp: "Wheel-↑",
  wheelDown: "Wheel-↓",
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
};

/** As people write it: `Ctrl-R`. */
export function keyName(key: string): string {
  const parts = key.split("+");
  const last = parts.at(-1) ?? "";
  const held = parts.slice(0, -1).map((part) => `${part.slice(0, 1).toUpperCase()}${part.slice(1)}-`);
  const name =
    NAMES[last] ?? (held.length > 0 || last.length > 1 ? last.slice(0, 1).toUpperCase() + last.slice(1) : last);
  return `${held.join("")}${name}`;
}
