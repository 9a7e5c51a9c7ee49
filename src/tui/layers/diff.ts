/** What the session has changed in its folder, file by file and hunk by hunk. What is denied becomes an input that asks for it back. */
import { counted, visibleLine } from "#base";
import type { ReplyOf } from "#protocol";
import { fileChange } from "../change.ts";
import {
  atHunk,
  framed,
  openPager,
  type Pager,
  type PagerFrame,
  pagerRoom,
  pagerView,
  refitted,
  type VerdictWords,
  withPagerAction,
  withVerdict,
} from "../change-pager.ts";
import { patchText } from "../change-rows.ts";
import type { Effect } from "../effects.ts";
import { defineLayer, type LayerContext, type LayerStep } from "../layer.ts";
import type { Loaded } from "../loads.ts";
import { takeBackText } from "../take-back-text.ts";

type Report = ReplyOf<"DescribeChanges">["result"];

interface DiffState {
  /** Only this turn and those after it; empty: all. */
  readonly since: string;
  /** Absent while it is loaded. */
  readonly report: Report | undefined;
  readonly file: number;
  /** By path, absent until it has come; a text says why there is nothing to read. */
  readonly pagers: ReadonlyMap<string, Pager | string | undefined>;
  readonly note: string;
  readonly problem: string;
}

const WORDS: VerdictWords = { open: "", accepted: "keep", denied: "take back" };
const beginning: DiffState = { since: "", report: undefined, file: 0, pagers: new Map(), note: "", problem: "" };

export const diffLayer = defineLayer<DiffState>({
  name: "diff",
  title: "Changes of the session",
  kind: "screen",
  opener: { keys: ["alt+d"], help: "Review what this session has changed" },
  words: ["diff", "sessions:diff"],
  sharesKeysOf: "review",
  keys: [
    { action: "diff-next-file", keys: ["tab", "right"], help: "The next file" },
    { action: "diff-previous-file", keys: ["shift+tab", "left"], help: "The file before" },
    { action: "diff-since", keys: ["t"], help: "Changes of the last turn only, or of the whole session" },
  ],
  open: () => ({ state: beginning, effects: [{ type: "load", name: "changes", argument: "" }] }),
  update(state, message, context): LayerStep<DiffState> {
    switch (message.type) {
      case "key":
        return withLoad(withAction({ ...state, note: "" }, message.action, context));
      case "loaded":
      case "not-loaded":
        return withLoad({ state: withAnswer(state, message) });
      case "changed": {
        const pager = pagerOf(state);
        return { state: pager === undefined ? state : withPager(state, refitted(pager, roomOf(state, context))) };
      }
      case "paste":
        return { state };
    }
  },
  view(state, context) {
    const frame = frameOf(state, context);
    const pager = pagerOf(state);
    if (pager !== undefined) return pagerView(pager, frame, context);
    const { theme, widgets, columns } = context.style;
    const role = state.problem === "" ? "dim" : "bad";
    const rows = textRows(state).map((row) => theme.paint(role, widgets.truncateToWidth(`  ${row}`, columns, "…")));
    return framed(rows, frame, context);
  },
});

function pathOf({ report, file }: DiffState): string | undefined {
  return report?.changes[file]?.path;
}

function pagerOf(state: DiffState): Pager | undefined {
  const pager = state.pagers.get(pathOf(state) ?? "");
  return typeof pager === "string" ? undefined : pager;
}

function withPager(state: DiffState, pager: Pager): DiffState {
  return { ...state, pagers: new Map(state.pagers).set(pager.change.path, pager) };
}

function roomOf(state: DiffState, context: LayerContext) {
  return pagerRoom(context, frameOf(state, context));
}

/** What stands there instead of a change. */
function textRows(state: DiffState): readonly string[] {
  const { report, problem, pagers } = state;
  if (problem !== "") return [problem];
  if (report === undefined) return ["Loading …"];
  const path = pathOf(state);
  if (path !== undefined) {
    const why = pagers.get(path);
    return [typeof why === "string" ? `There is nothing to show: ${why}.` : "Loading …"];
  }
  const unknown = report.unknown.map((one) => `perhaps ${visibleLine(one.path)}: ${visibleLine(one.why)}`);
  const begun = state.since === "" ? "This session" : "The last turn";
  return [`${begun} has changed no files.`, ...unknown];
}

function frameOf(state: DiffState, { keymap }: Pick<LayerContext, "keymap">): PagerFrame {
  const { report, file, since, note } = state;
  const changed = report?.changes[file];
  const pager = pagerOf(state);
  const hunks = pager === undefined || pager.change.hunks.length === 0 ? 0 : pager.change.hunks.length;
  const place = [
    ...(changed === undefined ? [] : [`file ${file + 1} of ${report?.changes.length ?? 0}`]),
    ...(hunks === 0 ? [] : [`hunk ${(pager?.hunk ?? 0) + 1} of ${hunks}`]),
  ];
  const scope = since === "" ? "this session" : "the last turn";
  const denied = keymap.keyOf("review-deny");
  return {
    title: changed === undefined ? `Changes of ${scope}` : `${visibleLine(changed.path)} · ${changed.what}`,
    at: place.join(" · "),
    note: note || summary(state, scope, denied),
    hints: [
      ["review-next", "next"],
      ["review-previous", "prev"],
      ["diff-next-file", "next file"],
      ["review-accept", "keep"],
      ["review-deny", "take back"],
      ["review-whole", "all"],
      ["review-save", "save"],
      ["diff-since", since === "" ? "last turn only" : "whole session"],
      ["review-send", "ask"],
      ["close", "close"],
    ],
  };
}

