/**
 * One web socket: frames `{"frame", "id"?, "body"}` in both directions. The first frame is the handshake; a command is answered
 * by a `command` frame or an `error` frame with the id that it came with. The token is checked for every frame.
 */

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Claims } from "#auth";
import { defined } from "#base";
import { createOutbox } from "#control";
import { type Event, type Reason, ReasonError, type SessionId } from "#protocol";
import { parseCommand, wireReply } from "#protocol/schemas";
import type { EventStreamOptions } from "./event-stream.ts";
import { asReasonError } from "./failure.ts";
import { answerHandshake } from "./handshake.ts";
import type { HttpLimits } from "./limits.ts";
import { heldTo, type Principal } from "./principal.ts";
import { parseObject } from "./request-body.ts";
import { createStreamPlace } from "./stream-place.ts";

/** Above this much unsent, the outbox keeps what comes. */
const SOCKET_BUFFER_BYTES = 256 * 1024;
/** Answers that the client has not taken; with more, nothing of it is read until it takes them. */
const UNREAD_ANSWER_BYTES = 1024 * 1024;
/** "Policy violation", for a client that sends nonsense or whose token is gone. */
const CLOSE_POLICY = 1008;
const CLOSE_NO_TEXT = 1003;
const CLOSE_GOING_AWAY = 1001;
const FRAME_ID_CHARS = 100;
/** Refusals after which nothing on this connection can succeed. A token that has expired drains first: see `streams.ts`. */
const FINAL: readonly string[] = ["TokenRequired", "TokenInvalid", "TokenRevoked"] satisfies readonly Reason[];

export interface WebSocketOptions
  extends Pick<EventStreamOptions, "control" | "streams" | "presented" | "clock" | "replayed" | "since" | "told"> {
  readonly socket: WebSocket;
  /** What it runs on. */
  readonly connection: Duplex;
  readonly limits: HttpLimits;
  readonly principalOf: (claims: Claims) => Principal;
  /** The claims as they are now; rejects when the token does not hold any more. */
  readonly check: () => Promise<Claims>;
  readonly claims: Claims;
  /** What the client calls itself. */
  readonly name: string | undefined;
  readonly encode: (event: Event) => string;
  /** What a command came to, without its secrets. */
  readonly cleanValue: <Value>(value: Value) => Value;
  /** Attached to as soon as hands are shaken. */
  readonly session: SessionId | undefined;
  /** Makes sure that a stored session is open, or opens while what is in its log after `since` is told. */
  readonly openFor: (principal: Principal, session: SessionId, since: number | undefined) => Promise<void>;
  /** Of the log; 0 when there is none. */
  readonly lastEventId: (session: SessionId) => Promise<number>;
}

type FrameId = string | number;

