/**
 * The terminal interface: a client of one session. It follows the session's events, paints what follows from them, and sends what a
 * person decides. It holds nothing that the log does not: when it is gone, the session goes on.
 */
import type { Clock } from "#base";
import type { ClientSession, EngineClient, Event, SessionId } from "#client";
import { createInputEditor } from "./input-editor.ts";
import { createPainter } from "./painter.ts";
import { createPerformer } from "./perform.ts";
import type { ScreenPort } from "./screen-port.ts";
import { settle } from "./settle.ts";
import { initialState, type Message, update } from "./state.ts";
import type { StatusFacts } from "./status-line.ts";
import type { Theme } from "./theme.ts";
import { liveRegion } from "./view.ts";

export interface InterfaceParts {
  readonly screen: ScreenPort;
  readonly clock: Clock;
  readonly theme: Theme;
  readonly client: Pick<EngineClient, "session">;
  readonly session: ClientSession;
  readonly facts: StatusFacts;
  readonly model: string;
  /** Events with a higher id are shown; those up to `last` have happened before. */
  readonly since: number;
  readonly last: number;
  /** Inputs of earlier conversations, newest first. */
  readonly history: readonly string[];
  /** An input was sent: kept for the next conversation. */
  remember(text: string): Promise<void>;
  send(text: string): Promise<unknown>;
  /** Carries out a slash word; what it says is shown. Resolves to the session to go on with, when that is another one. */
  slash(line: string, print: (text: string) => void): Promise<SessionId | undefined>;
  /** In words for a person, redacted. */
  describe(error: unknown): Promise<string>;
  /** Aborts to make it return at once. */
  readonly signal: AbortSignal;
}

export type InterfaceEnd =
  | { readonly kind: "left" | "ended" }
  | { readonly kind: "other"; readonly session: SessionId };

/** While something runs: clocks and spinners. */
const TICK_MS = 250;

/** Returns when the person leaves or the session ends. The terminal is as it was, whatever happens. */
export async function runInterface(parts: InterfaceParts): Promise<InterfaceEnd> {
  const { screen, clock, session, theme } = parts;
  const { widgets } = await import("./widgets.ts");
  const over = new AbortController();
  const signal = AbortSignal.any([parts.signal, over.signal]);
  const end = Promise.withResolvers<InterfaceEnd>();
  let state = initialState(session.id, parts.model, screen.size(), clock.monotonicMs());
  const editor = createInputEditor({
    widgets,
    theme,
    history: parts.history,
    terminalRows: () => screen.size().rows,
    onSubmit: (text) => dispatch({ type: "submit", text, isSteering: false }),
  });
  const painter = createPainter({
    screen,
    clock,
    signal,
    widthOf: widgets.visibleWidth,
    frame() {
      const { columns } = state.size;
      const style = { columns, theme, widgets, nowMs: state.nowMs };
      const { rows: settled, transcript } = settle(state.transcript, style);
      state = { ...state, transcript };
      return { settled, region: liveRegion(state, editor.rows(columns), parts.facts, style) };
    },
  });
  const perform = createPerformer({ parts, editor, painter, signal, end: end.resolve, dispatch });

  function dispatch(message: Message): void {
    const next = update(state, message, clock.monotonicMs());
    state = next.state;
    for (const effect of next.effects) perform(effect);
    if (message.type === "event") painter.soon();
    else painter.now();
  }

  const keys = new widgets.StdinBuffer();
  keys.on("data", (sequence) => {
    dispatch({ type: "key", key: widgets.parseKey(sequence) ?? sequence, sequence, typed: editor.text() });
  });
  keys.on("paste", (text) => {
    // A paste answers no question.
    if (state.questions.length === 0 || state.isTypingAnswer) editor.paste(text);
    painter.now();
  });
  const restore = screen.begin({
    bytes: (chunk) => keys.process(chunk),
    resize() {
      state = update(state, { type: "resize", size: screen.size() }, clock.monotonicMs()).state;
      painter.again();
    },
    resumed: () => painter.now(),
  });
  parts.signal.addEventListener("abort", () => end.resolve({ kind: "left" }), { once: true });
  try {
    painter.now();
    void tick(clock, signal, () => {
      if (state.transcript.isTurnRunning || state.banner !== undefined) dispatch({ type: "time" });
    });
    follow(parts, signal, dispatch).then(
      () => end.resolve({ kind: "ended" }),
      (error: unknown) => end.reject(error),
    );
    return await end.promise;
  } finally {
    painter.now();
    over.abort();
    keys.destroy();
    painter.leave();
    restore();
  }
}

async function follow(
  { session, since, last, clock }: InterfaceParts,
  signal: AbortSignal,
  dispatch: (message: Message) => void,
): Promise<void> {
  const onConnection = (state: "connected" | "lost"): void => dispatch({ type: "connection", state });
  for await (const event of session.events({ since, signal, onConnection })) {
    const isEarlier = event.session === session.id && event.id <= last;
    dispatch({ type: "event", event, agoMs: isEarlier ? ageMs(event, clock) : 0 });
  }
}

async function tick(clock: Clock, signal: AbortSignal, onTick: () => void): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(TICK_MS, signal);
    if (!signal.aborted) onTick();
  }
}

function ageMs(event: Event, clock: Clock): number {
  return Math.max(0, clock.now() - Date.parse(event.ts));
}
