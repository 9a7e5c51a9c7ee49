/** A search in what was said in sessions, of this folder or of all. The chosen session takes over the conversation. */
import { visibleLine } from "#base";
import { SessionId } from "#protocol";
import { defineLayer, type LayerContext, type LayerMessage, type LayerStep } from "../layer.ts";
import { headRow, keyHints } from "../layer-rows.ts";
import { emptyList, inView, type ListShape, type ListState, visibleRows, withListAction } from "../list.ts";
import { namedRow } from "../list-row.ts";
import type { Loaded } from "../loads.ts";
import type { SearchReport } from "../session-search.ts";
import { type TextField, withFieldKey, withFieldText } from "../text-field.ts";

interface SearchState {
  readonly field: TextField;
  readonly scope: "here" | "all";
  /** What was searched for last, as the load takes it; empty: nothing. */
  readonly asked: string;
  /** Absent while it is searched. */
  readonly report: SearchReport | undefined;
  readonly problem: string;
  readonly list: ListState;
}

const NAME_COLUMNS = 44;
/** The head, what is typed, and the hints. */
const OWN_ROWS = 3;
const ITEM_ROWS = 2;
/** Ends a search that runs. */
const stopped = { type: "load", name: "search", argument: "" } as const;

export const searchLayer = defineLayer<SearchState>({
  name: "search",
  title: "Search in sessions",
  kind: "modal",
  opener: { keys: ["alt+r"], help: "Search in what was said in sessions" },
  keys: [{ action: "search-scope", keys: ["tab"], help: "Sessions of all folders, or of this one" }],
  open: () => ({
    state: { field: { text: "" }, scope: "here", asked: "", report: undefined, problem: "", list: emptyList },
  }),
  update(state, message, context): LayerStep<SearchState> {
    switch (message.type) {
      case "key":
        return withKey(state, message, context);
      case "paste":
        return { state: { ...state, field: withFieldText(state.field, message.text) } };
      case "loaded":
      case "not-loaded":
        return { state: withAnswer(state, message) };
      case "changed":
        return { state: { ...state, list: inView(state.list, shapeOf(state, context)) } };
    }
  },
  view(state, context) {
    const { style, keymap } = context;
    const { theme, widgets, columns } = style;
    const typed = `› ${state.field.text}`;
    const narrow = { ...style, columns: Math.max(1, columns - 2) };
    const listed = visibleRows(state.list, shapeOf(state, context), (at, isSelected) => {
      const item = state.report?.found[at];
      if (item === undefined) return [];
      const { title, id, updated_at: at2, working_dir: folder } = item.info;
      const about = `${at2.slice(0, 16).replace("T", " ")} · ${folder}`;
      const [name = ""] = namedRow(title === "" ? id : title, about, NAME_COLUMNS, narrow);
      const excerpt = widgets.truncateToWidth(`  ${visibleLine(item.excerpt)}`, narrow.columns, "…");
      const first = isSelected ? `${theme.paint("accent", "▸ ")}${theme.paint("strong", name)}` : `  ${name}`;
      return [first, `  ${theme.paint("dim", excerpt)}`];
    });
    const hints = keyHints(
      [
        ["list-pick", isCurrent(state) ? "open" : "search"],
        ["search-scope", state.scope === "here" ? "all folders" : "this folder"],
        ["close", "close"],
      ],
      keymap,
    );
    const title =
      state.scope === "here" ? "Search in the sessions of this folder" : "Search in the sessions of all folders";
    return {
      rows: [
        headRow(title, countOf(state), style),
        widgets.truncateToWidth(typed, columns),
        ...(listed.length > 0 ? listed : [theme.paint(state.problem === "" ? "dim" : "bad", `  ${saidOf(state)}`)]),
        theme.paint("dim", widgets.truncateToWidth(hints, columns)),
      ],
      cursor: { row: 1, column: Math.min(columns - 1, widgets.visibleWidth(typed)) },
    };
  },
});

function shapeOf({ report }: SearchState, { rows }: Pick<LayerContext, "rows">): ListShape {
  return {
    count: report?.found.length ?? 0,
    room: Math.max(ITEM_ROWS, rows - OWN_ROWS),
    heightOf: () => ITEM_ROWS,
  };
}

function argumentOf({ scope, field }: SearchState): string {
  return `${scope}/${field.text.trim()}`;
}

/** What is shown is what was searched for. */
function isCurrent(state: SearchState): boolean {
  return state.asked === argumentOf(state) && state.report !== undefined;
}

function withKey(
  state: SearchState,
  { key, text, action }: Extract<LayerMessage, { type: "key" }>,
  context: LayerContext,
): LayerStep<SearchState> {
  if (action === "close") return { isClosed: true, effects: [stopped] };
  if (action === "search-scope") return searched({ ...state, scope: state.scope === "here" ? "all" : "here" });
  if (action === "list-pick") {
    if (!isCurrent(state)) return searched(state);
    const id = state.report?.found[state.list.selected]?.info.id;
    if (id === undefined || !SessionId.is(id)) return { state };
    const isHere = id === context.state.transcript.session;
    return { isClosed: true, effects: isHere ? [stopped] : [{ type: "switch", session: id }] };
  }
  const moved = withListAction(state.list, action, shapeOf(state, context));
  if (moved !== undefined) return { state: { ...state, list: moved } };
  const field = withFieldKey(state.field, key, text);
  return { state: field === undefined ? state : { ...state, field } };
}

function searched(state: SearchState): LayerStep<SearchState> {
  if (state.field.text.trim() === "") return { state };
  const asked = argumentOf(state);
  return {
    state: { ...state, asked, report: undefined, problem: "", list: emptyList },
    effects: [{ type: "load", name: "search", argument: asked }],
  };
}

function withAnswer(state: SearchState, loaded: Loaded): SearchState {
  if (loaded.name !== "search" || loaded.argument !== state.asked) return state;
  if (loaded.type === "not-loaded") return { ...state, problem: loaded.text };
  return { ...state, report: loaded.value };
}

function countOf({ report }: SearchState): string {
  if (report === undefined) return "";
  return `${report.found.length} found, ${report.searched} of ${report.of} searched`;
}

function saidOf({ asked, report, problem }: SearchState): string {
  if (problem !== "") return visibleLine(problem);
  if (asked === "") return "Words of an input, an answer or a call. Enter searches.";
  return report === undefined ? "Searching … Esc stops." : "Nothing was found.";
}
