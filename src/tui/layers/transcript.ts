/** The whole conversation on a screen of its own: rows open, a search, and what was before this interface was attached. */
import { visibleLine } from "#base";
import type { Event } from "#protocol";
import { blockText, transcriptRows } from "../block-text.ts";
import {
  blockAt,
  type Earlier,
  keptNear,
  missing,
  type Near,
  nothingEarlier,
  withEarlier,
  withLetGo,
  withReadAgain,
} from "../earlier.ts";
import { defineLayer, type LayerContext, type LayerMessage, type LayerStep } from "../layer.ts";
import { headRow, keyHints } from "../layer-rows.ts";
import {
  createRowCache,
  emptyList,
  inView,
  itemAt,
  type ListShape,
  type ListState,
  scrolled,
  select,
  visibleRows,
  withListAction,
} from "../list.ts";
import { EARLIER_EVENTS } from "../loads.ts";
import { type TextField, withFieldKey, withFieldText } from "../text-field.ts";
import { type Block, isFinished } from "../transcript.ts";

type Style = LayerContext["style"];
type Rows = (block: Block, style: Style) => readonly string[];

interface TranscriptState {
  readonly list: ListState;
  readonly earlier: Earlier;
  /** The number of the first block that the interface held when it was looked at last. */
  readonly heldFrom: number;
  /** What is being read, as the load takes it; empty: nothing. */
  readonly loading: string;
  /** The end stays in sight while the conversation goes on. */
  readonly isFollowing: boolean;
  /** Blocks that are open. A block that changes is another one and keeps its number. */
  readonly open: ReadonlySet<number>;
  /** While a text to search for is typed. */
  readonly field: TextField | undefined;
  readonly query: string;
  /** What is read for, beside what is in sight. */
  readonly wants: "nothing" | "first" | Search;
  readonly note: string;
  readonly closedRows: Rows;
  readonly openRows: Rows;
}

/** A search that has come to this block and goes on in this direction. */
interface Search {
  readonly at: number;
  readonly step: -1 | 1;
}

