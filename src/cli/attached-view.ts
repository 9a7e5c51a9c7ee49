/** A session of a daemon in this terminal: what happens as it happens, and the questions that somebody here may answer. */
import { paint, visibleLine } from "#base";
import type { Client, ClientSession, Event } from "#client";
import { type InputBlock, ReasonError, type TurnId } from "#protocol";
import { createAsker } from "./ask.ts";
import type { Outward } from "./outward.ts";
import { createRenderer } from "./renderer.ts";
import type { Terminal } from "./terminal.ts";

/** How far back the beginning of the last turn is looked for. */
const LOOK_BACK_EVENTS = 500;
/** Inputs from here that are remembered until they come back, and queued ones of anybody until their turns begin. */
const SENT_MAX = 100;

export interface AttachedView {
  /** Resolves when the session has ended or `signal` has aborted; rejects when the daemon does not come back. */
  readonly ended: Promise<void>;
  /** Aborts when something is asked: whoever reads a line gives way, and waits for `idle`. */
  interruption(): AbortSignal;
  readonly isAsking: boolean;
  /** Resolves when the current question is answered or withdrawn. */
  idle(): Promise<void>;
  /** What is about to be sent from here, so that it is not shown again when it comes back. */
  typed(text: string): void;
  /** It came to this turn. */
  sent(text: string, turn: TurnId): void;
  /** It was refused. */
  untyped(text: string): void;
  readonly isTurnRunning: boolean;
  /** The id of the last event of the session that was shown. */
  readonly lastEvent: number;
  finishLine(): void;
}

export interface AttachedViewOptions {
  readonly client: Client;
  readonly session: ClientSession;
  readonly terminal: Terminal;
  readonly outward: Outward;
  readonly signal: AbortSignal;
}

