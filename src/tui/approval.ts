/** Questions that wait for a person, one at a time, in the order in which they were asked, and how they are answered. Pure. */
import type { CallId, Decision, Event, EventOf, SessionId, TokenId } from "#protocol";
import { changeOf } from "./change.ts";
import type { Effect } from "./effects.ts";
import { emptyForm, type FormProgress, previousField, withFormText } from "./form.ts";
import { type OrphanQuestion, resolved, withOrphanKey } from "./orphan-question.ts";
import { type PlanQuestion, withPlanKey, withPlanText } from "./plan-question.ts";

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
    }
  | PlanQuestion
  | OrphanQuestion
  /** A file of the project waits for an ack: answered in the review of its change. */
  | {
      readonly kind: "ack";
      readonly id: CallId;
      readonly session: SessionId;
      readonly asked: EventOf<"AckRequested">["payload"];
    }
  /** A program wants a token; the person gives it the code, or nothing. */
  | {
      readonly kind: "token";
      readonly id: TokenId;
      readonly session: SessionId;
      readonly asked: EventOf<"TokenRequested">["payload"];
      readonly untilMs: number;
    };

export interface Answer {
  readonly key: string;
  readonly decision: Decision;
  readonly text: string;
  /** The rule that it would add, as it is written in a policy. */
  readonly rule?: string;
}