function summary({ report, pagers }: DiffState, scope: string, denyKey: string): string {
  if (report === undefined) return "";
  const count = deniedOf(pagers).length;
  const { more, unknown, interrupted } = report;
  const open = unknown.length + interrupted.length;
  return [
    `${counted(report.changes.length + more, "file")} changed by ${scope}`,
    ...(more === 0 ? [] : [`${more} not listed`]),
    ...(open === 0 ? [] : [`${open} not recorded`]),
    count === 0 ? `${denyKey} marks what is to be taken back` : `${counted(count, "hunk")} to be taken back`,
  ].join(" · ");
}

function deniedOf(pagers: DiffState["pagers"]) {
  return [...pagers.values()].flatMap((pager) => {
    if (pager === undefined || typeof pager === "string") return [];
    const { change, verdicts } = pager;
    return change.hunks.flatMap((hunk, at) => (verdicts[at] === false ? [{ change, hunk }] : []));
  });
}

function withAction(state: DiffState, action: string | undefined, context: LayerContext): LayerStep<DiffState> {
  const pager = pagerOf(state);
  switch (action) {
    case "close":
      return { isClosed: true };
    case "diff-next-file":
      return { state: atFile(state, state.file + 1) };
    case "diff-previous-file":
      return { state: atFile(state, state.file - 1) };
    case "diff-since":
      return scopeSwitched(state, context);
    case "review-save":
      if (pager === undefined) return { state };
      return { state, effects: [{ type: "save", name: pager.change.path, text: patchText(pager.change) }] };
    case "review-send":
      return asked(state);
    default:
      return { state: moved(state, action, context) };
  }
}

/** Through the hunks of all files. */
function moved(state: DiffState, action: string | undefined, context: LayerContext): DiffState {
  const pager = pagerOf(state);
  const step = action === "review-previous" ? -1 : 1;
  const isVerdict = action === "review-accept" || action === "review-deny";
  const isStep = isVerdict || action === "review-next" || action === "review-previous";
  if (pager === undefined) return isStep ? atFile(state, state.file + step) : state;
  const room = roomOf(state, context);
  const isAtEnd = step > 0 ? pager.hunk >= pager.change.hunks.length - 1 : pager.hunk === 0;
  const judged = isVerdict ? withPager(state, withVerdict(pager, action === "review-accept", room)) : state;
  if (!isStep || !isAtEnd) {
    return isVerdict ? judged : withPager(state, withPagerAction(pager, action, room) ?? pager);
  }
  const next = atFile(judged, judged.file + step);
  const there = next.file === judged.file ? undefined : pagerOf(next);
  if (there === undefined) return next;
  return withPager(next, atHunk(there, step > 0 ? 0 : there.change.hunks.length - 1, roomOf(next, context)));
}

function atFile(state: DiffState, file: number): DiffState {
  const count = state.report?.changes.length ?? 0;
  return { ...state, file: Math.max(0, Math.min(file, count - 1)) };
}

function scopeSwitched(state: DiffState, { state: { transcript } }: LayerContext): LayerStep<DiffState> {
  const since = state.since === "" ? transcript.turn : "";
  if (since === state.since) return { state: { ...state, note: "No turn has begun here yet." } };
  return { state: { ...beginning, since }, effects: [{ type: "load", name: "changes", argument: since }] };
}

function asked(state: DiffState): LayerStep<DiffState> {
  const denied = deniedOf(state.pagers);
  if (denied.length === 0) return { state: { ...state, note: "Nothing is marked to be taken back." } };
  const effect: Effect = { type: "insert", text: takeBackText(denied) };
  return { isClosed: true, effects: [effect] };
}

function withAnswer(state: DiffState, loaded: Loaded): DiffState {
  const { name, argument, type } = loaded;
  if (name === "changes" && argument === state.since) {
    return type === "loaded" ? { ...state, report: loaded.value } : { ...state, problem: loaded.text };
  }
  if (name !== "changed-file" || !argument.startsWith(`${state.since}/`)) return state;
  const path = argument.slice(state.since.length + 1);
  return { ...state, pagers: new Map(state.pagers).set(path, shownFile(path, loaded)) };
}

function shownFile(path: string, loaded: Loaded): Pager | string {
  if (loaded.type === "not-loaded") return loaded.text;
  const file = loaded.name === "changed-file" ? loaded.value.file : undefined;
  if (file === undefined) return "the record has no such path any more";
  const { before, after, why } = file;
  if (why !== undefined) return why;
  const isNew = before === undefined;
  return openPager(fileChange(path, before ?? "", after ?? "", { isNew }), WORDS);
}

/** Asks for the file that is looked at, once. */
function withLoad(step: LayerStep<DiffState>): LayerStep<DiffState> {
  if ("isClosed" in step) return step;
  const { state, effects = [] } = step;
  const path = pathOf(state);
  if (path === undefined || state.pagers.has(path)) return step;
  const pagers = new Map(state.pagers).set(path, undefined);
  const load: Effect = { type: "load", name: "changed-file", argument: `${state.since}/${path}` };
  return { state: { ...state, pagers }, effects: [...effects, load] };
}