export function serveWebSocket(options: WebSocketOptions): void {
  const {
    socket,
    connection,
    control,
    streams,
    limits,
    principalOf,
    check,
    claims,
    presented,
    clock,
    session,
    since,
    encode,
    replayed,
    cleanValue,
    openFor,
    lastEventId,
    told,
  } = options;
  let isAlive = true;
  let hasShakenHands = false;
  let badFrames = 0;
  /** Frames that were read and are not answered yet. */
  let unanswered = 0;
  let order: Promise<unknown> = Promise.resolve();
  const usedIds = new Set<FrameId>();
  let isCorked = false;

  /** What is sent in the same breath goes to the system in one piece. */
  function cork(): void {
    if (isCorked) return;
    isCorked = true;
    connection.cork();
    process.nextTick(() => {
      isCorked = false;
      connection.uncork();
    });
  }

  const takesMore = (): boolean => socket.bufferedAmount < SOCKET_BUFFER_BYTES;
  const outbox = createOutbox({
    encode,
    send(piece) {
      cork();
      // Called when the piece has gone to the system, or never will.
      socket.send(piece, () => {
        if (takesMore()) outbox.drained();
      });
      return takesMore();
    },
  });
  const place = createStreamPlace();
  const client = control.connect({
    identityClass: claims.identity_class,
    interactive: true,
    transport: "websocket",
    ...defined({ name: options.name }),
    ...heldTo(claims),
    ready: () => outbox.ready(),
    replayed,
    onEvent(event) {
      outbox.push(event);
      place.passed(event);
    },
  });

  function send(frame: string, body: unknown, id?: FrameId): void {
    socket.send(JSON.stringify({ frame, ...defined({ id }), body }));
  }

  function sendError(cause: unknown, id?: FrameId): void {
    const { reason, message } = told(cause);
    send("error", { reason, message }, id);
  }

  function settle(): void {
    unanswered -= 1;
    regulate();
  }

  /** A client that asks and does not read what it is answered waits for itself. */
  function regulate(): void {
    const isFull = unanswered >= limits.unansweredFrames || socket.bufferedAmount >= UNREAD_ANSWER_BYTES;
    if (isFull && !socket.isPaused) socket.pause();
    else if (!isFull && socket.isPaused) socket.resume();
  }

  async function handle(data: Buffer): Promise<void> {
    let id: FrameId | undefined;
    try {
      const frame = parseObject(data);
      id = frameId(frame.id);
      const principal = principalOf(await check());
      if (frame.frame === "command") return await carryOut(principal, frame.body, id);
      if (frame.frame === "handshake") await shakeHands(principal, frame.body, id);
      else throw new ReasonError("InvalidCommand", `there is no frame '${String(frame.frame).slice(0, 40)}'`);
    } catch (cause) {
      sendError(cause, id);
      const { reason } = asReasonError(cause);
      if (reason === "InvalidCommand" || reason === "FrameRepeated") badFrames += 1;
      if (badFrames > limits.badFrames || FINAL.includes(reason)) socket.close(CLOSE_POLICY, reason);
    }
    settle();
  }

  async function shakeHands(principal: Principal, body: unknown, id: FrameId | undefined): Promise<void> {
    const version = typeof body === "object" && body !== null ? Reflect.get(body, "protocol_version") : undefined;
    send("handshake", { ...answerHandshake(version), client: client.id }, id);
    principal.shakeHands();
    if (hasShakenHands) return;
    hasShakenHands = true;
    if (session === undefined) return;
    await prepare(principal, session, since);
    // Not awaited: a replay goes at the pace of the client, which may send commands meanwhile.
    principal
      .submit({ kind: "AttachSession", session, ...defined({ since }) }, client)
      .catch((cause: unknown) => sendError(cause));
  }

  async function prepare(principal: Principal, attached: SessionId, after: number | undefined): Promise<void> {
    await openFor(principal, attached, after);
    place.beginsAfter(attached, after ?? (await lastEventId(attached)));
  }

  async function carryOut(principal: Principal, body: unknown, id: FrameId | undefined): Promise<void> {
    if (!hasShakenHands) throw new ReasonError("HandshakeRequired");
    if (id !== undefined) rememberId(id);
    const command = parseCommand(body);
    if (command.kind === "AttachSession") await prepare(principal, command.session, command.since);
    // Submitted in the order of the frames; answered when each is done.
    principal
      .submit(command, client)
      .then((reply) => send("command", cleanValue(wireReply(command.kind, reply)), id))
      .catch((cause: unknown) => sendError(cause, id))
      .finally(settle);
  }

  function rememberId(id: FrameId): void {
    if (usedIds.has(id)) throw new ReasonError("FrameRepeated", { id });
    usedIds.add(id);
    const [oldest] = usedIds;
    if (usedIds.size > limits.frameIds && oldest !== undefined) usedIds.delete(oldest);
  }

  const remove = streams.add({
    beat() {
      const wasAlive = isAlive;
      isAlive = false;
      if (socket.readyState === socket.OPEN) socket.ping();
      return wasAlive;
    },
    presented,
    claims,
    tell(notice) {
      const event = place.notice(notice, clock.now());
      if (event === undefined || outbox.ready() !== undefined) return false;
      outbox.push(event);
      return true;
    },
    end(error) {
      sendError(error);
      socket.close(error.reason === "ShuttingDown" ? CLOSE_GOING_AWAY : CLOSE_POLICY, error.reason);
    },
    cut: () => socket.terminate(),
  });
  socket.on("pong", () => {
    isAlive = true;
  });
  // The library has answered it.
  socket.on("ping", regulate);
  connection.on("drain", regulate);
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (isBinary) return socket.close(CLOSE_NO_TEXT, "frames are text");
    unanswered += 1;
    regulate();
    order = order.then(() => handle(data));
  });
  // The library closes the connection with the right code; there is nobody to tell.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    remove();
    client.disconnect();
    outbox.close();
  });
}

function frameId(value: unknown): FrameId | undefined {
  if (value === undefined || typeof value === "number") return value;
  if (typeof value === "string" && value.length <= FRAME_ID_CHARS) return value;
  throw new ReasonError("InvalidCommand", "the id of a frame must be a number or a short string");
}
