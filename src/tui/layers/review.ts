/** The change that a call waits to make, hunk by hunk: what is accepted becomes the call that runs. */
import { counted, visibleLine } from "#base";
import type { Question } from "../approval.ts";
import { argsWith, changeOf, type FileChange, type Verdicts } from "../change.ts";
import { type ChangeView, changeView, patchText } from "../change-rows.ts";
import type { Effect } from "../effects.ts";
import { defineLayer, type LayerContext, type LayerStep } from "../layer.ts";
import { headRow, keyHints } from "../layer-rows.ts";

type Permission = Extract<Question, { kind: "permission" }>;

interface ReviewState {
  readonly question: Permission;
  readonly change: FileChange;
  readonly verdicts: Verdicts;
  readonly hunk: number;
  /** The first row on the screen. */
  readonly top: number;
  readonly isWhole: boolean;
  readonly note: string;
}

/** The head, the note and the keys. */
const OWN_ROWS = 3;
const ALL_REJECTED = "They reviewed the change and rejected all of it.";

export const reviewLayer = defineLayer<ReviewState>({
  name: "review",
  title: "Review",
  kind: "screen",
  answersQuestion: true,
  keys: [
    { action: "review-next", keys: ["n"], help: "The next hunk" },
    { action: "review-previous", keys: ["p"], help: "The hunk before" },
    { action: "review-accept", keys: ["a"], help: "Accept the hunk" },
    { action: "review-deny", keys: ["d"], help: "Deny the hunk" },
    { action: "review-whole", keys: ["v"], help: "Show the whole text, or only what changed" },
    { action: "review-save", keys: ["s"], help: "Save the change as a patch" },
    { action: "review-send", keys: ["enter"], help: "Answer with the hunks that you accepted" },
  ],
  open(argument, { state }): LayerStep<ReviewState> {
    const question = state.questions.waiting.find(({ id }) => id === argument);
    const change = question?.kind === "permission" ? changeOf(question.asked) : undefined;
    if (question?.kind !== "permission" || change === undefined) return { isClosed: true };
    return { state: { question, change, verdicts: {}, hunk: 0, top: 0, isWhole: false, note: "" } };
  },
  update(state, message, context): LayerStep<ReviewState> {
    const isWaiting = context.state.questions.waiting.some(({ id }) => id === state.question.id);
    if (!isWaiting) return { isClosed: true };
    if (message.type === "changed") return { state: scrolledTo(state, state.top, context) };
    if (message.type !== "key") return { state };
    return withAction({ ...state, note: "" }, message.action, context);
  },
  view(state, context) {
    const { style, keymap } = context;
    const { change, question, hunk, top } = state;
    const title = `${visibleLine(question.asked.label)} ${visibleLine(change.path)}`;
    const view = viewOf(state, context);
    const room = roomOf(context);
    const rows = view.rows.slice(top, top + room);
    const blank = Array.from({ length: room - rows.length }, () => "");
    const accepted = change.hunks.filter((_, at) => state.verdicts[at] === true).length;
    const decided = Object.keys(state.verdicts).length;
    const note = state.note || `${accepted} of ${counted(change.hunks.length, "hunk")} accepted, ${decided} decided`;
    const hints = keyHints(
      [
        ["review-accept", "accept"],
        ["review-deny", "deny"],
        ["review-next", "next"],
        ["review-previous", "previous"],
        ["review-whole", "all"],
        ["review-save", "save"],
        ["review-send", "answer"],
        ["close", "back"],
      ],
      keymap,
    );
    const at = change.hunks.length === 0 ? "" : `hunk ${hunk + 1} of ${change.hunks.length}`;
    const below = [style.theme.paint("warn", note), style.theme.paint("dim", hints)];
    return {
      rows: [
        headRow(title, at, style),
        ...rows,
        ...blank,
        ...below.map((row) => style.widgets.truncateToWidth(row, style.columns)),
      ],
    };
  },
});

function withAction(state: ReviewState, action: string | undefined, context: LayerContext): LayerStep<ReviewState> {
  const page = roomOf(context) - 1;
  switch (action) {
    case "close":
      return { isClosed: true };
    case "review-next":
      return { state: atHunk(state, state.hunk + 1, context) };
    case "review-previous":
      return { state: atHunk(state, state.hunk - 1, context) };
    case "review-accept":
    case "review-deny": {
      const verdicts = { ...state.verdicts, [state.hunk]: action === "review-accept" };
      return { state: atHunk({ ...state, verdicts }, state.hunk + 1, context) };
    }
    case "review-whole":
      return { state: atHunk({ ...state, isWhole: !state.isWhole }, state.hunk, context) };
    case "review-save":
      return { state, effects: [{ type: "save", name: state.change.path, text: patchText(state.change) }] };
    case "review-send":
      return answered(state);
    case "list-up":
      return { state: scrolledTo(state, state.top - 1, context) };
    case "list-down":
      return { state: scrolledTo(state, state.top + 1, context) };
    case "list-page-up":
      return { state: scrolledTo(state, state.top - page, context) };
    case "list-page-down":
      return { state: scrolledTo(state, state.top + page, context) };
    case "list-first":
      return { state: scrolledTo(state, 0, context) };
    case "list-last":
      return { state: scrolledTo(state, Number.MAX_SAFE_INTEGER, context) };
    default:
      return { state };
  }
}

function answered(state: ReviewState): LayerStep<ReviewState> {
  const { change, verdicts, question } = state;
  const { id, session, asked } = question;
  const open = change.hunks.filter((_, at) => verdicts[at] === undefined).length;
  if (open > 0) return { state: { ...state, note: `Accept or deny every hunk first; ${open} left.` } };
  const accepted = change.hunks.filter((_, at) => verdicts[at] === true).length;
  const answer = { type: "answer", id, session } as const;
  const effect: Effect =
    accepted === 0
      ? { ...answer, decision: "deny", reason: ALL_REJECTED }
      : accepted === change.hunks.length
        ? { ...answer, decision: "allow_once" }
        : { ...answer, decision: "allow_once", args: argsWith(asked, change, verdicts) };
  return { isClosed: true, effects: [effect] };
}

function viewOf(state: ReviewState, { style }: LayerContext): ChangeView {
  const { change, verdicts, hunk, isWhole } = state;
  const title = (at: number): string => {
    const verdict = verdicts[at] === undefined ? "not decided" : verdicts[at] ? "accepted" : "denied";
    const text = `${at === hunk ? "▸" : " "} hunk ${at + 1} · ${verdict}`;
    return style.theme.paint(at === hunk ? "strong" : "accent", style.widgets.truncateToWidth(text, style.columns));
  };
  return changeView(change, { isWhole, title }, style);
}

function atHunk(state: ReviewState, to: number, context: LayerContext): ReviewState {
  const hunk = Math.max(0, Math.min(to, state.change.hunks.length - 1));
  const next = { ...state, hunk };
  const start = viewOf(next, context).starts[hunk] ?? 0;
  // A few unchanged lines above it stay in view.
  return scrolledTo(next, start - 4, context);
}

function scrolledTo(state: ReviewState, top: number, context: LayerContext): ReviewState {
  const last = Math.max(0, viewOf(state, context).rows.length - roomOf(context));
  return { ...state, top: Math.max(0, Math.min(top, last)) };
}

function roomOf({ rows }: LayerContext): number {
  return Math.max(1, rows - OWN_ROWS);
}
