/**
 * A session in this terminal, whether it runs here or in a daemon: what happens as it happens, the questions that somebody here may
 * answer, and how its turns end.
 */
import { counted, paint, visibleJson, visibleLine } from "#base";
import type { ClientSession, EngineClient, Event } from "#client";
import {
  createAnswerCollector,
  displayText,
  type EventOf,
  type EventPayload,
  type InputBlock,
  type Reason,
  ReasonError,
  type SessionId,
  type TurnId,
} from "#protocol";
import { ackQuestion } from "./ack-question.ts";
import { createAsker } from "./ask.ts";
import type { CliPorts } from "./cli-ports.ts";
import { createRenderer } from "./renderer.ts";
import { createRunningCalls } from "./running-calls.ts";

/** How far back the beginning of the last turn is looked for. */
const LOOK_BACK_EVENTS = 500;
/** Turns whose ends are remembered for whoever asks late. */
const ENDED_MAX = 100;

export type OutputMode =
  /** Text to standard output as it comes, activity to standard error. */
  | "stream"
  /** Canonical events as JSON lines on standard output. */
  | "json"
  /** Nothing but the final answer, which the command prints. */
  | "answer";

/** How a turn ended, and the text of its last response. */
export interface EndedTurn extends Pick<EventPayload<"TurnEnded">, "outcome"> {
  readonly reason?: Reason;
  readonly message?: string;
  readonly answer: string;
}

export interface SessionView {
  /** Resolves when the session has ended or `signal` has aborted; rejects when its events cannot be followed any more. */
  readonly ended: Promise<void>;
  /** Where the conversation continues, once the session was paused for that. */
  continuedIn(): SessionId | undefined;
  /** Resolves when the event with this id is shown, or the view has ended. */
  reached(id: number): Promise<void>;
  /** Resolves when the turn has ended; rejects when the log has lost it. */
  turn(turn: TurnId): Promise<EndedTurn>;
  /** Aborts when something is asked: whoever reads a line gives way, and waits for `idle`. */
  interruption(): AbortSignal;
  readonly isAsking: boolean;
  /** Resolves when the current question is answered or withdrawn. */
  idle(): Promise<void>;
  readonly isTurnRunning: boolean;
  /** Called when the slash commands of the session may have changed. Of several listeners the last one counts. */
  onWordsChanged(listener: () => void): void;
  /** The id of the last event of the session that was shown. */
  readonly lastEvent: number;
  finishLine(): void;
}

export interface SessionViewOptions {
  readonly ports: Pick<CliPorts, "terminal" | "outward" | "clock" | "env">;
  readonly client: EngineClient;
  readonly session: ClientSession;
  readonly output: OutputMode;
  /** Somebody here is asked. */
  readonly interactive: boolean;
  /** Events with a higher id are shown. */
  readonly since: number;
  /** Events up to this one have happened before: what they ask may be answered already. */
  readonly last: number;
  /** The session ends with this program, and does not come back. */
  readonly isHere: boolean;
  readonly signal: AbortSignal;
}

