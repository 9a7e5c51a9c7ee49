/**
 * A layer that is a list with a filter: loads its items, narrows them as people type, and does something with the one that is chosen.
 * With a preview it fills the screen, otherwise it stands in place of the editor.
 */
import { wrapped } from "./block-rows.ts";
import type { Effect } from "./effects.ts";
import {
  defineLayer,
  type Layer,
  type LayerContext,
  type LayerFacts,
  type LayerMessage,
  type LayerStep,
  type LayerView,
} from "./layer.ts";
import { headRow } from "./layer-rows.ts";
import {
  createRowCache,
  emptyList,
  inView,
  type ListShape,
  type ListState,
  visibleRows,
  withListAction,
} from "./list.ts";
import type { LoadEffect, Loaded } from "./loads.ts";
import { type TextField, withFieldKey, withFieldText } from "./text-field.ts";

export interface PickerDefinition<Item extends object> extends Omit<LayerFacts, "kind" | "keys"> {
  readonly keys?: LayerFacts["keys"];
  /** Shown when there are no items at all. */
  readonly empty: string;
  load(argument: string): LoadEffect;
  /** Undefined for an answer to something else. */
  items(loaded: Loaded, context: LayerContext): readonly Item[] | undefined;
  /** What the filter looks at. */
  text(item: Item): string;
  /** One row or several, no wider than `columns`. */
  rows(item: Item, style: LayerContext["style"]): readonly string[];
  /** `loaded`: the answer to `previewLoad` for this item, when it has come. */
  preview?(item: Item, context: LayerContext, loaded: Loaded | undefined): readonly string[];
  /** What the preview of an item needs; asked for when it is selected first. */
  previewLoad?(item: Item): LoadEffect;
  /** The picker is closed, and this is done. */
  onPick(item: Item, context: LayerContext): readonly Effect[];
  /** What such a key would do, for those that have to be pressed twice. */
  confirm?(action: string, item: Item): string | undefined;
  /** A key of its own was pressed; without an item there is none to choose. Undefined: nothing happens. */
  onAction?(action: string, item: Item | undefined, context: LayerContext): LayerStep<"same"> | undefined;
}

interface PickerState<Item> {
  readonly field: TextField;
  /** Absent while they are loaded. */
  readonly items: readonly Item[] | undefined;
  readonly found: readonly Item[];
  readonly list: ListState;
  readonly problem: string;
  /** The key that counts when it is pressed again, and what it does. */
  readonly confirming: { readonly action: string; readonly text: string } | undefined;
  /** By the argument of what was asked for; absent values have not come yet. */
  readonly previews: ReadonlyMap<string, Loaded | undefined>;
  readonly rowsOf: (item: Item, style: LayerContext["style"]) => readonly string[];
}

/** Rows of a modal picker. */
const MODAL_ROWS = 10;
/** From this width on, the preview stands beside the list. */
const WIDE_COLUMNS = 100;
const LIST_SHARE = 0.45;
const HEAD_ROWS = 2;

