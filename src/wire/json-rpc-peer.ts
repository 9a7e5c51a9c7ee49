/**
 * One side of a JSON-RPC 2.0 conversation on two byte streams: sends requests and notifications, carries out those of the other
 * side, and lets either withdraw a request. Everything is bounded. Starts and opens nothing: lines go out through `send`, bytes come
 * in through `read`.
 */
import { type Clock, messageOf } from "#base";
import {
  JsonRpcError,
  type Malformed,
  malformed,
  messageLine,
  parseLine,
  type RequestId,
  type RpcMessage,
  standardError,
} from "./json-rpc-message.ts";
import { createLineSplitter, type Line } from "./line-splitter.ts";

/** Why a request of this side has no reply. */
export class PeerError extends Error {
  override readonly name = "PeerError";
  readonly problem: "closed" | "timeout" | "too many requests" | "withdrawn";

  constructor(problem: PeerError["problem"], message: string) {
    super(message);
    this.problem = problem;
  }
}

/** A request or a notification of the other side. */
export interface PeerRequest {
  readonly method: string;
  /** An object or an array; an empty object where the message has none. */
  readonly params: unknown;
  /** What is returned for it is thrown away. */
  readonly isNotification: boolean;
  readonly isInBatch: boolean;
  /** Of the line that it came on. */
  readonly bytes: number;
  /** Aborts when the other side withdraws the request, and when this peer closes. */
  readonly signal: AbortSignal;
  /** Called once the reply was given to `send`; for a notification when it was carried out. */
  afterReply(act: () => void): void;
}

export interface PeerLimits {
  readonly lineBytes: number;
  /** Requests of this side that wait for their reply; 0: it sends none, and a reply is no message. */
  readonly pending: number;
  /** Requests of the other side that are being carried out, and what their lines take together. */
  readonly inFlight: number;
  readonly inFlightBytes: number;
  /** Messages of a batch; 0: batches are refused. */
  readonly batch: number;
}

/** How a request is withdrawn: a notification that names it. Some protocols reply to a request that was withdrawn, others do not. */
export interface Cancellation {
  readonly method: string;
  /** The parameter that has the id. */
  readonly param: string;
  readonly isReplied: boolean;
}

