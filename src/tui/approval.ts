/** Questions that wait for a person, one at a time, in the order in which they were asked, and how they are answered. Pure. */
import type { CallId, Decision, Event, EventOf, SessionId } from "#protocol";
import type { Effect } from "./effects.ts";

export type Question =
  | {
      readonly kind: "permission";
      readonly id: CallId;
      readonly session: SessionId;
      readonly asked: EventOf<"PermissionRequested">["payload"];
    }
  | {
      readonly kind: "question";
      readonly id: CallId;
      readonly session: SessionId;
      readonly asked: EventOf<"QuestionAsked">["payload"];
    };

export interface Answer {
  readonly key: string;
  readonly decision: Decision;
  readonly text: string;
}

/** The answers that count for this request, each with its key and the rule that it would make. */
export function answersOf({
  offers,
  argv_glob: glob,
  label,
}: EventOf<"PermissionRequested">["payload"]): readonly Answer[] {
  const isOffered = (decision: Decision): boolean => offers === undefined || offers.includes(decision);
  const rows: readonly (Answer | false)[] = [
    isOffered("allow_once") && { key: "y", decision: "allow_once", text: "allow once" },
    glob !== undefined &&
      isOffered("allow_argv_glob") && { key: "s", decision: "allow_argv_glob", text: `allow ${glob} for this session` },
    isOffered("allow_tool") && { key: "t", decision: "allow_tool", text: `allow ${label} for this session` },
    { key: "n", decision: "deny", text: "deny" },
  ];
  return rows.filter((row) => row !== false);
}

/** The sub-state of the interface that is about questions. */
export interface Questions {
  /** The first one is shown. */
  readonly waiting: readonly Question[];
  /** When the first one came up, or a key was pressed that answered nothing: keys that follow at once were meant for something else. */
  readonly quietSinceMs: number;
  /** The person is typing why they deny the first one, or what they answer. */
  readonly isTypingAnswer: boolean;
}

export interface QuestionStep {
  readonly questions: Questions;
  readonly effects: readonly Effect[];
}

/** Keys that come sooner after a question were typed for something else. */
const SETTLE_MS = 400;

export function noQuestions(nowMs: number): Questions {
  return { waiting: [], quietSinceMs: nowMs, isTypingAnswer: false };
}

export function withQuestionEvent(before: Questions, event: Event, nowMs: number): Questions {
  const waiting = withQuestion(before.waiting, event);
  const [first] = waiting;
  if (first?.id === before.waiting[0]?.id) return { ...before, waiting };
  return { waiting, quietSinceMs: nowMs, isTypingAnswer: first?.kind === "question" };
}

/** Undefined for a key that goes to the editor. */
export function withQuestionKey(before: Questions, key: string, nowMs: number): QuestionStep | undefined {
  const [question] = before.waiting;
  if (question?.kind !== "permission") return undefined;
  if (before.isTypingAnswer) {
    if (key !== "escape") return undefined;
    return { questions: { ...before, isTypingAnswer: false, quietSinceMs: nowMs }, effects: [{ type: "clear" }] };
  }
  if (nowMs - before.quietSinceMs < SETTLE_MS) return { questions: { ...before, quietSinceMs: nowMs }, effects: [] };
  const answer = answersOf(question.asked).find((one) => one.key === key);
  if (answer !== undefined) {
    const { id, session } = question;
    return { questions: before, effects: [{ type: "answer", id, session, decision: answer.decision }] };
  }
  return { questions: key === "w" ? { ...before, isTypingAnswer: true } : before, effects: [] };
}

/** What was typed for the first question. */
export function withTypedAnswer(before: Questions, text: string): QuestionStep {
  const [question] = before.waiting;
  if (question === undefined) return { questions: before, effects: [] };
  const { kind, id, session } = question;
  if (text === "" && kind === "question") return { questions: before, effects: [] };
  const effect: Effect =
    kind === "question"
      ? { type: "reply", id, session, text }
      : { type: "answer", id, session, decision: "deny", ...(text !== "" && { reason: text }) };
  return { questions: { ...before, isTypingAnswer: false }, effects: [{ type: "clear" }, effect] };
}

function withQuestion(before: readonly Question[], event: Event): readonly Question[] {
  const { session } = event;
  switch (event.kind) {
    case "PermissionRequested":
      return [...before, { kind: "permission", id: event.payload.call_id, session, asked: event.payload }];
    case "QuestionAsked":
      return [...before, { kind: "question", id: event.payload.call_id, session, asked: event.payload }];
    case "PermissionAnswered":
    case "QuestionAnswered":
    case "ToolResult":
      return before.filter(({ id }) => id !== event.payload.call_id);
    case "TurnEnded":
    case "SessionEnded":
      return before.filter((question) => question.session !== session);
    default:
      return before;
  }
}
