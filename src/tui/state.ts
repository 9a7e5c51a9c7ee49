/**
 * The interface as data: what arrives is a message, what is to be done is an effect. Pure, so that a test needs no terminal. What is
 * being typed is the editor's own; keys that are not meant for the interface go there. Each part of the state has its own file.
 */
import type { Event, SessionId } from "#protocol";
import {
  noQuestions,
  type Questions,
  withoutExpired,
  withQuestionEvent,
  withQuestionKey,
  withTypedAnswer,
} from "./approval.ts";
import { withLooks, withWork } from "./delegate-work.ts";
import type { Effect } from "./effects.ts";
import { withEvent } from "./fold.ts";
import { type InputState, inputEffects, noInput, swapStash } from "./input.ts";
import type { Keymap } from "./key-table.ts";
import { type SinceAttached, withLasting, withNewer } from "./lasting.ts";
import type { Layer, OpenLayer } from "./layer.ts";
import { closeTop, openedLayers, toLayers, toTop } from "./layer-stack.ts";
import type { Loaded } from "./loads.ts";
import type { MouseEvent } from "./mouse.ts";
import { noPlan, type SessionPlan, withPlanEvent } from "./plan.ts";
import { answeredPlan } from "./plan-question.ts";
import { takeBack, type WaitingInput, withQueueEvent } from "./queue.ts";
import type { Size } from "./screen-writer.ts";
import { changesFacts, nextMode, noStatus, type SessionStatus, withStatusEvent } from "./session-status.ts";
import type { ThemeName } from "./theme.ts";
import { emptyTranscript, notice, type Tone, type Transcript, withFewMoving } from "./transcript.ts";
import type { Widgets } from "./widgets.ts";

export interface State {
  readonly size: Size;
  readonly nowMs: number;
  readonly theme: ThemeName;
  /** The person has chosen it: it no longer follows the background. */
  readonly isThemeChosen: boolean;
  readonly transcript: Transcript;
  readonly questions: Questions;
  readonly input: InputState;
  /** Inputs that wait for their turn, oldest first. */
  readonly queue: readonly WaitingInput[];
  readonly plan: SessionPlan;
  readonly status: SessionStatus;
  /** Absent once the facts of the session are known. */
  readonly lasting: SinceAttached | undefined;
  /** The last one is on top and has the keys. */
  readonly layers: readonly OpenLayer[];
  readonly banner: { readonly text: string; readonly untilMs: number } | undefined;
  /** Above the input until it is hidden; empty: nothing. */
  readonly reminder: string;
  readonly interruptedAtMs: number;
  readonly isConnected: boolean;
}

/** What the editor holds when a key arrives. */
export interface Typed {
  readonly text: string;
  /** It shows what could follow, and takes the keys for that. */
  readonly isOffering: boolean;
  /** Vim keys: Esc ends the insert mode, or a command that was begun. */
  readonly takesEscape?: boolean;
}

export type Message =
  | { readonly type: "event"; readonly event: Event; readonly agoMs: number }
  /** As the widget library names it (`ctrl+c`), and as the terminal sent it. */
  | { readonly type: "key"; readonly key: string; readonly sequence: string; readonly typed: Typed }
  | { readonly type: "mouse"; readonly event: MouseEvent }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "submit"; readonly text: string; readonly isSteering: boolean }
  /** The conversation is on the screen as it was when the interface came: the rest of what it shows can be asked for. */
  | { readonly type: "caught-up" }
  | { readonly type: "print"; readonly text: string; readonly tone: Tone }
  | { readonly type: "connection"; readonly state: "connected" | "lost" }
  | { readonly type: "theme"; readonly name: ThemeName }
  /** The theme for the background that the terminal has. */
  | { readonly type: "background"; readonly theme: ThemeName }
  | { readonly type: "resize"; readonly size: Size }
  | Loaded
  | { readonly type: "time" };