export interface JsonRpcPeerOptions {
  /** Takes a line with its line feed. A message that waits for its turn to be sent waits there; see `ready`. */
  readonly send: (line: string) => void;
  /**
   * Carries out what the other side asks. What it returns is the reply, what it throws is a refusal: see `errorOf`. Messages begin
   * in their order. What it throws at once for a notification ends `read`.
   */
  readonly handle: (request: PeerRequest) => unknown;
  /** Default: a JsonRpcError as it is, anything else an InternalError that keeps its details here. */
  readonly errorOf?: (thrown: unknown) => JsonRpcError;
  /** Awaited before a message of the other side is carried out, so that one who does not read is not answered without end. Never rejects. */
  readonly ready?: () => Promise<void> | undefined;
  /** When too much is in flight: `wait` stops reading; `refuse` goes on, for a peer whose requests wait for replies meanwhile. */
  readonly whenFull: "wait" | "refuse";
  /** For lines that are no message. Default: they are replied to with the error. What it throws ends `read`. */
  readonly onMalformed?: (error: JsonRpcError) => void;
  /** A message that nobody waits for, that there is no room for, or that failed and has no reply; for a log. */
  readonly onIgnored?: (what: string) => void;
  /** Absent: a request that is withdrawn is only forgotten here. */
  readonly cancellation?: Cancellation;
  readonly clock: Pick<Clock, "sleep">;
  readonly limits: PeerLimits;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface JsonRpcPeer {
  /** Rejects with JsonRpcError when the other side refuses, with PeerError, with the signal's reason, or with what `close` was given. */
  request(method: string, params: object, options?: RequestOptions): Promise<unknown>;
  notify(method: string, params: object): void;
  /** Takes what the other side writes, until that ends; a last line without a line feed counts. Once for each peer. */
  read(input: AsyncIterable<Uint8Array>): Promise<void>;
  /** Resolves when nothing of the other side is being carried out any more. */
  settled(): Promise<void>;
  /** Nothing is sent after it. Pending requests reject with `error`. */
  close(error?: unknown): void;
}

type Request = Extract<RpcMessage, { type: "request" }>;
type Reply = Extract<RpcMessage, { type: "reply" }>;

/** One line of the other side. */
interface Received {
  readonly messages: readonly (Request | Malformed)[];
  readonly isInBatch: boolean;
  readonly bytes: number;
}

/** What goes out for one message, and what is to be done after that. */
interface Outcome {
  readonly reply?: object;
  readonly after: readonly (() => void)[];
}

export function createJsonRpcPeer(options: JsonRpcPeerOptions): JsonRpcPeer {
  const { handle, limits, cancellation, errorOf = standardErrorOf } = options;
  const pending = new Map<RequestId, PromiseWithResolvers<unknown>>();
  const withdrawable = new Map<RequestId, AbortController>();
  const inFlight = new Set<Promise<void>>();
  const closed = new AbortController();
  let inFlightBytes = 0;
  let lastId = 0;
  /** Messages that wait for `ready`: later ones wait behind them. */
  let queue: Promise<void> | undefined;

  function send(message: object | readonly object[]): void {
    if (!closed.signal.aborted) options.send(messageLine(message));
  }

  function settle({ id, result, error }: Reply): void {
    const asked = pending.get(id);
    const said = error === undefined ? "" : `: ${error.message.slice(0, 200)}`;
    if (asked === undefined) options.onIgnored?.(`a reply to ${String(id).slice(0, 100)}${said}`);
    else if (error === undefined) asked.resolve(result);
    else asked.reject(error);
    pending.delete(id);
  }

  /** Undefined when it is done already. */
  function perform(received: Received): Promise<void> | undefined {
    const [first] = received.messages;
    if (!received.isInBatch && first?.type === "request" && first.id === undefined) return notified(first, received);
    if (!received.isInBatch && first?.type === "malformed" && options.onMalformed !== undefined) {
      options.onMalformed(first.error);
      return undefined;
    }
    return reply(received);
  }

  async function reply(received: Received): Promise<void> {
    const outcomes = await Promise.all(received.messages.map((message) => outcomeOf(message, received)));
    sendReplies(
      outcomes.flatMap((outcome) => outcome.reply ?? []),
      received,
    );
    for (const { after } of outcomes) for (const act of after) act();
  }

  function sendReplies(replies: readonly object[], { isInBatch }: Received): void {
    const [first] = replies;
    if (first !== undefined) send(isInBatch ? replies : first);
  }

  async function outcomeOf(message: Request | Malformed, received: Received): Promise<Outcome> {
    const { id } = message;
    if (message.type === "malformed") return { reply: refusal(message.id, message.error), after: [] };
    const after: (() => void)[] = [];
    if (id === undefined) {
      await notified(message, received);
      return { after };
    }
    const withdrawn = cancellation === undefined ? undefined : new AbortController();
    if (withdrawn !== undefined) withdrawable.set(id, withdrawn);
    try {
      const signal = withdrawn?.signal ?? closed.signal;
      const result = await handle(requestOf(message, received, signal, after));
      return isSilenced(withdrawn) ? { after } : { reply: { id, result: result ?? null }, after };
    } catch (error) {
      return isSilenced(withdrawn) ? { after } : { reply: refusal(id, errorOf(error)), after };
    } finally {
      if (withdrawable.get(id) === withdrawn) withdrawable.delete(id);
    }
  }

  function isSilenced(withdrawn: AbortController | undefined): boolean {
    return withdrawn?.signal.aborted === true && cancellation?.isReplied === false;
  }

  function notified(message: Request, received: Received): Promise<void> | undefined {
    const after: (() => void)[] = [];
    const done = handle(requestOf(message, received, closed.signal, after));
    if (!(done instanceof Promise)) {
      for (const act of after) act();
      return undefined;
    }
    return done.then(() => {
      for (const act of after) act();
    });
  }

  function withdraw(params: unknown): void {
    const id: unknown = Reflect.get(Object(params), cancellation?.param ?? "");
    const running = typeof id === "string" || typeof id === "number" ? withdrawable.get(id) : undefined;
    if (running === undefined) options.onIgnored?.("a cancellation of a request that is not running");
    running?.abort(new PeerError("withdrawn", "the other side withdrew the request"));
  }

  /** Undefined when there is no need to wait before the next line. */
  function take(line: Line): Promise<void> | undefined {
    const bytes = "bytes" in line ? line.bytes.length : 0;
    const parsed =
      "bytes" in line
        ? parseLine(line.bytes, limits.batch)
        : malformed(null, "InvalidRequest", `A line can have at most ${limits.lineBytes} bytes.`);
    if (parsed.type === "blank") return undefined;
    const all = (parsed.type === "batch" ? parsed.messages : [parsed]).map(expected);
    // These make room: they wait for nothing.
    const messages = all.filter((message): message is Request | Malformed => {
      if (message.type === "reply") settle(message);
      else if (isCancellation(message)) withdraw(message.params);
      else return true;
      return false;
    });
    if (messages.length === 0) return undefined;
    const received = { messages, isInBatch: parsed.type === "batch", bytes };
    if (!hasRoom(bytes)) {
      if (options.whenFull === "wait") return waitForRoom(bytes).then(() => begin(received));
      return options.ready?.()?.then(() => turnAway(received)) ?? turnAway(received);
    }
    begin(received);
    return undefined;
  }

  /** A peer that asks nothing has nothing to be replied to. */
  function expected(message: RpcMessage): RpcMessage {
    if (message.type !== "reply" || limits.pending > 0) return message;
    return malformed(message.id, "InvalidRequest", "A request must name its method.");
  }

  function isCancellation(message: Request | Malformed): message is Request {
    return message.type === "request" && message.id === undefined && message.method === cancellation?.method;
  }

  function hasRoom(bytes: number): boolean {
    return inFlight.size === 0 || (inFlight.size < limits.inFlight && inFlightBytes + bytes <= limits.inFlightBytes);
  }

  async function waitForRoom(bytes: number): Promise<void> {
    while (!hasRoom(bytes)) await Promise.race(inFlight);
  }

  function begin(received: Received): void {
    const waiting = queue === undefined ? options.ready?.() : queue.then(options.ready);
    if (waiting === undefined) {
      track(perform(received), received);
      return;
    }
    let work: Promise<void> | undefined;
    const begun = waiting.then(() => {
      work = perform(received);
    });
    queue = begun;
    const done = begun.then(() => {
      if (queue === begun) queue = undefined;
      return work;
    });
    track(done, received);
  }

  function track(work: Promise<void> | undefined, { bytes }: Received): void {
    if (work === undefined) return;
    inFlightBytes += bytes;
    const done: Promise<void> = work
      .catch((error: unknown) => options.onIgnored?.(`a message that failed: ${messageOf(error)}`))
      .finally(() => {
        inFlightBytes -= bytes;
        inFlight.delete(done);
      });
    inFlight.add(done);
  }

  function turnAway(received: Received): undefined {
    const error = standardError("TooManyRequests", `At most ${limits.inFlight} requests can run at the same time.`);
    const replies = received.messages.flatMap((message) => {
      if (message.type === "malformed") return [refusal(message.id, message.error)];
      if (message.id !== undefined) return [refusal(message.id, error)];
      options.onIgnored?.(`the notification ${message.method.slice(0, 100)}, for which there is no room`);
      return [];
    });
    sendReplies(replies, received);
  }

  async function request(method: string, params: object, { signal, timeoutMs }: RequestOptions = {}): Promise<unknown> {
    signal?.throwIfAborted();
    closed.signal.throwIfAborted();
    if (pending.size >= limits.pending) {
      throw new PeerError("too many requests", `${limits.pending} requests are already waiting for a reply`);
    }
    const id = ++lastId;
    const asked = Promise.withResolvers<unknown>();
    pending.set(id, asked);
    const over = new AbortController();
    const withdrawFor = (reason: unknown): void => {
      if (!pending.delete(id)) return;
      if (cancellation !== undefined) send({ method: cancellation.method, params: { [cancellation.param]: id } });
      asked.reject(reason);
    };
    const abort = (): void => withdrawFor(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    if (timeoutMs !== undefined) {
      void options.clock.sleep(timeoutMs, over.signal).then(() => {
        if (!over.signal.aborted) withdrawFor(new PeerError("timeout", `no reply to ${method} within ${timeoutMs} ms`));
      });
    }
    try {
      send({ id, method, params });
      return await asked.promise;
    } finally {
      over.abort();
      signal?.removeEventListener("abort", abort);
      pending.delete(id);
    }
  }

  return {
    request,
    notify: (method, params) => send({ method, params }),
    async read(input) {
      const lines = createLineSplitter(limits.lineBytes);
      const takeAll = async (complete: readonly Line[]): Promise<void> => {
        for (const line of complete) {
          const waiting = take(line);
          if (waiting !== undefined) await waiting;
        }
      };
      for await (const chunk of input) await takeAll(lines.push(chunk));
      await takeAll(lines.end());
    },
    async settled() {
      await Promise.all(inFlight);
    },
    close(error = new PeerError("closed", "the connection is closed")) {
      if (closed.signal.aborted) return;
      closed.abort(error);
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
      for (const running of withdrawable.values()) running.abort(error);
    },
  };
}

function requestOf(
  { method, params, id }: Request,
  { isInBatch, bytes }: Received,
  signal: AbortSignal,
  after: (() => void)[],
): PeerRequest {
  const isNotification = id === undefined;
  return { method, params, isNotification, isInBatch, bytes, signal, afterReply: (act) => void after.push(act) };
}

function refusal(id: RequestId, { code, message, data }: JsonRpcError): object {
  return { id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function standardErrorOf(thrown: unknown): JsonRpcError {
  return thrown instanceof JsonRpcError ? thrown : standardError("InternalError", "The request failed.");
}
