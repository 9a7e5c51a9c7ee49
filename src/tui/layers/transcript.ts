/** The whole conversation on a screen of its own: rows open, a search, and what was before this interface was attached. */
import { visibleLine } from "#base";
import { blockText, transcriptRows } from "../block-text.ts";
import { type Earlier, withEarlier } from "../earlier.ts";
import type { Effect } from "../effects.ts";
import { defineLayer, type LayerContext, type LayerMessage, type LayerStep } from "../layer.ts";
import { headRow, keyHints } from "../layer-rows.ts";
import {
  createRowCache,
  emptyList,
  inView,
  type ListShape,
  type ListState,
  select,
  visibleRows,
  withListAction,
} from "../list.ts";
import { type TextField, withFieldKey, withFieldText } from "../text-field.ts";
import { type Block, isFinished } from "../transcript.ts";

type Style = LayerContext["style"];
type Rows = (block: Block, style: Style) => readonly string[];

interface TranscriptState {
  readonly list: ListState;
  readonly earlier: Earlier;
  readonly isLoading: boolean;
  /** The end stays in sight while the conversation goes on. */
  readonly isFollowing: boolean;
  /** Blocks that are open. A block that changes is another one and keeps its number. */
  readonly open: ReadonlySet<number>;
  /** While a text to search for is typed. */
  readonly field: TextField | undefined;
  readonly query: string;
  /** What reading further back is for. */
  readonly wants: "nothing" | "first" | "match";
  readonly note: string;
  readonly closedRows: Rows;
  readonly openRows: Rows;
}

const nothingEarlier: Earlier = { blocks: [], open: [], before: 1 };
const OWN_ROWS = 2;
const GUTTER = 2;
/** Pages are read when fewer blocks than this stand above the selected one. */
const READ_AHEAD = 20;

export const transcriptLayer = defineLayer<TranscriptState>({
  name: "transcript",
  title: "Transcript",
  kind: "screen",
  opener: { keys: ["ctrl+o"], help: "Show the whole conversation" },
  words: ["transcript"],
  keys: [
    { action: "transcript-open", keys: ["enter", "space"], help: "Open or close the row" },
    { action: "transcript-search", keys: ["/"], help: "Search" },
    { action: "transcript-older", keys: ["n"], help: "The match before" },
    { action: "transcript-newer", keys: ["shift+n", "N"], help: "The match after" },
  ],
  open(_argument, context): LayerStep<TranscriptState> {
    const before = itemsOf({ earlier: nothingEarlier }, context).at(0)?.at ?? context.state.transcript.event + 1;
    const state: TranscriptState = {
      list: emptyList,
      earlier: { ...nothingEarlier, before },
      ...{
        isLoading: false,
        isFollowing: true,
        open: new Set(),
        field: undefined,
        query: "",
        wants: "nothing",
        note: "",
      },
      closedRows: createRowCache((block: Block, style: Style) => transcriptRows(block, false, style)),
      openRows: createRowCache((block: Block, style: Style) => transcriptRows(block, true, style)),
    };
    return read(followed(state, context), context);
  },
  update(state, message, context): LayerStep<TranscriptState> {
    switch (message.type) {
      case "changed":
        return { state: followed(state, context) };
      case "paste":
        return {
          state: state.field === undefined ? state : { ...state, field: withFieldText(state.field, message.text) },
        };
      case "not-loaded":
        return message.name === "earlier"
          ? { state: { ...state, isLoading: false, wants: "nothing", note: message.text } }
          : { state };
      case "loaded":
        return message.name === "earlier" && Number(message.argument) === state.earlier.before
          ? withPage(state, message.value, context)
          : { state };
      case "key":
        return state.field === undefined
          ? withKey({ ...state, note: "" }, message, context)
          : withTyped(state, message, context);
    }
  },
  view(state, context) {
    const { style, keymap } = context;
    const items = itemsOf(state, context);
    const shape = shapeOf(state, context);
    const rows = visibleRows(state.list, shape, (at, isSelected) => {
      const mark = isSelected ? style.theme.paint("accent", "▸ ") : "  ";
      const own = rowsOf(state, items, at, context);
      const marked = Math.max(
        0,
        own.findIndex((row) => row.trim() !== ""),
      );
      return own.map((row, line) => `${line === marked ? mark : "  "}${row}`);
    });
    const blank = Array.from({ length: Math.max(0, shape.room - rows.length) }, () => "");
    const place = `${Math.min(items.count, state.list.selected + 1)} of ${items.count}${state.earlier.before > 1 ? "+" : ""}`;
    const hints = keyHints(
      [
        ["transcript-open", "open"],
        ["transcript-search", "search"],
        ["list-first", "first"],
        ["list-last", "last"],
        ["close", "close"],
      ],
      keymap,
    );
    const loading = state.wants === "nothing" ? "" : "Reading …";
    const below =
      state.field !== undefined ? `/${visibleLine(state.field.text)}` : visibleLine(state.note || loading) || hints;
    const last = style.widgets.truncateToWidth(below, style.columns);
    const cursor = { row: context.rows - 1, column: Math.min(style.columns - 1, style.widgets.visibleWidth(last)) };
    return {
      rows: [headRow("Transcript", place, style), ...rows, ...blank, style.theme.paint("dim", last)],
      ...(state.field !== undefined && { cursor }),
    };
  },
});

/** All blocks, oldest first, where they are: copies of so many would be made for every key. */
interface Items {
  readonly count: number;
  at(index: number): Block | undefined;
}

function itemsOf({ earlier }: Pick<TranscriptState, "earlier">, { state }: LayerContext): Items {
  const { finished, blocks } = state.transcript;
  const before = earlier.blocks.length;
  const live = before + finished.to - finished.from;
  return {
    count: live + blocks.length,
    at(index) {
      if (index < before) return earlier.blocks[index];
      return index < live ? finished.kept[index - before] : blocks[index - live];
    },
  };
}

