/**
 * The interface as data: what arrives is a message, what is to be done is an effect. Pure, so that a test needs no terminal. What is
 * being typed is the editor's own; keys that are not meant for the interface go there.
 */
import { type CallId, type Decision, type Event, ownCommandOf, type SessionId } from "#protocol";
import { answersOf, type Question, withQuestion } from "./approval.ts";
import type { Size } from "./screen-writer.ts";
import { emptyTranscript, notice, type Tone, type Transcript, withEvent } from "./transcript.ts";

export interface State {
  readonly size: Size;
  readonly nowMs: number;
  readonly transcript: Transcript;
  readonly questions: readonly Question[];
  /** When the first question came up, or a key was pressed that answered nothing: keys that follow at once were meant for something else. */
  readonly quietSinceMs: number;
  /** The person is typing why they deny the first question, or what they answer. */
  readonly isTypingAnswer: boolean;
  readonly banner: { readonly text: string; readonly untilMs: number } | undefined;
  readonly interruptedAtMs: number;
  readonly isConnected: boolean;
}

export type Message =
  | { readonly type: "event"; readonly event: Event; readonly agoMs: number }
  /** As the widget library names it (`ctrl+c`), as the terminal sent it, and what the editor holds. */
  | { readonly type: "key"; readonly key: string; readonly sequence: string; readonly typed: string }
  | { readonly type: "submit"; readonly text: string; readonly isSteering: boolean }
  | { readonly type: "print"; readonly text: string; readonly tone: Tone }
  | { readonly type: "connection"; readonly state: "connected" | "lost" }
  | { readonly type: "resize"; readonly size: Size }
  | { readonly type: "time" };

export type Effect =
  | { readonly type: "send" | "queue" | "steer" | "slash" | "command"; readonly text: string }
  | {
      readonly type: "answer";
      readonly session: SessionId;
      readonly id: CallId;
      readonly decision: Decision;
      readonly reason?: string;
    }
  | { readonly type: "reply"; readonly session: SessionId; readonly id: CallId; readonly text: string }
  | { readonly type: "type"; readonly sequence: string }
  | { readonly type: "clear" | "cancel" | "leave" | "suspend" };

export interface Update {
  readonly state: State;
  readonly effects: readonly Effect[];
}

const EXIT_WINDOW_MS = 2_000;
/** Keys that come sooner after a question were typed for something else. */
const SETTLE_MS = 400;

export function initialState(session: SessionId, model: string, size: Size, nowMs: number): State {
  return {
    size,
    nowMs,
    transcript: emptyTranscript(session, model),
    questions: [],
    quietSinceMs: nowMs,
    isTypingAnswer: false,
    banner: undefined,
    interruptedAtMs: Number.NEGATIVE_INFINITY,
    isConnected: true,
  };
}

export function update(before: State, message: Message, nowMs: number): Update {
  const state = { ...before, nowMs, banner: isOver(before.banner, nowMs) ? undefined : before.banner };
  switch (message.type) {
    case "event":
      return same(withMessageEvent(state, message.event, message.agoMs));
    case "key":
      return withKey(state, message);
    case "submit":
      return withSubmit(state, message.text, message.isSteering);
    case "print":
      return same({ ...state, transcript: notice(state.transcript, message.tone, message.text) });
    case "connection":
      return same(withConnection(state, message.state === "connected"));
    case "resize":
      return same({ ...state, size: message.size });
    case "time":
      return same(state);
  }
}

function withMessageEvent(state: State, event: Event, agoMs: number): State {
  const questions = withQuestion(state.questions, event);
  const isAnother = questions[0]?.id !== state.questions[0]?.id;
  return {
    ...state,
    questions,
    transcript: withEvent(state.transcript, event, state.nowMs - agoMs),
    ...(isAnother && { quietSinceMs: state.nowMs, isTypingAnswer: questions[0]?.kind === "question" }),
  };
}

