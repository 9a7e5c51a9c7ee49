/** One web socket of a server: the handshake, commands with their answers, and events as they come. */
import { isRecord } from "#base";
import {
  type CommandKind,
  type CommandOf,
  type Handshake,
  PROTOCOL_VERSION,
  ReasonError,
  type ReplyOf,
} from "#protocol";
import type { ClientClock } from "./client-host.ts";
import { connectionLost, garbled, refusalFrom, unreachable } from "./refusal.ts";
import { createSilence, SILENCE_MAX_MS } from "./silence.ts";
import { FRAME_MAX_BYTES, type OpenedSocket, type SocketPort } from "./socket-port.ts";
import { handshakeFrom, replyFrom } from "./wire-shapes.ts";

export interface FrameSocketOptions {
  readonly sockets: SocketPort;
  /** For messages. */
  readonly address: string;
  readonly path: string;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly clock: ClientClock;
  /** What it throws ends the connection. */
  readonly onEvent: (event: unknown, bytes: number) => void;
}

export interface FrameSocket {
  readonly handshake: Handshake;
  submit<Kind extends CommandKind>(command: CommandOf<Kind>, signal: AbortSignal): Promise<ReplyOf<Kind>>;
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
  const { sockets, address, path, token, signal, clock, onEvent } = options;
  const opened = Promise.withResolvers<void>();
  const waiting = new Map<number, Waiting>();
  const closed = Promise.withResolvers<unknown>();
  let lastId = 0;
  /** Until hands are shaken nothing was sent that the server could have begun with. */
  let isReady = false;
  /** What the server said before it closed. */
  let said: unknown;

  signal.throwIfAborted();
  const silence = createSilence(clock, (cause) => finish(cause));
  const over = new AbortController();
  const socket: OpenedSocket = sockets.open(path, token, {
    onOpen: opened.resolve,
    onBeat: silence.broken,
    onEnd: finish,
    onMessage(text, bytes) {
      silence.broken();
      try {
        take(text, bytes);
      } catch (cause) {
        finish(cause instanceof ReasonError ? cause : garbled(address, cause));
      }
    },
    onRefused(status, body) {
      said = refusalFrom(errorOf(body, status), address);
      finish(said);
    },
  });
  const abort = (): void => finish(signal.reason);
  signal.addEventListener("abort", abort, { once: true });

  function finish(cause: unknown): void {
    silence.end();
    over.abort();
    signal.removeEventListener("abort", abort);
    const lost = (): ReasonError => (isReady ? connectionLost(address, cause) : unreachable(address, cause));
    const error = said ?? (cause instanceof ReasonError ? cause : lost());
    closed.resolve(error);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    socket.cut();
  }

  function take(text: string, bytes: number): void {
    if (bytes > FRAME_MAX_BYTES) throw new Error(`a frame is larger than ${FRAME_MAX_BYTES} bytes`);
    const frame: unknown = JSON.parse(text);
    if (!isRecord(frame)) throw new Error("a frame is an object");
    const { frame: kind, id, body } = frame;
    if (kind === "event") {
      onEvent(body, bytes);
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

  /** Where the server's heartbeat does not show, a second handshake, which changes nothing, brings a sign of life. */
  async function askForBeats(): Promise<void> {
    for (;;) {
      await clock.sleep(SILENCE_MAX_MS / 3, over.signal);
      if (over.signal.aborted) return;
      await greet();
    }
  }

  function greet(): Promise<unknown> {
    return send("handshake", { protocol_version: PROTOCOL_VERSION });
  }

  const failed = closed.promise.then((error) => {
    throw error;
  });
  failed.catch(() => undefined); // whoever waits for something is told; `closed` is for the others
  let handshake: Handshake;
  try {
    await Promise.race([opened.promise, failed]);
    handshake = handshakeFrom(await Promise.race([greet(), failed]), address);
  } catch (error) {
    finish(error);
    throw error;
  }
  isReady = true;
  if (sockets.isOpaque) askForBeats().catch(finish);
  return {
    handshake,
    closed: closed.promise,
    close: () => finish(new Error("this side closed it")),
    async submit(command, given) {
      given.throwIfAborted();
      if (!socket.isOpen()) throw unreachable(address, "the connection is closed");
      const aborted = Promise.withResolvers<never>();
      const give = (): void => aborted.reject(given.reason);
      given.addEventListener("abort", give, { once: true });
      try {
        return await replyFrom(command.kind, await Promise.race([send("command", command), aborted.promise]), address);
      } finally {
        given.removeEventListener("abort", give);
      }
    },
  };
}

function errorOf(text: string, status: number): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (isRecord(body)) return body.error;
  } catch {
    // Not ours: something stands between the server and us. Its status is all that it says.
  }
  return { message: `HTTP ${status}` };
}