export function openSessionView(options: SessionViewOptions): SessionView {
  const { ports, client, session, output, last, signal } = options;
  const { terminal, outward } = ports;
  const renderer = createRenderer(terminal, { answer: output === "stream", activity: output === "stream" });
  const running = output === "stream" ? createRunningCalls(terminal, ports.clock, session.id) : undefined;
  const reviewAck = ackQuestion(ports, client);
  const asker = createAsker({ terminal, outward, renderer, client: () => client, reviewAck });
  const collector = createAnswerCollector();
  let asked = new AbortController();
  let asking = 0;
  let isTurnRunning = false;
  let wordsChanged = (): void => undefined;
  let lastEvent = options.since;
  let continuedIn: SessionId | undefined;
  const turns = new Map<TurnId, PromiseWithResolvers<EndedTurn>>();
  let reaching: { readonly id: number; readonly resolve: () => void }[] = [];
  /** What was asked before we came and may be answered already. */
  const earlier = new Map<string, Event>();

  function show(event: Event): void {
    running?.handle(event, event.session === session.id && event.id <= last);
    if (output === "json") terminal.out(eventLine(event));
    else renderer.show(event);
    if (event.session === session.id) note(event);
    if (event.id < last && event.session === session.id) remember(event);
    else {
      if (event.id === last) remember(event);
      for (const question of earlier.values()) ask(question);
      earlier.clear();
      if (event.id !== last) ask(event);
    }
  }

  /** What follows from an event of the session itself. */
  function note(event: Event): void {
    collector.add(event);
    switch (event.kind) {
      case "TurnStarted":
        isTurnRunning = true;
        if (event.id <= last || !client.isOwn(event)) showInput("› ", event.payload.content);
        break;
      case "InputQueued":
        if (event.id <= last || !client.isOwn({ originator: event.payload.by })) {
          showInput("queued: ", event.payload.content);
        }
        break;
      case "TurnEnded":
        isTurnRunning = false;
        if (event.payload.outcome === "cancelled") noteWaiting(event.payload.queued?.length ?? 0);
        endOf(event.payload.turn).resolve(endedTurn(event, collector.text()));
        break;
      case "SkillRegistryChanged":
        if (event.id > last) wordsChanged();
        break;
      case "TurnLost":
        isTurnRunning = false;
        endOf(event.payload.turn).reject(lostTurn(event));
        // Whoever has sent it here waits for it.
        if (!options.isHere) renderer.show({ ...event, kind: "Error", payload: { ...event.payload, terminal: true } });
        break;
      default:
    }
  }

  /** What waits in the session begins although the turn before it was cancelled: other clients may have sent it. */
  function noteWaiting(count: number): void {
    if (count === 0 || output !== "stream") return;
    renderer.finishLine();
    terminal.err(`${counted(count, "queued input")} still in the session, to run next.\n`);
  }

  /** The same for whoever asks first and whoever tells first. */
  function endOf(turn: TurnId): PromiseWithResolvers<EndedTurn> {
    const known = turns.get(turn);
    if (known !== undefined) return known;
    const made = Promise.withResolvers<EndedTurn>();
    made.promise.catch(() => undefined); // whoever asks is told
    turns.set(turn, made);
    const [oldest] = turns.keys();
    if (turns.size > ENDED_MAX && oldest !== undefined) turns.delete(oldest);
    return made;
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
    if (!options.interactive) return;
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

  function showInput(mark: string, content: readonly InputBlock[]): void {
    if (output !== "stream") return;
    renderer.finishLine();
    terminal.err(`${paint(terminal, "green", mark)}${visibleLine(displayText(content, " "))}\n`);
  }

  function arrivedAt(id: number): void {
    lastEvent = id;
    for (const waiting of reaching) if (waiting.id <= id) waiting.resolve();
    reaching = reaching.filter((waiting) => waiting.id > id);
  }

  async function follow(): Promise<void> {
    const onConnection = (state: "connected" | "lost"): void => {
      renderer.finishLine();
      const news = state === "lost" ? "The connection was lost; reconnecting." : "Reconnected; nothing was missed.";
      terminal.err(`${paint(terminal, "yellow", news)}\n`);
    };
    try {
      for await (const event of session.events({ since: options.since, signal, onConnection })) {
        showForeign(event);
        if (event.session !== session.id) continue;
        arrivedAt(event.id);
        continuedIn = event.kind === "SessionEnded" ? event.payload.continued_in : undefined;
        if (event.kind === "SessionEnded" && options.isHere) break;
      }
    } finally {
      running?.stop();
    }
    renderer.finishLine();
  }

  const ended = follow();
  return {
    ended,
    continuedIn: () => continuedIn,
    async reached(id) {
      if (lastEvent >= id) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      reaching.push({ id, resolve });
      await Promise.race([promise, ended]);
    },
    async turn(turn) {
      const over = ended.then(() => Promise.reject(new ReasonError("SessionClosed", { session: session.id })));
      return Promise.race([endOf(turn).promise, over]);
    },
    interruption() {
      if (asked.signal.aborted) asked = new AbortController();
      return asked.signal;
    },
    get isAsking() {
      return asking > 0;
    },
    idle: () => asker.idle(),
    get lastEvent() {
      return lastEvent;
    },
    get isTurnRunning() {
      return isTurnRunning;
    },
    onWordsChanged(listener) {
      wordsChanged = listener;
    },
    finishLine: () => renderer.finishLine(),
  };
}

/** An event as a line of JSON. */
export function eventLine(event: Event): string {
  return `${visibleJson(JSON.stringify(event))}\n`;
}

/** The id before the first event of the last turn, so that whoever comes late knows what it is about. */
export async function beginningOfLastTurn(session: ClientSession, last: number): Promise<number> {
  let begin = Math.max(0, last - LOOK_BACK_EVENTS);
  for await (const { id, kind } of session.log({ after: begin })) {
    if (kind === "TurnStarted") begin = id - 1;
    if (id >= last) break;
  }
  return begin;
}

function endedTurn({ payload: { outcome, reason } }: EventOf<"TurnEnded">, answer: string): EndedTurn {
  // A reason of the protocol's table, which the type of an event does not say.
  return { outcome, ...(reason === undefined ? {} : { reason: reason as Reason }), answer };
}

function lostTurn({ payload: { reason, message } }: EventOf<"TurnLost">): ReasonError {
  return ReasonError.withMessage(reason as Reason, message); // as above
}

type Question = Extract<
  Event,
  { readonly kind: "PermissionRequested" | "QuestionAsked" | "AckRequested" | "OrphanedCall" }
>;

function isQuestion(event: Event): event is Question {
  return ["PermissionRequested", "QuestionAsked", "AckRequested", "OrphanedCall"].includes(event.kind);
}

/** What a question has come to. */
function isSettling(
  event: Event,
): event is Extract<
  Event,
  { readonly kind: "PermissionAnswered" | "QuestionAnswered" | "AckSettled" | "ToolResult" | "OrphanResolved" }
> {
  return ["PermissionAnswered", "QuestionAnswered", "AckSettled", "ToolResult", "OrphanResolved"].includes(event.kind);
}
