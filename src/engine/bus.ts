/**
 * The one road for news: an event is appended to the store, which gives it its id, and only then told to subscribers.
 * Text that arrives within one flush window is merged into one event before it gets an id. Everything is redacted on the way
 * in; what cannot be redacted is neither stored nor told. Knows no transport.
 */
import { type Clock, messageOf } from "#base";
import {
  type ClientId,
  type Event,
  type EventKind,
  type EventPayload,
  ReasonError,
  type SessionId,
  storeFailure,
} from "#protocol";
import { nextTs } from "./event-time.ts";
import { createOwedEvents } from "./owed-events.ts";
import type { RedactedStream, Redaction } from "./redaction.ts";
import { redactionFailure } from "./redaction-guard.ts";
import type { EventDraft, SessionLog } from "./store.ts";

/** Deltas wait at most this long for company. */
export const FLUSH_WINDOW_MS = 8;
/** A merged delta stops growing here; the next text starts a new event. */
export const MERGED_TEXT_MAX_CHARS = 64 * 1024;
/** When no more text comes for so long, what is held back only because a secret might begin in it goes out. */
export const HELD_TEXT_MS = 50;

export type Subscriber = (event: Event) => void;

export interface EventBus {
  readonly session: SessionId;
  /** Resolves when the event is durable and has been told; rejects with StoreFailed when it could not be stored. */
  publish<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): Promise<void>;
  /** As `publish`, but in no hurry: it is written together with what comes next, at the latest after the flush window. */
  publishSoon<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): Promise<void>;
  /** Queues text to be merged; a failure to store it surfaces at the next `flush` or `publish` and in `onFailure`. */
  publishDelta(delta: DeltaDraft): void;
  /** Resolves when everything queued so far is durable; the text that was coming has ended. */
  flush(): Promise<void>;
  subscribe(subscriber: Subscriber): () => void;
  /** What may be told of this payload beside the log. Throws RedactionFailed. */
  redacted<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): EventPayload<Kind>;
  /** Stamped on every event until changed: the client whose input runs. */
  setOriginator(originator: ClientId | undefined): void;
  /** What is owed to the log is not tried again: the log is about to be released. */
  stopOwing(): void;
  /** The last event that was told; 0 before the first. */
  readonly lastId: number;
  /** Milliseconds spent waiting for the store since the bus was made. */
  readonly writeMs: number;
}

export type DeltaDraft =
  | { readonly kind: "TextDelta"; readonly payload: EventPayload<"TextDelta"> }
  | { readonly kind: "ThinkingDelta"; readonly payload: EventPayload<"ThinkingDelta"> }
  | { readonly kind: "ToolCallProgress"; readonly payload: EventPayload<"ToolCallProgress"> }
  | { readonly kind: "JobOutput"; readonly payload: EventPayload<"JobOutput"> };

type Waiter = Pick<PromiseWithResolvers<void>, "resolve" | "reject">;

export type Schedule = (action: () => void, ms: number) => () => void;

export interface BusOptions {
  readonly session: SessionId;
  readonly log: Pick<SessionLog, "append" | "lastTs">;
  readonly clock: Clock;
  readonly redaction: Redaction;
  /** Calls back after a while; returns how to call it off. Default: a timer. */
  readonly schedule?: Schedule;
  /** Called once for each failed write or redaction, so that the running turn can be stopped at once. */
  readonly onFailure?: (error: ReasonError) => void;
}

/** A text that is still coming. */
interface OpenText {
  /** Its last delta; what is held back goes out as one like it. */
  delta: DeltaDraft;
  readonly stream: RedactedStream;
}

