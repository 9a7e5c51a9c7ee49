/** One web socket of a server: the handshake, commands with their answers, and events as they come. */
import WebSocket from "ws";
import { type Clock, isRecord } from "#base";
import { type Command, type Handshake, PROTOCOL_VERSION, ReasonError } from "#protocol";
import type { ServerAddress } from "./http-wire.ts";
import { connectionLost, garbled, refusalFrom, unreachable } from "./refusal.ts";
import { createSilence } from "./silence.ts";
import type { Reply } from "./transport.ts";
import { handshakeFrom } from "./wire-shapes.ts";

const FRAME_MAX_BYTES = 64 * 1024 * 1024;
/** Of a refused upgrade. */
const REFUSAL_MAX_CHARS = 64 * 1024;

export interface FrameSocketOptions {
  readonly server: ServerAddress;
  readonly path: string;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What it throws ends the connection. */
  readonly onEvent: (event: unknown, bytes: number) => void;
}

export interface FrameSocket {
  readonly handshake: Handshake;
  submit(command: Command, signal: AbortSignal): Promise<Reply>;
  close(): void;
  /** Why it ended: what the server said, or ConnectionLost. */
  readonly closed: Promise<unknown>;
}

interface Waiting {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Resolves when hands are shaken. Rejects with what the server refused with, ServerUnreachable or ConnectionLost. */
export async function createFrameSocket(options: FrameSocketOptions): Promise<FrameSocket> {
  const { server, path, token, signal, clock, onEvent } = options;
  const address = "socket" in server ? `unix:${server.socket}` : server.url;
  const url = "socket" in server ? `ws+unix:${server.socket}:${path}` : `${server.url.replace(/^http/, "ws")}${path}`;
  const socket = new WebSocket(url, {
    headers: { "x-harness-token": token, ...("socket" in server ? { host: "localhost" } : {}) },
    maxPayload: FRAME_MAX_BYTES,
    perMessageDeflate: false,
  });
  const waiting = new Map<number, Waiting>();
  const closed = Promise.withResolvers<unknown>();
  let lastId = 0;
  /** Until hands are shaken nothing was sent that the server could have begun with. */
  let isReady = false;
  /** What the server said before it closed. */
  let said: unknown;

  const silence = createSilence(clock, (cause) => finish(cause));
  const abort = (): void => finish(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();

  function finish(cause: unknown): void {
    silence.end();
    signal.removeEventListener("abort", abort);
    const lost = (): ReasonError => (isReady ? connectionLost(address, cause) : unreachable(address, cause));
    const error = said ?? (cause instanceof ReasonError ? cause : lost());
    closed.resolve(error);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    socket.terminate();
  }

  function take(data: Buffer): void {
    const frame: unknown = JSON.parse(data.toString("utf8"));
    if (!isRecord(frame)) throw new Error("a frame is an object");
    const { frame: kind, id, body } = frame;
    if (kind === "event") {
      onEvent(body, data.length);
      return;
    }
    const asked = typeof id === "number" ? waiting.get(id) : undefined;
    if (typeof id === "number") waiting.delete(id);
    if (kind !== "error") asked?.resolve(body);
    else if (asked !== undefined) asked.reject(refusalFrom(body, address));
    else said = refusalFrom(body, address);
    // Without an id it is about the whole connection, and nothing more comes on it.
    if (kind === "error" && asked === undefined) finish(said);
  }

  function send(frame: string, body: unknown): Promise<unknown> {
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ frame, id, body }));
    });
  }

  socket.on("message", (data: Buffer) => {
    silence.broken();
    try {
      take(data);
    } catch (cause) {
      finish(cause instanceof ReasonError ? cause : garbled(address, cause));
    }
  });
  socket.on("ping", () => silence.broken());
  socket.on("error", finish);
  socket.on("close", (code, reason) => finish(new Error(`closed with ${code} ${reason.toString("utf8")}`.trim())));
  socket.on("unexpected-response", (_request, response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      if (text.length < REFUSAL_MAX_CHARS) text += chunk;
    });
    response.on("close", () => {
      said = refusalFrom(errorOf(text, response.statusCode), address);
      finish(said);
    });
  });
  const open = new Promise<void>((resolve) => {
    socket.on("open", () => resolve());
  });
  const failed = closed.promise.then((error) => {
    throw error;
  });
  failed.catch(() => undefined); // whoever waits for something is told; `closed` is for the others
  let handshake: Handshake;
  try {
    await Promise.race([open, failed]);
    const greeting = send("handshake", { protocol_version: PROTOCOL_VERSION });
    handshake = handshakeFrom(await Promise.race([greeting, failed]), address);
  } catch (error) {
    finish(error);
    throw error;
  }
  isReady = true;
  return {
    handshake,
    closed: closed.promise,
    close: () => finish(new Error("this side closed it")),
    async submit(command, given) {
      given.throwIfAborted();
      if (socket.readyState !== socket.OPEN) throw unreachable(address, "the connection is closed");
      const aborted = Promise.withResolvers<never>();
      const give = (): void => aborted.reject(given.reason);
      given.addEventListener("abort", give, { once: true });
      try {
        return (await Promise.race([send("command", command), aborted.promise])) as Reply;
      } finally {
        given.removeEventListener("abort", give);
      }
    },
  };
}

function errorOf(text: string, status: number | undefined): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (isRecord(body)) return body.error;
  } catch {
    // Not ours: something stands between the server and us. Its status is all that it says.
  }
  return { message: `HTTP ${status ?? "without a status"}` };
}