export interface Update {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** What an update needs besides the state, and never changes. */
export interface UpdateContext {
  readonly nowMs: number;
  readonly widgets: Widgets;
  readonly keymap: Keymap;
  readonly layers: readonly Layer[];
}

const EXIT_WINDOW_MS = 2_000;
/** What the conversation does not wait for. */
const SHOWN_LATER: readonly Effect[] = (["facts", "commands", "reminder"] as const).map((name) => ({
  type: "load",
  name,
}));

export function initialState(
  session: SessionId,
  from: Pick<State, "size" | "nowMs" | "theme"> & { readonly model: string; readonly since?: number },
): State {
  const { model, size, nowMs, theme, since = 0 } = from;
  return {
    size,
    nowMs,
    theme,
    isThemeChosen: false,
    transcript: emptyTranscript(session, model),
    questions: noQuestions(nowMs),
    input: noInput,
    queue: [],
    plan: noPlan,
    status: noStatus,
    lasting: { since, events: [] },
    layers: [],
    banner: undefined,
    reminder: "",
    interruptedAtMs: Number.NEGATIVE_INFINITY,
    isConnected: true,
  };
}

export function update(before: State, message: Message, context: UpdateContext): Update {
  const { nowMs } = context;
  const state = { ...before, nowMs, banner: isOver(before.banner, nowMs) ? undefined : before.banner };
  return withAnswerRoom(before, answeredPlan(openedLayers(changed(state, message, context), context)));
}

function changed(state: State, message: Message, context: UpdateContext): Update {
  switch (message.type) {
    case "event":
      return withMessageEvent(state, message.event, message.agoMs, context);
    case "key":
      return withKey(state, message, context);
    case "mouse":
      return withMouse(state, message.event, context);
    case "paste":
      return withPaste(state, message.text, context);
    case "submit":
      return withSubmit(state, message.text, message.isSteering);
    case "caught-up":
      return { state, effects: SHOWN_LATER };
    case "print":
      return same({ ...state, transcript: notice(state.transcript, message.tone, message.text) });
    case "connection":
      return same(withConnection(state, message.state === "connected"));
    case "theme":
      return toLayers({ ...state, theme: message.name, isThemeChosen: true }, { type: "changed" }, context);
    case "background":
      if (state.isThemeChosen || state.theme === message.theme) return same(state);
      return toLayers({ ...state, theme: message.theme }, { type: "changed" }, context);
    case "resize":
      return toLayers({ ...state, size: message.size }, { type: "changed" }, context);
    case "loaded":
    case "not-loaded":
      return toLayers(withLoaded(state, message), message, context);
    case "time":
      return withTime(state, context);
  }
}

function withTime(state: State, context: UpdateContext): Update {
  const { transcript, effects } = withLooks(state.transcript, state.nowMs);
  const next = { ...state, transcript, questions: withoutExpired(state.questions, state.nowMs) };
  const told = toLayers(next, { type: "changed" }, context);
  return { state: told.state, effects: [...effects, ...told.effects] };
}

function withMessageEvent(state: State, event: Event, agoMs: number, context: UpdateContext): Update {
  const next = {
    ...state,
    questions: withQuestionEvent(state.questions, event, state.nowMs),
    transcript: withFewMoving(withEvent(state.transcript, event, state.nowMs - agoMs)),
    plan: withPlanEvent(state.plan, event, state.transcript.session),
    queue: withQueueEvent(state.queue, event, state.transcript.session),
    status: withStatusEvent(state.status, event, state.transcript.session),
    lasting: withNewer(state.lasting, event),
  };
  const { state: told, effects } = toLayers(next, { type: "changed" }, context);
  if (agoMs > 0) return { state: told, effects };
  const isNewList = event.kind === "SkillRegistryChanged";
  const loads: Effect[] = [
    ...(isNewList ? [{ type: "load", name: "commands" } as const] : []),
    ...(changesFacts(event) ? [{ type: "load", name: "facts" } as const] : []),
  ];
  return { state: told, effects: [...effects, ...loads] };
}

function withLoaded(state: State, loaded: Loaded): State {
  if (loaded.name === "delegate-work") return { ...state, transcript: withWork(state.transcript, loaded) };
  if (loaded.type !== "loaded") return state;
  if (loaded.name === "facts") return withLasting(state, loaded.value);
  if (loaded.name === "reminder") return { ...state, reminder: loaded.value };
  return loaded.name === "commands" ? { ...state, input: { ...state.input, commands: loaded.value } } : state;
}

function withConnection(state: State, isConnected: boolean): State {
  const text = isConnected ? "Reconnected; nothing was missed." : "The connection was lost; reconnecting.";
  return { ...state, isConnected, transcript: notice(state.transcript, "warn", text) };
}

type KeyMessage = Extract<Message, { type: "key" }>;

function withKey(state: State, message: KeyMessage, context: UpdateContext): Update {
  const anywhere = context.keymap.actionOf(message.key, "anywhere");
  if (anywhere === "interrupt") return interrupted(state, message.typed, context);
  if (anywhere === "suspend") return { state, effects: [{ type: "suspend" }] };
  if (hasKeys(state) === "layer") return toTop(state, keyOfLayer(message), context);
  const answered = withQuestionKey(state.questions, message.key, state.nowMs);
  if (answered !== undefined) return { state: { ...state, questions: answered.questions }, effects: answered.effects };
  return withInputKey(state, message, context);
}

/** As keys of the screen that has the mouse; one that comes late is for nobody. */
function withMouse(state: State, { key, row, times }: MouseEvent, context: UpdateContext): Update {
  let update = same(state);
  for (let left = times; left > 0 && update.state.layers.at(-1)?.facts.kind === "screen"; left--) {
    const step = toTop(update.state, (action) => ({ type: "key", key, text: "", action, row }), context);
    update = { state: step.state, effects: [...update.effects, ...step.effects] };
  }
  return update;
}

function withInputKey(state: State, { key, sequence, typed }: KeyMessage, context: UpdateContext): Update {
  const type: Update = { state, effects: [{ type: "type", sequence }] };
  const isWriting = isPrintable(sequence) && typed.text !== "";
  const action = isWriting || typed.isOffering ? undefined : context.keymap.actionOf(key, "input");
  switch (action) {
    case undefined:
      return type;
    case "leave":
      return typed.text === "" ? { state, effects: [{ type: "leave" }] } : type;
    case "cancel":
      return state.transcript.isTurnRunning && !typed.takesEscape ? { state, effects: [{ type: "cancel" }] } : type;
    case "steer":
      return withSubmit(state, typed.text, true);
    case "hide-reminder":
      return state.reminder === "" ? type : { state: { ...state, reminder: "" }, effects: [{ type: "hide-reminder" }] };
    case "next-mode":
      return { state, effects: nextMode(state.status) };
    case "stash": {
      if (state.questions.isTypingAnswer) return type;
      const { input, effects } = swapStash(state.input, typed.text);
      return { state: { ...state, input }, effects };
    }
    case "edit-queued":
      return state.questions.isTypingAnswer ? type : { state, effects: takeBack(state.queue) };
    case "edit-outside":
    case "paste-image":
      return { state, effects: [{ type: action }] };
    default: {
      const layer = action.startsWith("open-") ? action.slice("open-".length) : undefined;
      return layer === undefined ? type : { state, effects: [{ type: "open", layer }] };
    }
  }
}

/** A question that comes up goes before a modal layer, but a screen stays until it is closed. */
export function hasKeys({ layers, questions }: Pick<State, "layers" | "questions">): "layer" | "question" | "input" {
  const top = layers.at(-1);
  if (top?.facts.kind === "screen") return "layer";
  if (questions.waiting.length > 0) return "question";
  return top === undefined ? "input" : "layer";
}

function withPaste(state: State, text: string, context: UpdateContext): Update {
  if (hasKeys(state) === "layer") return toTop(state, () => ({ type: "paste", text }), context);
  // A paste answers no question.
  if (state.questions.waiting.length > 0 && !state.questions.isTypingAnswer) return same(state);
  return { state, effects: [{ type: "paste", text }] };
}

/** The first closes what is open, cancels the turn or empties the input; a second within two seconds leaves. */
function interrupted(state: State, typed: Typed, context: UpdateContext): Update {
  if (hasKeys(state) === "layer") return closeTop(state, context);
  if (state.nowMs - state.interruptedAtMs <= EXIT_WINDOW_MS) return { state, effects: [{ type: "leave" }] };
  const next = {
    ...state,
    interruptedAtMs: state.nowMs,
    banner: { text: "Press Ctrl-C again within 2s to exit.", untilMs: state.nowMs + EXIT_WINDOW_MS },
  };
  if (state.transcript.isTurnRunning) return { state: next, effects: [{ type: "cancel" }] };
  return { state: next, effects: typed.text === "" ? [] : [{ type: "clear" }] };
}

function withSubmit(state: State, typed: string, isSteering: boolean): Update {
  const text = typed.trim();
  if (state.questions.waiting.length > 0 && state.questions.isTypingAnswer) {
    const { questions, effects } = withTypedAnswer(state.questions, text, state.nowMs);
    return { state: { ...state, questions }, effects };
  }
  if (text === "") return same(state);
  const { isTurnRunning } = state.transcript;
  const { stashed } = state.input;
  const effects = inputEffects(text, { ...state.input, isTurnRunning, isSteering });
  if (stashed === "") return { state, effects };
  return {
    state: { ...state, input: { ...state.input, stashed: "" } },
    effects: [...effects, { type: "write", text: stashed }],
  };
}

/** Letters, digits, signs: what a key writes. */
export function isPrintable(sequence: string): boolean {
  return sequence !== "" && !/\p{Cc}/u.test(sequence);
}

function keyOfLayer({ key, sequence }: KeyMessage) {
  const text = isPrintable(sequence) ? sequence : "";
  return (action: string | undefined) => ({ type: "key", key, text, action }) as const;
}

/** What is typed as an input makes room for an answer that is typed, and comes back behind it. */
function withAnswerRoom({ questions: before }: State, { state, effects }: Update): Update {
  const was = answerPurpose(before);
  const is = answerPurpose(state.questions);
  if (was === is) return { state, effects };
  if (was === "") return { state, effects: [{ type: "set-aside" }, ...effects] };
  return { state, effects: is === "" ? [...effects, { type: "bring-back" }] : [{ type: "clear" }, ...effects] };
}

/** What the answer is for; empty: what is typed is an input. */
export function answerPurpose({ waiting, isTypingAnswer, isEditingPlan }: Questions): string {
  const [question] = waiting;
  return question === undefined || !isTypingAnswer ? "" : `${question.kind}/${question.id}/${isEditingPlan}`;
}

function isOver(banner: State["banner"], nowMs: number): boolean {
  return banner !== undefined && banner.untilMs <= nowMs;
}

function same(state: State): Update {
  return { state, effects: [] };
}