export function createEventBus({ session, log, clock, redaction, schedule = timer, onFailure }: BusOptions): EventBus {
  const subscribers = new Set<Subscriber>();
  let queue: EventDraft[] = [];
  let waiters: Waiter[] = [];
  let open: { draft: DeltaDraft; texts: string[]; chars: number } | undefined;
  let running: Promise<void> | undefined;
  let callOff: (() => void) | undefined;
  let lastWriteMs = Number.NEGATIVE_INFINITY;
  let originator: ClientId | undefined;
  let lastId = 0;
  let writeMs = 0;
  let deltaFailure: ReasonError | undefined;
  const owed = createOwedEvents(schedule, () => void write());
  /** What the model writes: one text at a time. */
  let modelText: OpenText | undefined;
  /** Partial output, by name. */
  const outputs = new Map<string, OpenText>();
  /** Calls off the look at what is held back. */
  let stopSettling: (() => void) | undefined;
  let lastTextMs = 0;
  let { lastTs } = log;

  /** Never before that of an event that was published earlier. */
  function now(): string {
    lastTs = nextTs(lastTs, clock.now());
    return lastTs;
  }

  function stamp(): { ts: string; originator?: ClientId } {
    const ts = now();
    return originator === undefined ? { ts } : { originator, ts };
  }

  /** Moves the delta that is still growing into the queue. */
  function closeDelta(): void {
    if (open === undefined) return;
    const { draft, texts } = open;
    open = undefined;
    const text = texts.join("");
    // Same kind, same payload type; only the text was joined.
    queue.push({ kind: draft.kind, ...stamp(), payload: withSummary({ ...draft.payload, text }) } as EventDraft);
  }

  /** Says in an event what was redacted in it. */
  function withSummary<Payload extends object>(payload: Payload): Payload {
    const summary = redaction.summary?.(payload);
    return summary === undefined ? payload : { ...payload, redaction: summary };
  }

  /** Writes until nothing is queued; everybody who needs the queue written shares one run. */
  function write(): Promise<void> {
    callOff?.();
    callOff = undefined;
    closeDelta();
    if (running === undefined && (queue.length > 0 || owed.isDue)) running = drain();
    return running ?? Promise.resolve();
  }

  async function drain(): Promise<void> {
    await Promise.resolve(); // what is published in the same breath is written together
    do {
      const batch = queue;
      const waiting = waiters;
      queue = [];
      waiters = [];
      const startMs = clock.monotonicMs();
      try {
        // In their order: nothing is told before what happened earlier.
        if (owed.size > 0) await owed.write(store);
        if (batch.length > 0) broadcastAll(batch, await append(batch));
        for (const waiter of waiting) waiter.resolve();
      } catch (cause) {
        owed.take(batch, cause);
        // A store that still takes nothing of what it is owed has been told of.
        if (batch.length > 0) fail(asStoreFailure(cause), waiting);
      } finally {
        lastWriteMs = clock.monotonicMs();
        writeMs += lastWriteMs - startMs;
      }
      closeDelta();
    } while (queue.length > 0);
    running = undefined;
  }

  function append(drafts: readonly EventDraft[]): Promise<number> {
    return log.append(drafts, now());
  }

  async function store(drafts: readonly EventDraft[]): Promise<void> {
    broadcastAll(drafts, await append(drafts));
  }

  function fail(failure: ReasonError, waiting: readonly Waiter[]): void {
    if (waiting.length === 0) deltaFailure = failure;
    for (const waiter of waiting) waiter.reject(failure);
    onFailure?.(failure);
  }

  function broadcastAll(drafts: readonly EventDraft[], firstId: number): void {
    drafts.forEach((draft, index) => {
      broadcast(draft, firstId + index);
    });
  }

  function broadcast(draft: EventDraft, id: number): void {
    const { kind, ts, payload } = draft;
    const who = draft.originator === undefined ? {} : { originator: draft.originator };
    // A draft is an event without id and session; its kind and payload belong together by construction.
    const event = { id, kind, session, ...who, ts, payload } as Event;
    lastId = id;
    for (const subscriber of subscribers) {
      try {
        subscriber(event);
      } catch (cause) {
        subscribers.delete(subscriber);
        const message = cause instanceof Error ? cause.message : String(cause);
        void bus
          .publish("Error", {
            reason: "InternalError",
            message: `an event subscriber failed and was removed: ${message}`,
            terminal: false,
          })
          .catch(() => undefined); // the store failed too: publish has told onFailure
      }
    }
  }

  function enqueue<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): Promise<void> {
    let clean: EventPayload<Kind>;
    // Text that an earlier turn lost is no failure of this one.
    if (kind === "TurnStarted") deltaFailure = undefined;
    try {
      endTextsAt(kind, payload);
      clean = redaction.payload(kind, payload);
    } catch (cause) {
      const failure = redactionFailure(cause);
      onFailure?.(failure);
      return Promise.reject(failure);
    }
    closeDelta();
    // The pair comes from one generic parameter, which the union type cannot express.
    queue.push({ kind, ...stamp(), payload: withSummary(clean) } as unknown as EventDraft);
    return new Promise<void>((resolve, reject) => {
      waiters.push({ resolve, reject });
    });
  }

  /** Adds redacted text to the delta that is growing, or begins a new one. */
  function grow(delta: DeltaDraft, text: string): void {
    if (text === "") return;
    if (open !== undefined && open.chars + text.length <= MERGED_TEXT_MAX_CHARS && continues(open.draft, delta)) {
      open.texts.push(text);
      open.chars += text.length;
      return;
    }
    closeDelta();
    open = { draft: delta, texts: [text], chars: text.length };
    writeSoon(lastWriteMs + FLUSH_WINDOW_MS - clock.monotonicMs());
  }

  function textOf(delta: DeltaDraft): OpenText {
    if ("call_id" in delta.payload) {
      const name = nameOf(delta);
      const made = outputs.get(name) ?? { delta, stream: redaction.stream() };
      outputs.set(name, made);
      return made;
    }
    if (modelText !== undefined && !continues(modelText.delta, delta)) endModelText();
    modelText ??= { delta, stream: redaction.stream() };
    return modelText;
  }

  function endText({ delta, stream }: OpenText): void {
    grow(delta, stream.flush());
  }

  function endModelText(): void {
    const ended = modelText;
    modelText = undefined;
    if (ended !== undefined) endText(ended);
    stopSettlingWhenDone();
  }

  function stopSettlingWhenDone(): void {
    if (modelText !== undefined || outputs.size > 0) return;
    stopSettling?.();
    stopSettling = undefined;
  }

  /** A text must not be cut in a secret by an event that comes between its pieces: only what ends it lets the rest go. */
  function endTextsAt<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): void {
    if (ENDS_MODEL_TEXT.has(kind)) endModelText();
    const ended = kind === "ToolResult" ? "ToolCallProgress" : kind === "JobEnded" ? "JobOutput" : undefined;
    if (outputs.size === 0 || ended === undefined || !("call_id" in payload)) return;
    const output = outputs.get(`${ended} ${payload.call_id}`);
    outputs.delete(`${ended} ${payload.call_id}`);
    if (output !== undefined) endText(output);
    stopSettlingWhenDone();
  }

  /** One timer for many deltas: it looks again when text has come since. */
  function settleAfter(waitMs: number): void {
    stopSettling ??= schedule(() => {
      stopSettling = undefined;
      const leftMs = lastTextMs + HELD_TEXT_MS - clock.monotonicMs();
      if (leftMs > 0) settleAfter(leftMs);
      else settleTexts();
    }, waitMs);
  }

  function settleTexts(): void {
    try {
      for (const { delta, stream } of [...(modelText === undefined ? [] : [modelText]), ...outputs.values()]) {
        grow(delta, stream.settle());
      }
    } catch (cause) {
      failDelta(cause);
    }
  }

  function failDelta(cause: unknown): void {
    modelText = undefined;
    outputs.clear();
    deltaFailure = redactionFailure(cause);
    onFailure?.(deltaFailure);
  }

  function writeSoon(waitMs: number): void {
    if (running !== undefined || callOff !== undefined) return;
    // A clock that gives no number gives no wait either.
    if (waitMs > 0) callOff = schedule(() => void write(), waitMs);
    else void write();
  }

  const bus: EventBus = {
    session,
    redacted: (kind, payload) => redaction.payload(kind, payload),
    publish(kind, payload) {
      const done = enqueue(kind, payload);
      void write();
      return done;
    },
    publishSoon(kind, payload) {
      const done = enqueue(kind, payload);
      writeSoon(FLUSH_WINDOW_MS);
      return done;
    },
    publishDelta(delta) {
      try {
        const text = textOf(delta);
        text.delta = delta;
        grow(delta, text.stream.push(delta.payload.text));
        lastTextMs = clock.monotonicMs();
        if (text.stream.heldChars > 0) settleAfter(HELD_TEXT_MS);
      } catch (cause) {
        failDelta(cause);
      }
    },
    async flush() {
      try {
        endModelText();
      } catch (cause) {
        failDelta(cause);
      }
      await write();
      if (deltaFailure !== undefined) {
        const failure = deltaFailure;
        deltaFailure = undefined;
        throw failure;
      }
    },
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    setOriginator(next) {
      originator = next;
    },
    stopOwing: owed.stop,
    get lastId() {
      return lastId;
    },
    get writeMs() {
      return writeMs;
    },
  };
  return bus;
}

/** The model has stopped writing when one of these is told. */
const ENDS_MODEL_TEXT: ReadonlySet<EventKind> = new Set([
  "TurnStarted",
  "ThinkingDelta",
  "ToolCallStarted",
  "CostIncremented",
  "Error",
  "Cancelled",
  "TurnEnded",
]);

/** What the store says of itself is told as it is. */
function asStoreFailure(cause: unknown): ReasonError {
  return storeFailure(cause) ?? new ReasonError("StoreFailed", messageOf(cause), { cause });
}

export function timer(action: () => void, ms: number): () => void {
  const started = setTimeout(action, ms);
  return () => clearTimeout(started);
}

/** Names the text that a delta is a piece of. */
function nameOf({ kind, payload }: DeltaDraft): string {
  return "call_id" in payload ? `${kind} ${payload.call_id}` : `${kind} ${payload.step} ${payload.block}`;
}

function continues(open: DeltaDraft, next: DeltaDraft): boolean {
  return nameOf(open) === nameOf(next);
}