const OWN_ROWS = 2;
const GUTTER = 2;
/** So many blocks around the rows in sight are read. */
const READ_AHEAD = 100;

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
    { action: "transcript-scroll-up", keys: ["wheelUp"], help: "Scroll up" },
    { action: "transcript-scroll-down", keys: ["wheelDown"], help: "Scroll down" },
    { action: "transcript-click", keys: ["click"], help: "Open or close the row" },
  ],
  open(_argument, context): LayerStep<TranscriptState> {
    const state: TranscriptState = {
      list: emptyList,
      earlier: nothingEarlier(heldSince(context)),
      ...{
        heldFrom: context.state.transcript.finished.from,
        loading: "",
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
        return read(followed(joined(state, context), context), context);
      case "paste":
        return {
          state: state.field === undefined ? state : { ...state, field: withFieldText(state.field, message.text) },
        };
      case "not-loaded":
        return message.name === "earlier"
          ? { state: { ...state, loading: "", wants: "nothing", note: message.text } }
          : { state };
      case "loaded":
        return message.name === "earlier" && message.argument === state.loading
          ? withEvents(state, message.value, context)
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
  const before = earlier.count;
  const live = before + finished.to - finished.from;
  return {
    count: live + blocks.length,
    at(index) {
      if (index < before) return blockAt(earlier, index);
      return index < live ? finished.kept[index - before] : blocks[index - live];
    },
  };
}

/** The event that began the first block which the interface holds. */
function heldSince({ state }: LayerContext): number {
  const { finished, blocks, event } = state.transcript;
  return (finished.kept[0] ?? blocks[0])?.at ?? event + 1;
}

/** Counted from the first block that this interface has folded: those before it have numbers below zero. */
function numberOf({ earlier }: TranscriptState, at: number, { state }: LayerContext): number {
  return at - earlier.count + state.transcript.finished.from;
}

function rowsOf(state: TranscriptState, items: Items, at: number, context: LayerContext): readonly string[] {
  const block = items.at(at);
  if (block === undefined) return [context.style.theme.paint("dim", "…")];
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

/** What the interface has let go of meanwhile is read from the log as well. */
function joined(state: TranscriptState, context: LayerContext): TranscriptState {
  const { from } = context.state.transcript.finished;
  const count = from - state.heldFrom;
  if (count === 0) return state;
  return { ...state, heldFrom: from, earlier: withLetGo(state.earlier, count, heldSince(context)) };
}

/** Reads where somebody looks or looks for something, and lets go of what is far from there. */
function read(before: TranscriptState, { rows }: LayerContext): LayerStep<TranscriptState> {
  const { list, wants } = before;
  const look = { first: list.top.item, last: list.top.item + rows };
  const looks = typeof wants === "string" ? [look] : [look, { first: wants.at, last: wants.at }];
  const state = { ...before, earlier: keptNear(before.earlier, looks) };
  const wanted = state.loading === "" ? toRead(state, looks) : undefined;
  if (wanted === undefined) return { state };
  return { state: { ...state, loading: wanted }, effects: [{ type: "load", name: "earlier", argument: wanted }] };
}

function toRead({ earlier, list, wants }: TranscriptState, looks: readonly Near[]): string | undefined {
  for (const { first, last } of looks) {
    const again = missing(earlier, { first: first - READ_AHEAD, last: last + READ_AHEAD });
    if (again !== undefined) return again;
  }
  const { before } = earlier;
  const isFurther = wants === "nothing" ? list.top.item < READ_AHEAD : wants === "first" || wants.step < 0;
  return before <= 1 || !isFurther ? undefined : `${Math.max(1, before - EARLIER_EVENTS)}:${before}`;
}

function withEvents(
  before: TranscriptState,
  events: readonly Event[],
  context: LayerContext,
): LayerStep<TranscriptState> {
  const { session } = context.state.transcript;
  const to = Number(before.loading.split(":")[1]);
  const isOlder = to === before.earlier.before;
  const older = withEarlier(before.earlier, session, events);
  const { earlier, from, by } = isOlder
    ? { earlier: older, from: 0, by: older.count - before.earlier.count }
    : withReadAgain(before.earlier, session, to, events);
  const state = { ...before, earlier, loading: "" };
  return went(by === 0 ? state : movedDown(state, from, by), context);
}

/** Blocks from this index on stand further down. */
function movedDown(state: TranscriptState, from: number, by: number): TranscriptState {
  const { list, wants } = state;
  const down = (index: number): number => (index < from ? index : Math.max(0, index + by));
  return {
    ...state,
    list: { selected: down(list.selected), top: { ...list.top, item: down(list.top.item) } },
    wants: typeof wants === "string" ? wants : { ...wants, at: down(wants.at) },
  };
}

/** After a page, goes on with what it was read for. */
function went(state: TranscriptState, context: LayerContext): LayerStep<TranscriptState> {
  const { wants, earlier } = state;
  if (typeof wants !== "string") return searched(state, wants, context);
  if (wants === "first" && earlier.before <= 1) {
    return read({ ...moved(state, 0, context), wants: "nothing" }, context);
  }
  return read(followed(state, context), context);
}

type Key = Extract<LayerMessage, { type: "key" }>;

function withKey(
  state: TranscriptState,
  { action, text, row }: Key,
  context: LayerContext,
): LayerStep<TranscriptState> {
  switch (action) {
    case "close":
      return { isClosed: true };
    case "transcript-open":
      return { state: toggled(state, state.list.selected, context) };
    case "transcript-click": {
      const at = itemAt(state.list, (row ?? 0) - 1, shapeOf(state, context));
      return { state: at === undefined ? state : toggled(state, at, context) };
    }
    case "transcript-scroll-up":
      return scrolledBy(state, -1, context);
    case "transcript-scroll-down":
      return scrolledBy(state, 1, context);
    case "transcript-search":
      return { state: { ...state, field: { text: "" } } };
    case "transcript-older":
      return searched(state, { at: state.list.selected, step: -1 }, context);
    case "transcript-newer":
      return searched(state, { at: state.list.selected, step: 1 }, context);
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

function toggled(state: TranscriptState, at: number, context: LayerContext): TranscriptState {
  const open = new Set(state.open);
  const number = numberOf(state, at, context);
  if (!open.delete(number)) open.add(number);
  return moved({ ...state, open }, at, context);
}

function scrolledBy(state: TranscriptState, rows: number, context: LayerContext): LayerStep<TranscriptState> {
  const shape = shapeOf(state, context);
  const list = scrolled(state.list, rows, shape);
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
  const asked = { ...state, field: undefined, query: field.text.toLowerCase() };
  return searched(asked, { at: state.list.selected, step: -1 }, context);
}

/** The nearest match in this direction, which may be on a page that is not read. */
function searched(state: TranscriptState, { at: begin, step }: Search, context: LayerContext) {
  const { query, earlier } = state;
  if (query === "") return { state: { ...state, note: "Search with / first." } };
  const items = itemsOf(state, context);
  const isThere = (at: number): boolean => at >= 0 && at < items.count;
  let at = begin + step;
  while (isThere(at) && items.at(at) !== undefined && !isMatch(items.at(at), query)) at += step;
  if (isThere(at) && isMatch(items.at(at), query)) {
    return read({ ...moved(state, at, context), wants: "nothing" }, context);
  }
  if (isThere(at) || (step < 0 && earlier.before > 1)) {
    return read({ ...state, wants: { at: at - step, step }, isFollowing: false }, context);
  }
  const note = `No match ${step < 0 ? "above" : "below"}: ${query}`;
  return { state: { ...state, wants: "nothing" as const, note } };
}

function isMatch(block: Block | undefined, query: string): boolean {
  return block !== undefined && blockText(block).toLowerCase().includes(query);
}

function moved(state: TranscriptState, to: number, context: LayerContext): TranscriptState {
  return { ...state, isFollowing: false, list: select(state.list, to, shapeOf(state, context)) };
}
