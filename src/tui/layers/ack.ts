/**
 * A file that waits for an ack, beside the version that was acked last. Only what was shown to its end can be accepted, and the answer
 * names the content that was shown.
 */
import { counted, hasMarker, visibleLine } from "#base";
import { ackAnswer, type Question } from "../approval.ts";
import { fileChange } from "../change.ts";
import {
  framed,
  openPager,
  type Pager,
  type PagerFrame,
  type PagerRoom,
  pagerRoom,
  pagerView,
  refitted,
  rowsInView,
  type VerdictWords,
  withPagerAction,
} from "../change-pager.ts";
import { patchText } from "../change-rows.ts";
import { defineLayer, type LayerContext, type LayerStep } from "../layer.ts";
import type { Loaded } from "../loads.ts";
import { ackChange } from "../question-rows.ts";

type AckQuestion = Extract<Question, { kind: "ack" }>;

interface AckState {
  readonly question: AckQuestion;
  readonly pager: Pager | undefined;
  /** Why there is nothing to read. */
  readonly problem: string;
  /** Rows that were on the screen, of one width and one way of showing; others begin anew. */
  readonly seen: { readonly shape: string; readonly rows: ReadonlySet<number>; readonly count: number };
  /** Since the text is on the screen: a key that comes sooner was meant for something else. */
  readonly sinceMs: number;
}

const WORDS: VerdictWords = { open: "", accepted: "", denied: "" };
/** Of both versions: to lay out more takes longer than a key may. */
const MAX_LINES = 20_000;
const MAX_CHARS = 300_000;
const SETTLE_MS = 400;
const nothingSeen: AckState["seen"] = { shape: "", rows: new Set(), count: 0 };

export const ackLayer = defineLayer<AckState>({
  name: "ack",
  title: "Files that wait for an ack",
  kind: "screen",
  answersQuestion: true,
  sharesKeysOf: "review",
  keys: [],
  open(argument, { state }): LayerStep<AckState> {
    const question = state.questions.waiting.find(({ id }) => id === argument);
    if (question?.kind !== "ack") return { isClosed: true };
    return {
      state: { question, pager: undefined, problem: "", seen: nothingSeen, sinceMs: 0 },
      effects: [{ type: "load", name: "ack", argument: placeOf(question) }],
    };
  },
  update(state, message, context): LayerStep<AckState> {
    const isWaiting = context.state.questions.waiting.some(({ id }) => id === state.question.id);
    if (!isWaiting) return { isClosed: true };
    switch (message.type) {
      case "key":
        return withSeen(withAction(state, message.action, context), context);
      case "loaded":
      case "not-loaded":
        return withSeen({ state: withText(state, message, context.style.nowMs) }, context);
      case "changed": {
        const { pager } = state;
        if (pager === undefined) return { state };
        return withSeen({ state: { ...state, pager: refitted(pager, roomOf(state, context)) } }, context);
      }
      case "paste":
        return { state };
    }
  },
  view(state, context) {
    const frame = frameOf(state, context);
    if (state.pager !== undefined) return pagerView(state.pager, frame, context);
    const { theme } = context.style;
    const text = state.problem === "" ? theme.paint("dim", "  Loading …") : theme.paint("bad", `  ${state.problem}`);
    return framed([text], frame, context);
  },
});

function placeOf({ id, session }: AckQuestion): string {
  return `${session}/${id}`;
}

function roomOf(state: AckState, context: LayerContext): PagerRoom {
  return pagerRoom(context, frameOf(state, context));
}

function frameOf({ question, pager, seen }: AckState, { keymap }: Pick<LayerContext, "keymap">): PagerFrame {
  const { asked } = question;
  const hunks = pager?.change.hunks.length ?? 0;
  const left = seen.count - seen.rows.size;
  // What is hidden takes effect as well.
  const isHidden = pager?.change.lines.some(({ mark, text }) => mark === "+" && hasMarker(text)) === true;
  const hidden = isHidden ? "secrets of the new text are hidden here" : "";
  const isSame = hunks === 0 && pager !== undefined ? "only line ends or a byte order mark changed" : "";
  const unread = left > 0 ? `${counted(left, "row")} not shown yet; ${keymap.keyOf("review-accept")} shows more` : "";
  return {
    title: `${visibleLine(asked.file)} · ${visibleLine(asked.name)}`,
    at: hunks === 0 || pager === undefined ? "" : `hunk ${pager.hunk + 1} of ${hunks}`,
    note: [hidden, unread, isSame, visibleLine(ackChange(asked))].filter((text) => text !== "").join(" · "),
    hints: [
      ["review-accept", left > 0 ? "more" : "accept the file"],
      ["review-deny", "deny it"],
      ["review-next", "next"],
      ["review-previous", "prev"],
      ["review-whole", "all"],
      ["review-save", "save"],
      ["close", "back"],
    ],
  };
}

function withAction(state: AckState, action: string | undefined, context: LayerContext): LayerStep<AckState> {
  const { pager, question } = state;
  if (action === "close") return { isClosed: true };
  if (action === "review-deny") return { isClosed: true, effects: [ackAnswer(question, "deny")] };
  if (pager === undefined) return { state };
  if (action === "review-save") {
    return { state, effects: [{ type: "save", name: pager.change.path, text: patchText(pager.change) }] };
  }
  const room = roomOf(state, context);
  if (action !== "review-accept") return { state: { ...state, pager: withPagerAction(pager, action, room) ?? pager } };
  if (context.style.nowMs - state.sinceMs < SETTLE_MS) return { state };
  const unseen = firstUnseen(state, room);
  if (unseen === undefined) return { isClosed: true, effects: [ackAnswer(question, "accept")] };
  return { state: { ...state, pager: refitted({ ...pager, top: unseen }, room) } };
}

function firstUnseen({ pager, seen }: AckState, room: PagerRoom): number | undefined {
  if (pager === undefined) return undefined;
  const { count } = rowsInView(pager, room);
  for (let row = 0; row < count; row++) if (!seen.rows.has(row)) return row;
  return undefined;
}

function withSeen(step: LayerStep<AckState>, context: LayerContext): LayerStep<AckState> {
  if ("isClosed" in step || step.state.pager === undefined) return step;
  const { state } = step;
  const { pager } = step.state;
  const { from, to, count } = rowsInView(pager, roomOf(state, context));
  const shape = `${context.style.columns} ${pager.isWhole}`;
  const rows = new Set(state.seen.shape === shape ? state.seen.rows : []);
  for (let row = from; row < to; row++) rows.add(row);
  return { ...step, state: { ...state, seen: { shape, rows, count } } };
}

function withText(state: AckState, loaded: Loaded, nowMs: number): AckState {
  const { question } = state;
  if (loaded.name !== "ack" || loaded.argument !== placeOf(question)) return state;
  if (loaded.type === "not-loaded") return { ...state, problem: loaded.text };
  const { file, sha256, text, acked_text: before } = loaded.value;
  // What was asked about is what must be shown.
  if (sha256 !== question.asked.sha256)
    return { ...state, problem: "This is no longer the version that was asked about." };
  const both = `${before ?? ""}${text ?? ""}`;
  if (both.length > MAX_CHARS || both.split("\n").length > MAX_LINES) {
    return { ...state, problem: "It is too long for this review; read and answer it with: harness ack" };
  }
  const change = fileChange(file, before ?? "", text ?? "", { isNew: before === undefined });
  return { ...state, pager: openPager(change, WORDS), sinceMs: nowMs };
}