/** Resolves when what has happened is shown: it begins with the last turn, so that whoever comes late knows what it is about. */
export async function openAttachedView(options: AttachedViewOptions): Promise<AttachedView> {
  const { client, session, terminal, outward, signal } = options;
  const renderer = createRenderer(terminal, { answer: true, activity: true });
  const asker = createAsker({ terminal, outward, renderer, client: () => client });
  const { last_event_id: last } = await session.info();
  const since = await beginningOfLastTurn(session, last);
  let asked = new AbortController();
  let asking = 0;
  let isTurnRunning = false;
  let lastEvent = since;
  const sentFromHere: string[] = [];
  /** Those that wait, by the ids of their events. */
  const queuedTexts = new Map<number, string>();
  /** The last turn that was shown, and the last that was begun from here. */
  let shownTurn: TurnId | undefined;
  let own: { readonly turn: TurnId; readonly text: string } | undefined;
  /** What was asked before we came and may be answered already. */
  const earlier = new Map<string, Event>();
  const caughtUp = Promise.withResolvers<void>();
  if (since >= last) caughtUp.resolve();

  function show(event: Event): void {
    if (event.session === session.id) {
      lastEvent = event.id;
      if (event.kind === "TurnStarted") {
        isTurnRunning = true;
        shownTurn = event.payload.turn;
        // Redaction may have changed the text: the turn is what tells.
        if (own?.turn === shownTurn) forget(own.text);
        else showInput("› ", event.payload.content);
        queuedTexts.delete(event.payload.queued ?? 0);
      } else if (event.kind === "InputQueued") {
        queuedTexts.set(event.id, textOf(event.payload.content));
        const [oldest] = queuedTexts.keys();
        if (queuedTexts.size > SENT_MAX && oldest !== undefined) queuedTexts.delete(oldest);
        showInput("queued: ", event.payload.content, true);
      } else if (event.kind === "InputRefused") {
        forget(queuedTexts.get(event.payload.queued) ?? "");
        queuedTexts.delete(event.payload.queued);
      } else if (event.kind === "TurnEnded") isTurnRunning = false;
    }
    renderer.show(event);
    if (event.id < last && event.session === session.id) remember(event);
    else {
      if (event.id === last) remember(event);
      for (const question of earlier.values()) ask(question);
      earlier.clear();
      if (event.id !== last) ask(event);
    }
    if (event.session === session.id && event.id >= last) caughtUp.resolve();
  }

  /** The server may be anybody's: what makes no sense is its mistake. Whoever shows its texts makes them visible. */
  function showForeign(event: Event): void {
    try {
      show(event);
    } catch (cause) {
      if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause;
      const detail = `an event of kind ${event.kind} that is not one (${cause.message})`;
      throw new ReasonError("ServerGarbled", { address: client.address, detail }, { cause });
    }
  }

  function ask(event: Event): void {
    if (!terminal.interactive) return;
    asker.handle(event);
    if (!isQuestion(event)) return;
    asked.abort();
    asking += 1;
    void asker.idle().then(() => {
      asking -= 1;
    });
  }

  function remember(event: Event): void {
    if (isQuestion(event)) earlier.set(event.payload.call_id, event);
    else if (isSettling(event)) {
      earlier.delete(event.payload.call_id);
    } else if (event.kind === "TurnEnded") {
      for (const [callId, { kind }] of earlier) if (kind !== "OrphanedCall") earlier.delete(callId);
    }
  }

  function showInput(mark: string, content: readonly InputBlock[], isQueued = false): void {
    const text = textOf(content);
    const at = sentFromHere.indexOf(text);
    if (at >= 0) {
      // A queued input comes back twice: when it is kept, and with its turn.
      if (!isQueued) forget(text);
      return;
    }
    renderer.finishLine();
    terminal.err(`${paint(terminal, "green", mark)}${visibleLine(text)}\n`);
  }

  function forget(text: string): void {
    const at = sentFromHere.indexOf(text);
    if (at >= 0) sentFromHere.splice(at, 1);
  }

  async function follow(): Promise<void> {
    const onConnection = (state: "connected" | "lost"): void => {
      renderer.finishLine();
      const news = state === "lost" ? "The connection is gone; trying again." : "Connected again; nothing was missed.";
      terminal.err(`${paint(terminal, "yellow", news)}\n`);
    };
    for await (const event of session.events({ since, signal, onConnection })) showForeign(event);
    renderer.finishLine();
  }

  const ended = follow();
  await Promise.race([caughtUp.promise, ended]);
  return {
    ended,
    interruption() {
      if (asked.signal.aborted) asked = new AbortController();
      return asked.signal;
    },
    get isAsking() {
      return asking > 0;
    },
    idle: () => asker.idle(),
    typed(text) {
      sentFromHere.push(text);
      if (sentFromHere.length > SENT_MAX) sentFromHere.shift();
    },
    sent(text, turn) {
      own = { turn, text };
      if (shownTurn === turn) forget(text);
    },
    untyped: forget,
    get lastEvent() {
      return lastEvent;
    },
    get isTurnRunning() {
      return isTurnRunning;
    },
    finishLine: () => renderer.finishLine(),
  };
}

type Question = Extract<Event, { readonly kind: "PermissionRequested" | "QuestionAsked" | "OrphanedCall" }>;

function isQuestion(event: Event): event is Question {
  return event.kind === "PermissionRequested" || event.kind === "QuestionAsked" || event.kind === "OrphanedCall";
}

/** The id before its first event. */
async function beginningOfLastTurn(session: ClientSession, last: number): Promise<number> {
  let begin = Math.max(0, last - LOOK_BACK_EVENTS);
  for await (const { id, kind } of session.log({ after: begin })) {
    if (kind === "TurnStarted") begin = id - 1;
    if (id >= last) break;
  }
  return begin;
}

function textOf(content: readonly InputBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join(" ");
}

/** What a question has come to. */
function isSettling(
  event: Event,
): event is Extract<
  Event,
  { readonly kind: "PermissionAnswered" | "QuestionAnswered" | "ToolResult" | "OrphanResolved" }
> {
  return ["PermissionAnswered", "QuestionAnswered", "ToolResult", "OrphanResolved"].includes(event.kind);
}
