/**
 * A model vendor on 127.0.0.1: speaks both wire formats in streaming, answers from a queue of scripted replies, refuses
 * requests that the vendors would refuse, and fails in all the ways they fail. Free of any test library.
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { anthropicEvents, type Refusal, refuseAnthropic } from "./mock-anthropic-wire.ts";
import { openaiEvents, refuseOpenai } from "./mock-openai-wire.ts";
import type { MockMessage, MockReply } from "./mock-reply.ts";

export type { MockMessage, MockReply } from "./mock-reply.ts";

interface MockRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined for a GET. */
  readonly body: unknown;
  /** Numbers the connections from 1: equal numbers mean that one was used again. */
  readonly connection: number;
  /** On the clock of `performance`, when its body was there. */
  readonly arrivedMs: number;
}

export interface MockProviderServer {
  /** `http://127.0.0.1:<port>`; the anthropic base URL as it is, the OpenAI one with `/v1`. */
  readonly url: string;
  readonly requests: readonly MockRequest[];
  /** Requests that a vendor would refuse for their form. */
  readonly refused: number;
  /** Adds to the end of the queue. */
  reply(...replies: readonly MockReply[]): void;
  /** How many connections are open. */
  readonly connections: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface MockOptions {
  /** Given when the queue is empty; without it that is an error 500. */
  readonly always?: MockReply;
  /** Decides about each request that is not refused, before the queue does. */
  readonly answer?: (body: unknown) => MockReply | undefined;
  /** For long runs: requests are not kept. */
  readonly forgets?: true;
  /** Called with each request that is refused for its form. */
  readonly onRefused?: (refusal: object, body: unknown) => void;
  /** Called when a request is there, before anything is done with it. */
  readonly onArrival?: () => void;
  /** The answer to `GET …/models`. */
  readonly models?: unknown;
}

export async function startMockProvider(options: MockOptions = {}): Promise<MockProviderServer> {
  const requests: MockRequest[] = [];
  const queue: MockReply[] = [];
  const sockets = new Map<Socket, number>();
  let connectionCount = 0;
  let refused = 0;

  // A reply that is given often, as benchmarks do, is encoded once.
  const encoded = new WeakMap<MockMessage, Map<string, string[]>>();
  const eventsOf = (family: "anthropic" | "openai", reply: MockMessage, model: string): string[] => {
    const byModel = encoded.get(reply) ?? new Map<string, string[]>();
    encoded.set(reply, byModel);
    const key = `${family} ${model}`;
    const events = byModel.get(key) ?? (family === "anthropic" ? anthropicEvents : openaiEvents)(reply, model);
    byModel.set(key, events);
    return events;
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = (incoming.url ?? "/").split("?")[0] ?? "/";
    const body = await readJson(incoming, options.onArrival);
    const connection = sockets.get(incoming.socket) ?? 0;
    const request: MockRequest = {
      method: incoming.method ?? "",
      path,
      headers: incoming.headers,
      body,
      connection,
      arrivedMs: performance.now(),
    };
    if (!options.forgets) requests.push(request);
    if (incoming.method === "GET") return json(outgoing, 200, options.models ?? { data: [] });
    const family = path.endsWith("/messages") ? "anthropic" : "openai";
    const refusal =
      refuseText(body) ?? (family === "anthropic" ? refuseAnthropic(incoming.headers, body) : refuseOpenai(body));
    if (refusal !== undefined) {
      refused += 1;
      options.onRefused?.(refusal, body);
      return json(outgoing, refusal.status, refusal.body);
    }
    const reply = options.answer?.(body) ?? queue.shift() ?? options.always;
    if (reply === undefined) return json(outgoing, 500, { error: { message: "the mock has no reply left" } });
    if (reply.type === "http") {
      outgoing.writeHead(reply.status, reply.headers);
      outgoing.end(reply.body);
      return;
    }
    const model = (body as { model: string }).model;
    await stream(outgoing, reply, eventsOf(family, reply, model));
  };
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => {
    connectionCount += 1;
    sockets.set(socket, connectionCount);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    reply: (...replies) => {
      queue.push(...replies);
    },
    get refused() {
      return refused;
    },
    get connections() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets.keys()) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function stream(outgoing: ServerResponse, reply: MockMessage, events: readonly string[]): Promise<void> {
  await reply.headersAfter;
  outgoing.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  outgoing.flushHeaders();
  const { fault, eventsPerWrite = 1 } = reply;
  const stopAt = fault === undefined ? events.length : Math.min(fault.afterEvents, events.length);
  await write(outgoing, reply, events, 0, stopAt, eventsPerWrite);
  switch (fault?.type) {
    case undefined:
    case "end":
      break;
    case "cut":
      // Only what has left this process reaches the client before the cut.
      await new Promise((resolve) => outgoing.write(": cut\n\n", resolve));
      outgoing.destroy();
      return;
    case "drip":
      await drip(outgoing, fault.event, fault.everyMs, fault.until);
      break;
    case "reset":
      await new Promise((resolve) => outgoing.write(": reset\n\n", resolve));
      outgoing.socket?.resetAndDestroy();
      return;
    case "stall":
      await fault.until;
      await write(outgoing, reply, events, stopAt, events.length, eventsPerWrite);
      break;
    case "event":
      outgoing.write(fault.event);
      await write(outgoing, reply, events, stopAt, events.length, eventsPerWrite);
      break;
  }
  outgoing.end();
}

/** Ends when the client has gone, too. */
async function drip(outgoing: ServerResponse, bytes: string, everyMs: number, until: Promise<void>): Promise<void> {
  const timer = setInterval(() => outgoing.write(bytes), everyMs);
  await Promise.race([until, once(outgoing, "close")]);
  clearInterval(timer);
}

async function write(
  outgoing: ServerResponse,
  { pace }: MockMessage,
  events: readonly string[],
  from: number,
  to: number,
  eventsPerWrite: number,
): Promise<void> {
  for (let at = from; at < to; at += eventsPerWrite) {
    if (pace !== undefined) await pace(at);
    if (outgoing.destroyed) return;
    const end = Math.min(at + eventsPerWrite, to);
    const chunk = eventsPerWrite === 1 ? (events[at] ?? "") : events.slice(at, end).join("");
    if (!outgoing.write(chunk) && !outgoing.destroyed) await drained(outgoing);
  }
}

/** Resolves also when the client has gone: there is nothing to wait for then. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      outgoing.off("close", done);
      resolve();
    };
    outgoing.on("drain", done);
    outgoing.on("close", done);
  });
}

/** Half a character is no text for any vendor: their readers of JSON fail. */
function refuseText(body: unknown): Refusal | undefined {
  // Whole characters are never escaped.
  if (!/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(body) ?? "")) return undefined;
  const message = "The request body is not valid JSON: no low surrogate in string";
  return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message } } };
}

async function readJson(incoming: IncomingMessage, onArrival?: () => void): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  onArrival?.();
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

function json(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { "content-type": "application/json" });
  outgoing.end(JSON.stringify(body));
}
