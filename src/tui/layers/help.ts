/** The keys: every action with the keys that are in force, by the place where they count. */
import { wrapped } from "../block-rows.ts";
import type { KeyRow } from "../key-table.ts";
import { defineLayer, type LayerContext } from "../layer.ts";
import { headRow, keyHints, keyName } from "../layer-rows.ts";
import { emptyList, inView, type ListShape, type ListState, visibleRows, withListAction } from "../list.ts";

const KEYS_COLUMNS = 16;
const ACTION_COLUMNS = 20;
const NAMED_FROM_COLUMNS = 70;

export const helpLayer = defineLayer<ListState>({
  name: "help",
  title: "Keys",
  kind: "screen",
  opener: { keys: ["?", "f1"], help: "Show all keys" },
  words: ["keys"],
  keys: [],
  open: () => ({ state: emptyList }),
  update(state, message, context) {
    if (message.type === "changed") return { state: inView(state, shapeOf(context)) };
    if (message.type !== "key") return { state };
    if (message.action === "close" || message.text === "q") return { isClosed: true };
    return { state: withListAction(state, message.action, shapeOf(context)) ?? state };
  },
  view(state, context) {
    const rows = helpRows(context);
    const { style, keymap } = context;
    const hint = keyHints(
      [
        ["close", "close"],
        ["list-page-down", "more"],
      ],
      keymap,
    );
    const shown = visibleRows(state, shapeOf(context), (at) => [rows[at] ?? ""]);
    return { rows: [headRow("Keys", hint, style), ...shown] };
  },
});

function shapeOf(context: LayerContext): ListShape {
  return { count: helpRows(context).length, room: Math.max(1, context.rows - 1), heightOf: () => 1 };
}

const PLACES: Readonly<Record<string, string>> = {
  anywhere: "Anywhere",
  input: "While you type an input",
  editor: "In the editor",
  list: "In lists",
  layer: "In everything that opens",
};

function helpRows({ keymap, style }: LayerContext): readonly string[] {
  const { theme } = style;
  const groups = Map.groupBy(
    keymap.rows.filter(({ keys }) => keys.length > 0),
    ({ place }) => place,
  );
  return [...groups].flatMap(([place, rows]) => {
    const lines = rows.flatMap((row) => keyRows(row, style));
    return [theme.paint("heading", PLACES[place] ?? `In ${place}`), ...lines, ""];
  });
}

/** The name of the action, which `[keys]` goes by, where there is room for it. */
function keyRows({ keys, action, help }: KeyRow, { columns, widgets }: LayerContext["style"]): string[] {
  const name = columns < NAMED_FROM_COLUMNS ? "" : `${action.padEnd(ACTION_COLUMNS)} `;
  const head = `  ${keys.map(keyName).join(", ").padEnd(KEYS_COLUMNS)} ${name}`;
  const blank = " ".repeat(widgets.visibleWidth(head));
  return wrapped(help, columns - blank.length, widgets).map((row, at) => {
    return widgets.truncateToWidth(`${at === 0 ? head : blank}${row}`, columns);
  });
}