/** Counted from the first block that this interface has folded: those that are read later have numbers below zero. */
function numberOf({ earlier }: TranscriptState, at: number, { state }: LayerContext): number {
  return at - earlier.blocks.length + (at < earlier.blocks.length ? 0 : state.transcript.finished.from);
}

function rowsOf(state: TranscriptState, items: Items, at: number, context: LayerContext): readonly string[] {
  const block = items.at(at);
  if (block === undefined) return [];
  const style = { ...context.style, columns: Math.max(1, context.style.columns - GUTTER) };
  const isOpen = state.open.has(numberOf(state, at, context));
  // What runs shows the time.
  if (!isFinished(block)) return transcriptRows(block, isOpen, style);
  return isOpen ? state.openRows(block, style) : state.closedRows(block, style);
}

function shapeOf(state: TranscriptState, context: LayerContext): ListShape {
  const items = itemsOf(state, context);
  return {
    count: items.count,
    room: Math.max(1, context.rows - OWN_ROWS),
    heightOf: (at) => rowsOf(state, items, at, context).length,
  };
}

function followed(state: TranscriptState, context: LayerContext): TranscriptState {
  const shape = shapeOf(state, context);
  const list = state.isFollowing ? select(state.list, shape.count - 1, shape) : inView(state.list, shape);
  return { ...state, list };
}

/** Reads further back where somebody looks or looks for something. */
function read(state: TranscriptState, _context: LayerContext): LayerStep<TranscriptState> {
  const { earlier, isLoading, list, wants } = state;
  const isNear = list.selected < READ_AHEAD || wants !== "nothing";
  if (isLoading || earlier.before <= 1 || !isNear) return { state };
  const effect: Effect = { type: "load", name: "earlier", argument: String(earlier.before) };
  return { state: { ...state, isLoading: true }, effects: [effect] };
}

function withPage(
  state: TranscriptState,
  page: Parameters<typeof withEarlier>[2],
  context: LayerContext,
): LayerStep<TranscriptState> {
  const earlier = withEarlier(state.earlier, context.state.transcript.session, page);
  const added = earlier.blocks.length - state.earlier.blocks.length;
  const { selected, top } = state.list;
  const list = { selected: selected + added, top: { ...top, item: top.item + added } };
  const next = { ...state, earlier, list, isLoading: false };
  if (state.wants === "match") return searched(next, context);
  const isDone = earlier.before <= 1;
  if (state.wants === "first" && isDone) return { state: { ...moved(next, 0, context), wants: "nothing" } };
  return read(followed(next, context), context);
}

type Key = Extract<LayerMessage, { type: "key" }>;

function withKey(state: TranscriptState, { action, text }: Key, context: LayerContext): LayerStep<TranscriptState> {
  switch (action) {
    case "close":
      return { isClosed: true };
    case "transcript-open": {
      const open = new Set(state.open);
      const number = numberOf(state, state.list.selected, context);
      if (!open.delete(number)) open.add(number);
      return { state: followed({ ...state, open, isFollowing: false }, context) };
    }
    case "transcript-search":
      return { state: { ...state, field: { text: "" } } };
    case "transcript-older":
      return searched(state, context);
    case "transcript-newer":
      return searchedNewer(state, context);
    case "list-first":
      if (state.earlier.before > 1) return read({ ...state, isFollowing: false, wants: "first" }, context);
      break;
  }
  if (text === "q") return { isClosed: true };
  const shape = shapeOf(state, context);
  const list = withListAction(state.list, action, shape);
  if (list === undefined) return { state };
  return read({ ...state, list, wants: "nothing", isFollowing: list.selected >= shape.count - 1 }, context);
}

function withTyped(
  state: TranscriptState,
  { key, text, action }: Key,
  context: LayerContext,
): LayerStep<TranscriptState> {
  const field = state.field ?? { text: "" };
  if (action === "close") return { state: { ...state, field: undefined } };
  if (key !== "enter") return { state: { ...state, field: withFieldKey(field, key, text) ?? field } };
  return searched({ ...state, field: undefined, query: field.text.toLowerCase() }, context);
}

/** The nearest match above, which may be on a page that is not read yet. */
function searched(state: TranscriptState, context: LayerContext): LayerStep<TranscriptState> {
  const { query, earlier, list } = state;
  if (query === "") return { state: { ...state, note: "Search with / first." } };
  const items = itemsOf(state, context);
  let at = list.selected - 1;
  while (at >= 0 && !isMatch(items.at(at), query)) at--;
  if (at >= 0) return { state: { ...moved(state, at, context), wants: "nothing" } };
  if (earlier.before > 1) return read({ ...state, wants: "match", isFollowing: false }, context);
  return { state: { ...state, wants: "nothing", note: `No match above: ${query}` } };
}

function searchedNewer(state: TranscriptState, context: LayerContext): LayerStep<TranscriptState> {
  const { query, list } = state;
  const items = itemsOf(state, context);
  let at = list.selected + 1;
  while (at < items.count && !isMatch(items.at(at), query)) at++;
  if (query === "" || at >= items.count)
    return { state: { ...state, note: query === "" ? "Search with / first." : `No match below: ${query}` } };
  return { state: moved(state, at, context) };
}

function isMatch(block: Block | undefined, query: string): boolean {
  return block !== undefined && blockText(block).toLowerCase().includes(query);
}

function moved(state: TranscriptState, to: number, context: LayerContext): TranscriptState {
  return { ...state, isFollowing: false, list: select(state.list, to, shapeOf(state, context)) };
}
