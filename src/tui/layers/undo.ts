/** The turns of the session, newest first, each with what undoing it would change. The chosen one is undone. */
import { visibleLine } from "#base";
import { wrapped } from "../block-rows.ts";
import type { LayerContext } from "../layer.ts";
import { namedRow } from "../list-row.ts";
import type { Loaded, TurnRow } from "../loads.ts";
import { definePicker } from "../picker.ts";

const NUMBER_COLUMNS = 60;
const MAX_PATHS = 200;

export const undoLayer = definePicker<TurnRow>({
  name: "undo",
  title: "Undo a turn",
  opener: { keys: ["alt+u"], help: "Undo a turn, after a look at what that changes" },
  words: ["undo"],
  empty: "No turn has ended yet.",
  load: () => ({ type: "load", name: "turns" }),
  items: (loaded) => ("value" in loaded && loaded.name === "turns" ? loaded.value.toReversed() : undefined),
  text: ({ input, number }) => `${number} ${input}`,
  rows: ({ number, input }, style) => namedRow(`${number}. ${input}`, "", NUMBER_COLUMNS * 2, style),
  previewLoad: ({ turn }) => ({ type: "load", name: "undo-plan", argument: turn }),
  preview: (_item, context, loaded) => planRows(context, loaded),
  onPick: ({ turn }) => [{ type: "submit", command: { kind: "UndoTurn", turn } }],
});

function planRows({ style }: LayerContext, loaded: Loaded | undefined): readonly string[] {
  const { theme, columns, widgets } = style;
  const cut = (row: string): string => widgets.truncateToWidth(visibleLine(row), columns, "…");
  if (loaded === undefined) return [theme.paint("dim", "Loading …")];
  if (loaded.type === "not-loaded")
    return wrapped(loaded.text, columns, widgets).map((row) => theme.paint("warn", row));
  if (loaded.name !== "undo-plan") return [];
  const { restored, conflicts, uncovered, leftOut } = loaded.value;
  const part = (title: string, rows: readonly string[], role: "good" | "bad" | "warn"): string[] =>
    rows.length === 0
      ? []
      : [theme.paint("strong", title), ...rows.map((row) => theme.paint(role, cut(`  ${row}`))), ""];
  const listed = [
    ...part(
      "Would change",
      restored.map(({ path, what }) => `${path} · ${what}`),
      "good",
    ),
    ...part(
      "Stops it: changed since",
      conflicts.map(({ path, why }) => `${path} · ${why}`),
      "bad",
    ),
    ...part(
      "Not covered by undo",
      [...uncovered, ...leftOut].map(({ path, why }) => `${path} · ${why}`),
      "warn",
    ),
  ];
  return listed.length === 0 ? [theme.paint("dim", "This turn changed nothing.")] : listed.slice(0, MAX_PATHS);
}
