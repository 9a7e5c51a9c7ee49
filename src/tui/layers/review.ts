/** The change that a call waits to make, hunk by hunk: what is accepted becomes the call that runs. */
import { counted, visibleLine } from "#base";
import type { Question } from "../approval.ts";
import { argsWith, changeOf } from "../change.ts";
import {
  openPager,
  type Pager,
  type PagerFrame,
  pagerRoom,
  pagerView,
  REVIEW_KEYS,
  refitted,
  type VerdictWords,
  withPagerAction,
  withVerdict,
} from "../change-pager.ts";
import { patchText } from "../change-rows.ts";
import type { Effect } from "../effects.ts";
import { defineLayer, type LayerContext, type LayerStep } from "../layer.ts";

type Permission = Extract<Question, { kind: "permission" }>;

interface ReviewState {
  readonly question: Permission;
  readonly pager: Pager;
  readonly note: string;
}

const WORDS: VerdictWords = { open: "not decided", accepted: "accepted", denied: "denied" };
const ALL_REJECTED = "They reviewed the change and rejected all of it.";

export const reviewLayer = defineLayer<ReviewState>({
  name: "review",
  title: "Review",
  kind: "screen",
  answersQuestion: true,
  keys: REVIEW_KEYS,
  open(argument, { state }): LayerStep<ReviewState> {
    const question = state.questions.waiting.find(({ id }) => id === argument);
    const change = question?.kind === "permission" ? changeOf(question.asked) : undefined;
    if (question?.kind !== "permission" || change === undefined) return { isClosed: true };
    return { state: { question, pager: openPager(change, WORDS), note: "" } };
  },
  update(state, message, context): LayerStep<ReviewState> {
    const isWaiting = context.state.questions.waiting.some(({ id }) => id === state.question.id);
    if (!isWaiting) return { isClosed: true };
    const room = pagerRoom(context, frameOf(state));
    if (message.type === "changed") return { state: { ...state, pager: refitted(state.pager, room) } };
    if (message.type !== "key") return { state };
    return withAction({ ...state, note: "" }, message.action, context);
  },
  view: (state, context) => pagerView(state.pager, frameOf(state), context),
});

function frameOf({ pager: { change, verdicts, hunk }, question, note }: ReviewState): PagerFrame {
  const accepted = change.hunks.filter((_, at) => verdicts[at] === true).length;
  const decided = Object.keys(verdicts).length;
  return {
    title: `${visibleLine(question.asked.label)} ${visibleLine(change.path)}`,
    at: change.hunks.length === 0 ? "" : `hunk ${hunk + 1} of ${change.hunks.length}`,
    note: note || `${accepted} of ${counted(change.hunks.length, "hunk")} accepted, ${decided} decided`,
    hints: [
      ["review-accept", "accept"],
      ["review-deny", "deny"],
      ["review-next", "next"],
      ["review-previous", "prev"],
      ["review-whole", "all"],
      ["review-save", "save"],
      ["review-send", "answer"],
      ["close", "back"],
    ],
  };
}

function withAction(state: ReviewState, action: string | undefined, context: LayerContext): LayerStep<ReviewState> {
  const { pager } = state;
  const room = pagerRoom(context, frameOf(state));
  switch (action) {
    case "close":
      return { isClosed: true };
    case "review-accept":
    case "review-deny":
      return { state: { ...state, pager: withVerdict(pager, action === "review-accept", room) } };
    case "review-save":
      return { state, effects: [{ type: "save", name: pager.change.path, text: patchText(pager.change) }] };
    case "review-send":
      return answered(state);
    default:
      return { state: { ...state, pager: withPagerAction(pager, action, room) ?? pager } };
  }
}

function answered(state: ReviewState): LayerStep<ReviewState> {
  const { change, verdicts } = state.pager;
  const { id, session, asked } = state.question;
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
