/**
 * JSON-RPC over two byte streams: reads lines, carries out requests, writes answers and notifications. Ends when the input ends, the
 * reader goes away or it is told to stop; then running turns are cancelled and recorded, and what was said is written out.
 */
import { type Clock, defined } from "#base";
import type { Control } from "#control";
import type { Redaction } from "#engine";
import { type Event, ReasonError, reasonText, type SessionId } from "#protocol";
import { createLineSplitter, type Line } from "./line-splitter.ts";
import {
  batchLine,
  failure,
  failureOf,
  isFailure,
  parseLine,
  type RequestId,
  type RpcFailure,
  type RpcRequest,
  toLine,
} from "./message.ts";
import type { MethodContext } from "./method.ts";
import { methods, parseParams } from "./methods.ts";
import { createOpenThreads, type ThreadStore } from "./open-threads.ts";
import { createOutbox } from "./outbox.ts";
import { createProjection } from "./projection.ts";
import type { View } from "./shapes.ts";

export const REQUEST_MAX_BYTES = 10 * 1024 * 1024;
/** Requests that are being carried out; the next line is read when one of them has ended. */
export const IN_FLIGHT_MAX = 64;
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;
/** How long the end waits for requests, and then for the reader. */
const END_GRACE_MS = 2000;

/** What no session has told (a message of an error, a log that is read back) is redacted with the secrets of today. */
export interface RpcRedaction {
  text(text: string): string;
  /** A value that becomes JSON. */
  value<Value>(value: Value): Value;
  /** For one walk through a log. */
  log(): Redaction["payload"];
}

export interface RpcOptions {
  readonly control: Control;
  readonly store: ThreadStore;
  readonly clock: Clock;
  readonly identityClass: "human" | "agent";
  /** Absolute. */
  readonly directory: string;
  readonly version: string;
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when the reader can take more; rejects when nobody reads any more. */
  readonly write: (text: string) => Promise<void>;
  /** The reader went away: stop reading. */
  readonly onClosed: () => void;
  /** Ends all sessions; what that brings about is still told. */
  readonly shutdown: () => Promise<void>;
  /** One line for a person, about what no answer can tell. */
  readonly log: (line: string) => void;
  readonly outward: RpcRedaction;
  readonly outboxMaxBytes?: number;
}

