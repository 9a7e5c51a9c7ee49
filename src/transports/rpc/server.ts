/**
 * JSON-RPC over two byte streams: reads lines, carries out requests, writes answers and notifications. Ends when the input ends, the
 * reader goes away or it is told to stop; then running turns are cancelled and recorded, and what was said is written out.
 */
import { type Clock, defined } from "#base";
import type { Control } from "#control";
import type { Redaction } from "#engine";
import { type Event, type EventOf, ReasonError, type SessionId, type SlashCommand } from "#protocol";
import { createJsonRpcPeer, JsonRpcError, messageLine, type PeerRequest, standardError } from "#wire";
import type { MethodContext } from "./method.ts";
import { methods, parseParams } from "./methods.ts";
import { createOpenThreads, type ThreadStore } from "./open-threads.ts";
import { createOutbox } from "./outbox.ts";
import { createProjection } from "./projection.ts";
import { rpcErrorOf } from "./rpc-error.ts";
import type { View } from "./shapes.ts";

export const REQUEST_MAX_BYTES = 10 * 1024 * 1024;
/** Requests that are being carried out; the next line is read when one of them has ended. */
export const IN_FLIGHT_MAX = 64;
const IN_FLIGHT_MAX_BYTES = 32 * 1024 * 1024;
/** Requests of one batch; each is answered, so that a line cannot ask for any amount of work. */
const BATCH_MAX = 100;
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
  /** What people can type, for a face to offer. */
  readonly slashCommands: (session?: SessionId) => readonly SlashCommand[];
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
  const client = control.connect({ identityClass, interactive: true, transport: "stdio", onEvent });
  const hurry = new AbortController();
  const lanes = new Map<string, Promise<unknown>>();
  let isInitialized = false;
  let title: string | undefined;
  let view: View = "items";
  /** Of sessions whose next answer goes out before their events: how many answers, and what waits for them. */
  const holds = new Map<SessionId, { answers: number; readonly waiting: (() => void)[] }>();

  const context: MethodContext = {
    control,
    client,
    store,
    slashCommands: options.slashCommands,
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
    outward,
    reading: (work) =>
      inLane("reading", async () => {
        await outbox.room(hurry.signal);
        return work();
      }),
  };

  /** Nothing where redaction cannot be had. */
  function clean(text: string): string {
    try {
      return outward.text(text);
    } catch {
      return ""; // fail closed: the code of the error goes out, its words do not
    }
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
      if (event.kind === "TurnLost" && view === "items") turnLost(event);
      // Also where nobody sees the items: it knows which questions are open.
      const items = projection.apply(event, title);
      const said = view === "items" ? items : [{ method: "thread.event", params: { threadId, eventId, event } }];
      outbox.notify(threadId, eventId, said.map(messageLine));
    } catch (error) {
      log(`event ${event.id} of ${event.session} could not be sent: ${describe(error)}`);
      outbox.leaveOut(event.session, event.id, "failed");
    }
  }

  /** Never left out: no log has it. */
  function turnLost({ session: threadId, payload: { turn: turnId, reason, message } }: EventOf<"TurnLost">): void {
    const turn = { turnId, threadId, status: "error", time: { completed: clock.now() } };
    log(`${threadId}: ${clean(message)}`);
    const error = { reason, message: clean(message) };
    outbox.answer(messageLine({ method: "turn.error", params: { threadId, turn, error } }));
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

  async function carryOut({ method: name, params: raw, isInBatch, afterReply }: PeerRequest): Promise<object> {
    const method = methods.get(name);
    if (!isInitialized && name !== "initialize") throw handshakeRequired();
    if (method === undefined) throw standardError("MethodNotFound", `There is no method '${name.slice(0, 100)}'.`);
    const params = parseParams(method, raw);
    isInitialized = true;
    const lane = method.lane(params);
    const run = async (free: () => void): Promise<object> =>
      method.run(context, params, (session) => {
        if (!isInBatch) afterReply(hold(session));
        free();
      });
    return lane === undefined ? run(ignore) : inLane(lane, run);
  }

  /** A notification has no reply, also where it fails. */
  async function handle(request: PeerRequest): Promise<object | undefined> {
    try {
      return await carryOut(request);
    } catch (error) {
      const isRefusal = error instanceof ReasonError || error instanceof JsonRpcError;
      if (!isRefusal) log(`${request.method}: ${describe(error)}`);
      if (!request.isNotification) throw error;
      return undefined;
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

  const peer = createJsonRpcPeer({
    send: outbox.answer,
    handle,
    errorOf: (error) => rpcErrorOf(error, clean),
    ready: () => outbox.room(hurry.signal),
    onIgnored: (what) => log(`passed over: ${what}`),
    whenFull: "wait",
    clock,
    limits: {
      lineBytes: REQUEST_MAX_BYTES,
      pending: 0,
      inFlight: IN_FLIGHT_MAX,
      inFlightBytes: IN_FLIGHT_MAX_BYTES,
      batch: BATCH_MAX,
    },
  });
  try {
    await peer.read(input);
  } finally {
    hurry.abort();
    await within(clock, END_GRACE_MS, peer.settled());
    await options.shutdown();
    client.disconnect();
    await within(clock, END_GRACE_MS, outbox.drained());
  }
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