/** The answers that count for this request, each with its key and the rule that it would make. */
export function answersOf({
  offers,
  argv_glob: glob,
  tool_rule: toolRule,
  label,
}: EventOf<"PermissionRequested">["payload"]): readonly Answer[] {
  const isOffered = (decision: Decision): boolean => offers === undefined || offers.includes(decision);
  const rows: readonly (Answer | false)[] = [
    isOffered("allow_once") && { key: "y", decision: "allow_once", text: "allow once" },
    glob !== undefined &&
      isOffered("allow_argv_glob") && {
        key: "s",
        decision: "allow_argv_glob",
        text: "allow for this session",
        rule: glob,
      },
    isOffered("allow_tool") && {
      key: "t",
      decision: "allow_tool",
      text: `allow every ${label} for this session`,
      ...(toolRule !== undefined && { rule: toolRule }),
    },
    { key: "n", decision: "deny", text: "no" },
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
  /** What is typed is the plan as it should be. */
  readonly isEditingPlan: boolean;
  /** Of the first one, when it is a form. */
  readonly form: FormProgress;
}

export interface QuestionStep {
  readonly questions: Questions;
  readonly effects: readonly Effect[];
}

/** Keys that come sooner after a question were typed for something else. */
const SETTLE_MS = 400;

export function noQuestions(nowMs: number): Questions {
  return { waiting: [], quietSinceMs: nowMs, isTypingAnswer: false, isEditingPlan: false, form: emptyForm };
}

export function withQuestionEvent(before: Questions, event: Event, nowMs: number): Questions {
  return withWaiting(before, withQuestion(before.waiting, event, nowMs), nowMs);
}

/** Codes whose time is over are gone. */
export function withoutExpired(before: Questions, nowMs: number): Questions {
  const waiting = before.waiting.filter((question) => question.kind !== "token" || question.untilMs > nowMs);
  return waiting.length === before.waiting.length ? before : withWaiting(before, waiting, nowMs);
}

function withWaiting(before: Questions, waiting: readonly Question[], nowMs: number): Questions {
  const [first] = waiting;
  if (first?.id === before.waiting[0]?.id && first?.kind === before.waiting[0]?.kind) return { ...before, waiting };
  const isTypingAnswer = first?.kind === "question";
  return { waiting, quietSinceMs: nowMs, isTypingAnswer, isEditingPlan: false, form: emptyForm };
}

/** Where the first question has gone, the next one comes up. */
function withNextOpen(before: Questions, { questions, effects }: QuestionStep, nowMs: number): QuestionStep {
  const { waiting } = questions;
  return {
    questions: waiting[0]?.id === before.waiting[0]?.id ? questions : withWaiting(before, waiting, nowMs),
    effects,
  };
}

/** Undefined for a key that goes to the editor. */
export function withQuestionKey(before: Questions, key: string, nowMs: number): QuestionStep | undefined {
  const [question] = before.waiting;
  if (question === undefined) return undefined;
  const isSettling = nowMs - before.quietSinceMs < SETTLE_MS;
  if (question.kind === "question" && !isSettling) return withTypedKey(before, key);
  if (question.kind !== "question" && before.isTypingAnswer) {
    if (key !== "escape") return undefined;
    const back = { ...before, isTypingAnswer: false, isEditingPlan: false, form: emptyForm, quietSinceMs: nowMs };
    return { questions: back, effects: [{ type: "clear" }] };
  }
  if (isSettling) return same({ ...before, quietSinceMs: nowMs });
  if (question.kind === "token") {
    const isClosed = key === "n" || key === "escape" || key === "enter";
    return same(isClosed ? withWaiting(before, before.waiting.slice(1), nowMs) : before);
  }
  if (question.kind === "plan") return withNextOpen(before, withPlanKey(before, question, key), nowMs);
  if (question.kind === "orphan") return withOrphanKey(before, question, key);
  if (question.kind === "ack") return { questions: before, effects: ackEffects(question, key) };
  return question.kind === "permission" ? withPermissionKey(before, question, key) : undefined;
}

/** Accepting is left to the review: only what was shown to its end can be accepted. */
function ackEffects(question: Extract<Question, { kind: "ack" }>, key: string): readonly Effect[] {
  if (key === "r" || key === "v" || key === "a") return [{ type: "open", layer: "ack", argument: question.id }];
  if (key === "d") return [ackAnswer(question, "deny")];
  return key === "l" ? [ackAnswer(question, "later")] : [];
}

/** For the content that was shown. */
export function ackAnswer(
  { id, session, asked: { sha256 } }: Extract<Question, { kind: "ack" }>,
  answer: "accept" | "deny" | "later",
): Effect {
  return {
    type: "submit",
    session,
    command: { kind: "AnswerAck", call_id: id, answer, ...(sha256 !== undefined && { sha256 }) },
  };
}

function withPermissionKey(
  before: Questions,
  { id, session, asked }: Extract<Question, { kind: "permission" }>,
  key: string,
): QuestionStep {
  const answer = answersOf(asked).find((one) => one.key === key);
  if (answer !== undefined) {
    return { questions: before, effects: [{ type: "answer", id, session, decision: answer.decision }] };
  }
  if (key === "d") return { questions: before, effects: [{ type: "open", layer: "call", argument: id }] };
  if (key === "r" && changeOf(asked) !== undefined) {
    return { questions: before, effects: [{ type: "open", layer: "review", argument: id }] };
  }
  return same(key === "w" ? { ...before, isTypingAnswer: true } : before);
}

/** Esc in a form goes back by a field. */
function withTypedKey(before: Questions, key: string): QuestionStep | undefined {
  if (key !== "escape" || before.form.at === 0) return undefined;
  return { questions: { ...before, form: previousField(before.form) }, effects: [{ type: "clear" }] };
}

/** What was typed for the first question. */
export function withTypedAnswer(before: Questions, text: string, nowMs: number): QuestionStep {
  const [question] = before.waiting;
  if (question === undefined || question.kind === "token" || question.kind === "ack") return same(before);
  if (question.kind === "plan") {
    const { questions, effects } = withNextOpen(before, withPlanText(before, question, text), nowMs);
    // A text that cannot be the plan stays, to be changed.
    return { questions, effects: questions.isEditingPlan ? effects : [{ type: "clear" }, ...effects] };
  }
  const { kind, id, session } = question;
  const closed = { ...before, isTypingAnswer: false };
  if (kind === "permission") {
    const effect: Effect = { type: "answer", id, session, decision: "deny", ...(text !== "" && { reason: text }) };
    return { questions: closed, effects: [{ type: "clear" }, effect] };
  }
  if (question.kind === "orphan") {
    return { questions: closed, effects: [{ type: "clear" }, resolved(question, "failed", text)] };
  }
  const { form, options = [] } = question.asked;
  if (form !== undefined) {
    const next = withFormText(form, before.form, text);
    if (!("answer" in next)) return { questions: { ...before, form: next }, effects: [{ type: "clear" }] };
    return { questions: closed, effects: [{ type: "clear" }, { type: "reply", id, session, text: next.answer }] };
  }
  if (text === "") return same(before);
  const chosen = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined;
  return { questions: closed, effects: [{ type: "clear" }, { type: "reply", id, session, text: chosen ?? text }] };
}

function withQuestion(before: readonly Question[], event: Event, nowMs: number): readonly Question[] {
  const { session } = event;
  switch (event.kind) {
    case "PermissionRequested":
      return [...before, { kind: "permission", id: event.payload.call_id, session, asked: event.payload }];
    case "QuestionAsked": {
      const { call_id: id, plan } = event.payload;
      if (plan !== undefined) return [...before, { kind: "plan", id, session, plan, isAsked: true }];
      return [...before, { kind: "question", id, session, asked: event.payload }];
    }
    case "OrphanedCall":
      return [...before, { kind: "orphan", id: event.payload.call_id, session, asked: event.payload }];
    case "AckRequested":
      return [...before, { kind: "ack", id: event.payload.call_id, session, asked: event.payload }];
    case "TokenRequested": {
      const { token: id, confirm_by } = event.payload;
      const untilMs = nowMs + Math.max(0, Date.parse(confirm_by) - Date.parse(event.ts));
      return [...before, { kind: "token", id, session, asked: event.payload, untilMs }];
    }
    case "PermissionAnswered":
    case "QuestionAnswered":
    case "AckSettled":
    case "OrphanResolved":
    case "ToolResult":
      return before.filter(({ id }) => id !== event.payload.call_id);
    case "PlanChanged":
      return before.filter((question) => question.kind !== "plan" || question.session !== session);
    case "TurnEnded":
    case "SessionEnded":
      return before.filter((question) => question.session !== session || isOutsideOfTurns(question));
    default:
      return before;
  }
}

function isOutsideOfTurns(question: Question): boolean {
  return question.kind === "token" || question.kind === "orphan" || (question.kind === "plan" && !question.isAsked);
}

function same(questions: Questions): QuestionStep {
  return { questions, effects: [] };
}