export async function serveRpc(options: RpcOptions): Promise<void> {
  const { control, store, clock, identityClass, input, outward } = options;
  const outbox = createOutbox({
    write: options.write,
    onClosed: options.onClosed,
    ...defined({ maxBytes: options.outboxMaxBytes }),
  });
  const log = (line: string): void => options.log(clean(line));
  const projection = createProjection();
  const client = control.connect({ identityClass, interactive: true, onEvent });
  const hurry = new AbortController();
  const lanes = new Map<string, Promise<unknown>>();
  const inFlight = new Set<Promise<void>>();
  let inFlightBytes = 0;
  let isInitialized = false;
  let title: string | undefined;
  let view: View = "items";
  /** Of sessions whose next answer goes out before their events: how many answers, and what waits for them. */
  const holds = new Map<SessionId, { answers: number; readonly waiting: (() => void)[] }>();

  const context: MethodContext = {
    control,
    client,
    store,
    projection,
    threads: createOpenThreads({ control, client, store }),
    directory: options.directory,
    version: options.version,
    show(wanted) {
      view = wanted;
    },
    async titled(given, work) {
      title = clean(given);
      try {
        return await work();
      } finally {
        title = undefined;
      }
    },
    turnLost,
    outward,
    reading: (work) => inLane("reading", async () => outbox.room(hurry.signal).then(work)),
  };

  /** Nothing where redaction cannot be had. */
  function clean(text: string): string {
    try {
      return outward.text(text);
    } catch {
      return ""; // fail closed: the code of the error goes out, its words do not
    }
  }

  function refusal(id: RequestId, error: unknown): RpcFailure {
    const refused = failureOf(id, error);
    return { ...refused, error: { ...refused.error, message: clean(refused.error.message) } };
  }

  function onEvent(event: Event): void {
    say(event.session, () => tell(event));
  }

  /** Now, or behind the answer that has to go first. */
  function say(session: SessionId, something: () => void): void {
    const held = holds.get(session);
    if (held === undefined) something();
    else held.waiting.push(something);
  }

  function tell(event: Event): void {
    try {
      const { session: threadId, id: eventId } = event;
      // Also where nobody sees the items: it knows which questions are open.
      const items = projection.apply(event, title);
      const said = view === "items" ? items : [{ method: "thread.event", params: { threadId, eventId, event } }];
      outbox.notify(threadId, eventId, said.map(toLine));
    } catch (error) {
      log(`event ${event.id} of ${event.session} could not be told: ${describe(error)}`);
      outbox.leaveOut(event.session, event.id, "failed");
    }
  }

  /** The log failed, so that no event can say how the turn ended. */
  function turnLost(session: SessionId, { turn: turnId }: { readonly turn?: string }, error: unknown): void {
    const reason = error instanceof ReasonError ? error.reason : "InternalError";
    const message =
      error instanceof ReasonError ? error.message : reasonText("InternalError", { detail: "see the log" });
    const turn = { turnId, threadId: session, status: "error", time: { completed: clock.now() } };
    log(`${session}: ${describe(error)}`);
    const params = { threadId: session, turn, error: { reason, message } };
    say(session, () => outbox.answer(toLine({ method: "turn.error", params })));
  }

  /** `free` lets the next one begin before this one is done. */
  function inLane<Result>(lane: string, work: (free: () => void) => Promise<Result>): Promise<Result> {
    const before = lanes.get(lane) ?? Promise.resolve();
    const { promise: freed, resolve: free } = Promise.withResolvers<void>();
    const done = before.then(() => work(free));
    const settled = Promise.race([freed, done.then(ignore, ignore)]);
    lanes.set(lane, settled);
    void settled.then(() => {
      if (lanes.get(lane) === settled) lanes.delete(lane);
    });
    return done;
  }

  /** The answer; undefined for a notification. `answered` is called when the answer is on its way. */
  async function carryOut(
    request: RpcRequest,
    isAlone: boolean,
  ): Promise<{ readonly answer?: object; readonly answered: () => void }> {
    const { id, method: name, params: raw } = request;
    const nothing = { answered: ignore };
    let release = ignore;
    try {
      const method = methods.get(name);
      if (!isInitialized && name !== "initialize") throw handshakeRequired();
      if (method === undefined) {
        return id === undefined ? nothing : { ...nothing, answer: unknownMethod(id, name) };
      }
      const params = parseParams(method, raw);
      isInitialized = true;
      const lane = method.lane(params);
      const run = async (free: () => void): Promise<object> =>
        method.run(context, params, (session) => {
          if (isAlone) release = hold(session);
          free();
        });
      const result = await (lane === undefined ? run(ignore) : inLane(lane, run));
      return id === undefined ? { answered: release } : { answer: { id, result }, answered: release };
    } catch (error) {
      if (!(error instanceof ReasonError)) log(`${name}: ${describe(error)}`);
      return id === undefined ? { answered: release } : { answer: refusal(id, error), answered: release };
    }
  }

  /** Keeps the events of the session back until it is called. */
  function hold(session: SessionId): () => void {
    const held = holds.get(session) ?? { answers: 0, waiting: [] };
    held.answers += 1;
    holds.set(session, held);
    return () => {
      held.answers -= 1;
      if (held.answers > 0) return;
      holds.delete(session);
      for (const something of held.waiting) something();
    };
  }

  async function answerLine(line: Line): Promise<void> {
    await outbox.room(hurry.signal);
    if ("tooLong" in line) {
      const message = `A line has at most ${REQUEST_MAX_BYTES} bytes.`;
      outbox.answer(toLine(failure(null, "InvalidRequest", message)));
      return;
    }
    const parsed = parseLine(line.bytes);
    if (parsed.kind === "nothing") return;
    if (parsed.kind === "single") {
      const { answer, answered } = await entryAnswer(parsed.entry, true);
      if (answer !== undefined) outbox.answer(toLine(answer));
      answered();
      return;
    }
    const done = await Promise.all(parsed.entries.map((entry) => entryAnswer(entry, false)));
    const answers = done.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
    if (answers.length > 0) outbox.answer(batchLine(answers));
  }

  async function entryAnswer(entry: RpcRequest | RpcFailure, isAlone: boolean) {
    return isFailure(entry) ? { answer: entry, answered: ignore } : carryOut(entry, isAlone);
  }

  async function begin(line: Line): Promise<void> {
    const bytes = "bytes" in line ? line.bytes.length : 0;
    while (inFlight.size > 0 && (inFlight.size >= IN_FLIGHT_MAX || inFlightBytes + bytes > IN_FLIGHT_MAX_BYTES)) {
      await Promise.race(inFlight);
    }
    inFlightBytes += bytes;
    const work = answerLine(line)
      .catch((error: unknown) => log(describe(error)))
      .finally(() => {
        inFlightBytes -= bytes;
        inFlight.delete(work);
      });
    inFlight.add(work);
  }

  try {
    const lines = createLineSplitter(REQUEST_MAX_BYTES);
    for await (const chunk of input) for (const line of lines.push(chunk)) await begin(line);
    for (const line of lines.end()) await begin(line);
  } finally {
    hurry.abort();
    await within(clock, END_GRACE_MS, Promise.all(inFlight));
    await options.shutdown();
    client.disconnect();
    await within(clock, END_GRACE_MS, outbox.drained());
  }
}

function unknownMethod(id: NonNullable<RpcRequest["id"]> | null, name: string): RpcFailure {
  return failure(id, "MethodNotFound", `There is no method '${name.slice(0, 100)}'.`);
}

function handshakeRequired(): ReasonError {
  return ReasonError.withMessage("HandshakeRequired", "Send initialize before any other request.");
}

/** Waits for `work`, but not longer than that. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work.finally(() => done.abort()), clock.sleep(ms, done.signal)]);
  done.abort();
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function ignore(): void {}