function withConnection(state: State, isConnected: boolean): State {
  const text = isConnected ? "Reconnected; nothing was missed." : "The connection was lost; reconnecting.";
  return { ...state, isConnected, transcript: notice(state.transcript, "warn", text) };
}

function withKey(state: State, { key, sequence, typed }: Extract<Message, { type: "key" }>): Update {
  if (key === "ctrl+c") return interrupted(state, typed);
  if (key === "ctrl+z") return { state, effects: [{ type: "suspend" }] };
  if (key === "ctrl+d" && typed === "") return { state, effects: [{ type: "leave" }] };
  const [question] = state.questions;
  if (question?.kind === "permission" && !state.isTypingAnswer) return withAnswerKey(state, question, key);
  if (key === "escape" && state.isTypingAnswer && question?.kind === "permission") {
    return { state: { ...state, isTypingAnswer: false, quietSinceMs: state.nowMs }, effects: [{ type: "clear" }] };
  }
  if (key === "escape" && state.transcript.isTurnRunning) return { state, effects: [{ type: "cancel" }] };
  if (key === "alt+enter") return withSubmit(state, typed, true);
  return { state, effects: [{ type: "type", sequence }] };
}

function withAnswerKey(state: State, question: Extract<Question, { kind: "permission" }>, key: string): Update {
  const isEarly = state.nowMs - state.quietSinceMs < SETTLE_MS;
  const answer = isEarly ? undefined : answersOf(question.asked).find((one) => one.key === key);
  if (answer !== undefined) {
    const { id, session } = question;
    return { state, effects: [{ type: "answer", id, session, decision: answer.decision }] };
  }
  if (key === "w" && !isEarly) return same({ ...state, isTypingAnswer: true });
  return same(isEarly ? { ...state, quietSinceMs: state.nowMs } : state);
}

/** The first cancels the turn or empties the input, a second within two seconds leaves. */
function interrupted(state: State, typed: string): Update {
  if (state.nowMs - state.interruptedAtMs <= EXIT_WINDOW_MS) return { state, effects: [{ type: "leave" }] };
  const next = {
    ...state,
    interruptedAtMs: state.nowMs,
    banner: { text: "Press Ctrl-C again within 2s to exit.", untilMs: state.nowMs + EXIT_WINDOW_MS },
  };
  if (state.transcript.isTurnRunning) return { state: next, effects: [{ type: "cancel" }] };
  return { state: next, effects: typed === "" ? [] : [{ type: "clear" }] };
}

function withSubmit(state: State, typed: string, isSteering: boolean): Update {
  const text = typed.trim();
  const [question] = state.questions;
  if (question !== undefined && state.isTypingAnswer) return withTypedAnswer(state, question, text);
  if (text === "") return same(state);
  const clear = { type: "clear" } as const;
  if (text === "/quit" || text === "/exit") return { state, effects: [clear, { type: "leave" }] };
  // Refused while a turn runs, with the reason.
  if (ownCommandOf(text) !== undefined) return { state, effects: [clear, { type: "command", text }] };
  if (text.startsWith("/")) return { state, effects: [clear, { type: "slash", text }] };
  const { isTurnRunning } = state.transcript;
  const type = !isTurnRunning ? "send" : isSteering ? "steer" : "queue";
  return { state, effects: [clear, { type, text }] };
}

function withTypedAnswer(state: State, { kind, id, session }: Question, text: string): Update {
  if (text === "" && kind === "question") return same(state);
  const next = { ...state, isTypingAnswer: false };
  const effect: Effect =
    kind === "question"
      ? { type: "reply", id, session, text }
      : { type: "answer", id, session, decision: "deny", ...(text !== "" && { reason: text }) };
  return { state: next, effects: [{ type: "clear" }, effect] };
}

function isOver(banner: State["banner"], nowMs: number): boolean {
  return banner !== undefined && banner.untilMs <= nowMs;
}

function same(state: State): Update {
  return { state, effects: [] };
}
