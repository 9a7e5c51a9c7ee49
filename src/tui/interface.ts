/**
 * The terminal interface: a client of one session. It follows the session's events, paints what follows from them, and sends what a
 * person decides. It holds nothing that the log does not: when it is gone, the session goes on.
 */
import type { Clock } from "#base";
import type { ClientSession, EngineClient, Event, Input, SessionId } from "#client";
import type { SlashCommand } from "#protocol";
import { createDraftKeeper, type DraftKeeper } from "./draft.ts";
import { firstRegion } from "./first-paint.ts";
import type { ImageProtocol } from "./images.ts";
import type { KeyOverrides } from "./key-table.ts";
import { createPainter, type Frame, type Painter } from "./painter.ts";
import type { ScreenPort } from "./screen-port.ts";
import { initialState, type Message, type State } from "./state.ts";
import type { StatusFacts } from "./status-line.ts";
import { type ThemeName, themes } from "./theme.ts";

/** Images stand in the input as marks, and join it when it is sent. */
interface ImageMarks {
  /** Undefined for a paste that is not only the paths of images. */
  fromPaste(text: string): string | undefined;
  /** Rejects if there is none, with what to do. */
  fromClipboard(): Promise<string>;
  contentOf(text: string): Promise<Input>;
}

export interface InterfaceParts {
  readonly screen: ScreenPort;
  readonly clock: Clock;
  readonly theme: ThemeName;
  /** The terminal is asked for its background, and the theme is the one for that. */
  readonly followsBackground: boolean;
  /** The user's own keys, by action. */
  readonly keys: KeyOverrides;
  /** How the terminal draws images. Default: not at all. */
  readonly images?: ImageProtocol;
  /** Vim keys in the input. Default: none. */
  readonly vim?: boolean;
  readonly client: Pick<EngineClient, "session" | "sessions">;
  readonly session: ClientSession;
  readonly facts: StatusFacts;
  readonly model: string;
  /** Events with a higher id are shown; those up to `last` have happened before. */
  readonly since: number;
  readonly last: number;
  /** Inputs of earlier conversations in this project, newest first. */
  history(): readonly string[];
  /** An input was sent: kept for the next conversation. */
  remember(text: string): Promise<void>;
  /** What was typed and not sent when the interface ended the last time, and keeps that for the next time. */
  readonly draft: { readonly text: string; keep(text: string): Promise<void> };
  /** Something to remind the person of, above the input until they hide it; empty: nothing. */
  readonly reminder: { text(): Promise<string>; hide(): Promise<void> };
  /** What can be typed behind a slash. */
  commands(): Promise<readonly SlashCommand[]>;
  send(text: string): Promise<unknown>;
  readonly attachedImages: ImageMarks;
  /** Carries out a slash word; what it says is shown. Resolves to the session to go on with, when that is another one. */
  slash(line: string, print: (text: string) => void): Promise<SessionId | undefined>;
  /** In the person's own editor, which has the terminal meanwhile. Undefined: nothing was changed. */
  editOutside(text: string): Promise<string | undefined>;
  /** A line for the person once the terminal is given back. */
  afterwards(text: string): void;
  /** Keeps a text for other programs; gives the path. */
  save(name: string, text: string): Promise<string>;
  /** What the program says meanwhile is shown in the conversation. */
  notices(show: (text: string) => void): void;
  /** In words for a person, redacted. */
  describe(error: unknown): Promise<string>;
  /** Aborts to make it return at once. */
  readonly signal: AbortSignal;
  /** Aborts when the program fails: the terminal is given back before the listeners of it return. */
  readonly crashed: AbortSignal;
}

export type InterfaceEnd =
  | { readonly kind: "left" | "ended" }
  | { readonly kind: "other"; readonly session: SessionId };

/** What needs the widgets, which are loaded after the first paint. */
export interface RunningInterface {
  bytes(chunk: string): void;
  /** The terminal is ours, for the first time or again. */
  taken(): void;
  dispatch(message: Message): void;
  frame(): Frame;
  widthOf(row: string): number;
  state(): State;
  typed(): string;
  /** Resolves when no other program has the terminal. */
  ended(): Promise<void>;
  close(): void;
}

/** While something runs or is open: clocks and spinners. */
const TICK_MS = 250;

const LAST_WORDS_MS = 1_000;
/** A conversation whose events come slowly does not keep the rest of what is shown from being asked for. */
const CATCH_UP_MS = 1_000;