export function definePicker<Item extends object>(definition: PickerDefinition<Item>): Layer {
  type Own = PickerState<Item>;
  const isScreen = definition.preview !== undefined;

  function listStyle(context: LayerContext): LayerContext["style"] {
    const { style } = context;
    const share = isScreen && isWide(context) ? LIST_SHARE : 1;
    return { ...style, columns: Math.max(1, Math.floor(style.columns * share) - 2) };
  }

  function shapeOf(state: Own, context: LayerContext): ListShape {
    const style = listStyle(context);
    const rows = Math.max(1, context.rows - HEAD_ROWS);
    const room = !isScreen ? Math.min(MODAL_ROWS, rows) : isWide(context) ? rows : Math.ceil(rows / 2);
    return {
      count: state.found.length,
      room,
      heightOf: (at) => (state.found[at] === undefined ? 0 : state.rowsOf(state.found[at], style).length),
    };
  }

  function filtered(state: Own, context: LayerContext): Own {
    const { items = [], field } = state;
    const { fuzzyFilter } = context.style.widgets;
    const found = field.text.trim() === "" ? items : fuzzyFilter([...items], field.text.trim(), definition.text);
    return { ...state, found, list: emptyList };
  }

  function withKey(
    before: Own,
    message: { key: string; text: string; action: string | undefined },
    context: LayerContext,
  ) {
    const { action, key, text } = message;
    if (action === "close") return { isClosed: true } as const;
    const state = { ...before, confirming: undefined };
    const item = state.found[state.list.selected];
    if (action === "list-pick") {
      return item === undefined ? { state } : { isClosed: true as const, effects: definition.onPick(item, context) };
    }
    const moved = withListAction(state.list, action, shapeOf(state, context));
    if (moved !== undefined) return { state: { ...state, list: moved } };
    const isOwn = action !== undefined && (definition.keys ?? []).some((row) => row.action === action);
    if (isOwn) {
      const asked = item === undefined ? undefined : definition.confirm?.(action, item);
      if (asked !== undefined && before.confirming?.action !== action) {
        return { state: { ...state, confirming: { action, text: asked } } };
      }
      const step = definition.onAction?.(action, item, context);
      if (step === undefined) return { state };
      return "isClosed" in step ? step : { ...step, state };
    }
    const field = withFieldKey(state.field, key, text);
    return field === undefined ? { state } : { state: filtered({ ...state, field }, context) };
  }

  function changed(state: Own, message: LayerMessage, context: LayerContext): LayerStep<Own> {
    switch (message.type) {
      case "key":
        return withKey(state, message, context);
      case "paste":
        return { state: filtered({ ...state, field: withFieldText(state.field, message.text) }, context) };
      case "loaded":
      case "not-loaded":
        return { state: withAnswer(state, message, context) };
      case "changed":
        return { state: { ...state, list: inView(state.list, shapeOf(state, context)) } };
    }
  }

  function withAnswer(state: Own, message: Loaded, context: LayerContext): Own {
    const { name, argument } = message;
    if (state.previews.has(argument) && name !== definition.load("").name) {
      return { ...state, previews: new Map(state.previews).set(argument, message) };
    }
    if (name !== definition.load("").name) return state;
    if (message.type === "not-loaded") return { ...state, items: state.items ?? [], problem: message.text };
    const items = definition.items(message, context);
    return items === undefined ? state : filtered({ ...state, items, problem: "" }, context);
  }

  /** Asks for what the preview of the selected item needs, once for each item. */
  function withPreviewLoad(step: LayerStep<Own>): LayerStep<Own> {
    if ("isClosed" in step) return step;
    const item = step.state.found[step.state.list.selected];
    const load = item === undefined ? undefined : definition.previewLoad?.(item);
    const { argument = "" } = load ?? {};
    if (load === undefined || step.state.previews.has(argument)) return step;
    const previews = new Map(step.state.previews).set(argument, undefined);
    return { state: { ...step.state, previews }, effects: [...(step.effects ?? []), load] };
  }

  return defineLayer<Own>({
    ...definition,
    kind: isScreen ? "screen" : "modal",
    keys: definition.keys ?? [],
    open: (argument) => ({
      state: {
        field: { text: "" },
        items: undefined,
        found: [],
        list: emptyList,
        problem: "",
        confirming: undefined,
        previews: new Map(),
        rowsOf: createRowCache(definition.rows),
      },
      effects: [definition.load(argument)],
    }),
    update: (state, message, context) => withPreviewLoad(changed(state, message, context)),
    view(state, context): LayerView {
      const { style } = context;
      const { theme, widgets } = style;
      const narrow = listStyle(context);
      const shape = shapeOf(state, context);
      const count = state.items === undefined ? "" : `${state.found.length} of ${state.items.length}`;
      const typed = `› ${state.field.text}`;
      const mark = (isSelected: boolean, row: string): string =>
        isSelected ? `${theme.paint("accent", "▸ ")}${theme.paint("strong", row)}` : `  ${row}`;
      const listed = visibleRows(state.list, shape, (at, isSelected) => {
        const item = state.found[at];
        return item === undefined ? [] : state.rowsOf(item, narrow).map((row) => mark(isSelected, row));
      });
      const said =
        state.problem !== ""
          ? wrapped(state.problem, style.columns, widgets).map((row) => theme.paint("bad", row))
          : state.items === undefined
            ? [theme.paint("dim", "  Loading …")]
            : state.found.length === 0
              ? [theme.paint("dim", `  ${state.items.length === 0 ? definition.empty : "Nothing matches."}`)]
              : listed;
      const item = state.found[state.list.selected];
      const loaded = item === undefined ? undefined : state.previews.get(definition.previewLoad?.(item).argument ?? "");
      const beside = item === undefined ? [] : (definition.preview?.(item, previewContext(context), loaded) ?? []);
      const body = isScreen ? withPreview(said, beside, shape.room, context) : said;
      const rows = [
        headRow(definition.title, count, style),
        widgets.truncateToWidth(typed, style.columns),
        ...confirmRows(state.confirming?.text, style),
        ...body,
      ].slice(0, Math.max(1, context.rows));
      return { rows, cursor: { row: 1, column: Math.min(style.columns - 1, widgets.visibleWidth(typed)) } };
    },
  });
}

function confirmRows(text: string | undefined, { theme, columns, widgets }: LayerContext["style"]): readonly string[] {
  return text === undefined ? [] : wrapped(text, columns, widgets).map((row) => theme.paint("warn", row));
}

function isWide({ style }: LayerContext): boolean {
  return style.columns >= WIDE_COLUMNS;
}

function previewContext(context: LayerContext): LayerContext {
  const { style } = context;
  const columns = isWide(context) ? style.columns - Math.floor(style.columns * LIST_SHARE) - 2 : style.columns - 2;
  return { ...context, style: { ...style, columns: Math.max(1, columns) } };
}

function withPreview(
  listed: readonly string[],
  preview: readonly string[],
  room: number,
  context: LayerContext,
): readonly string[] {
  const { theme, widgets, columns } = context.style;
  if (!isWide(context)) {
    const blank = Array.from({ length: Math.max(0, room - listed.length) }, () => "");
    const below = preview.map((row) => `${theme.paint("dim", "│ ")}${row}`);
    return [...listed, ...blank, theme.paint("dim", "─".repeat(columns)), ...below];
  }
  const left = Math.floor(columns * LIST_SHARE);
  const count = Math.max(room, listed.length);
  return Array.from({ length: count }, (_, at) => {
    const row = listed[at] ?? "";
    const gap = " ".repeat(Math.max(0, left - widgets.visibleWidth(row)));
    return `${row}${gap}${theme.paint("dim", "│ ")}${preview[at] ?? ""}`;
  });
}