/** Returns when the person leaves or the session ends. The terminal is as it was, whatever happens. */
export async function runInterface(given: InterfaceParts): Promise<InterfaceEnd> {
  const { parts, lastWords } = withLastWords(given);
  const { screen, clock } = parts;
  const over = new AbortController();
  const signal = AbortSignal.any([parts.signal, over.signal]);
  const end = Promise.withResolvers<InterfaceEnd>();
  /** Absent until the widgets are loaded. */
  let running: RunningInterface | undefined;
  let early = "";
  let isOther = false;
  const painter = createPainter({
    screen,
    clock,
    signal,
    widthOf: (row) => running?.widthOf(row) ?? row.length,
    frame: () => running?.frame() ?? firstFrame(parts, early),
  });
  const restore = screen.begin({
    bytes(chunk) {
      if (running !== undefined) return running.bytes(chunk);
      early += chunk;
      painter.now();
    },
    resize() {
      running?.dispatch({ type: "resize", size: screen.size() });
      painter.again();
    },
    resumed() {
      running?.taken();
      painter.now();
    },
  });
  let isTaken = true;
  const giveBack = (): void => {
    if (!isTaken) return;
    isTaken = false;
    over.abort();
    // The next session begins where this one's input stood.
    if (isOther) painter.erase();
    else painter.leave();
    restore();
  };
  parts.crashed.addEventListener("abort", giveBack);
  parts.signal.addEventListener("abort", () => end.resolve({ kind: "left" }), { once: true });
  const draft = createDraftKeeper(parts.draft, (error) => {
    void parts.describe(error).then((text) => running?.dispatch({ type: "print", tone: "bad", text }));
  });
  try {
    painter.now();
    running = await startRunning(parts, painter, signal, end.resolve);
    running.taken();
    if (early !== "") running.bytes(early);
    const { dispatch } = running;
    parts.notices((text) => dispatch({ type: "print", tone: "dim", text }));
    painter.now();
    void tick(clock, signal, () => onTick(running, draft));
    follow(parts, signal, running.dispatch).then(
      (session) => end.resolve(session === undefined ? { kind: "ended" } : { kind: "other", session }),
      (error: unknown) => end.reject(error),
    );
    const ended = await end.promise;
    isOther = ended.kind === "other";
    return ended;
  } finally {
    try {
      // What somebody writes in their own editor is not lost when the session ends meanwhile.
      if (!parts.signal.aborted) await running?.ended();
      if (isOther) await lastWords();
      running?.close();
      painter.now();
    } finally {
      giveBack();
      parts.crashed.removeEventListener("abort", giveBack);
    }
    if (running !== undefined) await keepLast(parts, draft, running.typed());
  }
}

/** `lastWords` waits for the reply to the last slash word, which may come behind the end of the session that the word has ended. */
function withLastWords(given: InterfaceParts): { readonly parts: InterfaceParts; lastWords(): Promise<unknown> } {
  let last: Promise<unknown> = Promise.resolve();
  return {
    parts: {
      ...given,
      slash(line, print) {
        const done = given.slash(line, print);
        last = done.catch(() => undefined);
        return done;
      },
    },
    lastWords: () => Promise.race([last, given.clock.sleep(LAST_WORDS_MS, given.signal)]),
  };
}

/** The conversation is over whether or not the draft could be kept. */
async function keepLast({ describe, afterwards }: InterfaceParts, draft: DraftKeeper, text: string): Promise<void> {
  try {
    await draft.keep(text);
  } catch (error) {
    afterwards(await describe(error));
  }
}

async function startRunning(
  parts: InterfaceParts,
  painter: Painter,
  signal: AbortSignal,
  end: (how: InterfaceEnd) => void,
): Promise<RunningInterface> {
  const { createRunning } = await import("./running.ts");
  const { screen, clock, session, model, theme, since } = parts;
  const state = initialState(session.id, { model, theme, since, size: screen.size(), nowMs: clock.monotonicMs() });
  return createRunning({ parts, painter, signal, end, state });
}

function firstFrame({ facts, model, screen, theme }: InterfaceParts, typed: string): Frame {
  return { settled: [], region: firstRegion(typed, `${facts.session} ${model}`, screen.size(), themes[theme]) };
}

function onTick(running: RunningInterface | undefined, draft: DraftKeeper): void {
  if (running === undefined) return;
  const { transcript, banner, layers, questions } = running.state();
  const isOpen = layers.length > 0 || questions.waiting.length > 0;
  if (transcript.isTurnRunning || banner !== undefined || isOpen) running.dispatch({ type: "time" });
  draft.tick(running.typed());
}

/** Resolves when the session has ended, to the one in which the conversation continues. */
async function follow(
  { session, since, last, clock }: InterfaceParts,
  signal: AbortSignal,
  dispatch: (message: Message) => void,
): Promise<SessionId | undefined> {
  let continuedIn: SessionId | undefined;
  let isBehind = true;
  const caughtUp = (): void => {
    if (isBehind && !signal.aborted) dispatch({ type: "caught-up" });
    isBehind = false;
  };
  if (since >= last) caughtUp();
  else void clock.sleep(CATCH_UP_MS, signal).then(caughtUp);
  const onConnection = (state: "connected" | "lost"): void => dispatch({ type: "connection", state });
  for await (const event of session.events({ since, signal, onConnection })) {
    const isEarlier = event.session === session.id && event.id <= last;
    dispatch({ type: "event", event, agoMs: isEarlier ? ageMs(event, clock) : 0 });
    if (event.session === session.id) {
      if (event.id >= last) caughtUp();
      continuedIn = event.kind === "SessionEnded" ? event.payload.continued_in : undefined;
    }
  }
  return continuedIn;
}

async function tick(clock: Clock, signal: AbortSignal, onTime: () => void): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(TICK_MS, signal);
    if (!signal.aborted) onTime();
  }
}

function ageMs(event: Event, clock: Clock): number {
  return Math.max(0, clock.now() - Date.parse(event.ts));
}
