/** Web sockets: one for commands, one for each stream that is watched. The log is read over REST, which is where it is. */
import WebSocket from "ws";
import { isRecord, messageOf } from "#base";
import type { Answer, Connection, Feed, FramePeer } from "../driver.ts";
import { createIntake, PIECE_MAX_BYTES } from "../intake.ts";
import { createNews, type News } from "../news.ts";
import { fieldOf, given, sightingOf, textField } from "../sighting.ts";
import { createFeed, createOpenFeeds } from "./feed.ts";
import { type HttpPlace, hostOf, textOf } from "./http-client.ts";
import { answerOf, type HttpConnectionOptions, httpPeer, Refused, readLog } from "./rest.ts";

interface OpenSocket {
  readonly socket: WebSocket;
  readonly news: News;
  readonly received: unknown[];
  readonly closed: () => number | undefined;
}

export async function connectWebSocket(options: HttpConnectionOptions): Promise<Connection> {
  const http = httpPeer(options);
  const commands = await openSocket(options, "");
  const feeds = createOpenFeeds();
  let lastId = 0;

  /** Sends a frame and waits for the one that answers it, which has its id. */
  async function roundTrip(frame: string, body: unknown): Promise<Answer> {
    lastId += 1;
    const id = lastId;
    commands.socket.send(JSON.stringify({ frame, id, body }));
    return frameAnswer(
      await take(commands, (answer) => fieldOf(answer, "id") === id, `the answer to a ${frame} frame`),
    );
  }

  /** The frame that came for this id, as a whole. */
  const submit: Connection["submit"] = (session, command) => roundTrip("command", { session, ...command });

  return {
    http,
    frames: framePeer(options),
    handshake: (version) => roundTrip("handshake", given("protocol_version", version)),
    create: (fields = {}) => roundTrip("command", { kind: "CreateSession", ...fields }),
    send: (session, text) => submit(session, { kind: "SendInput", content: [{ type: "text", text }] }),
    cancel: (session) => submit(session, { kind: "CancelTurn" }),
    submit,
    watch: (session, since) => feeds.keep(watch(options, session, since)),
    log: (session) => readLog(http, session),
    async raw(_session, bytes) {
      const apart = await openSocket(options, "");
      apart.socket.send(JSON.stringify({ frame: "handshake", body: {} }));
      await take(apart, (frame) => fieldOf(frame, "frame") === "handshake", "the handshake");
      apart.socket.send(bytes, { binary: false });
      const found = await apart.news.until(() => {
        const error = apart.received.find((frame) => fieldOf(frame, "frame") === "error");
        const status = apart.closed();
        if (error !== undefined) return frameAnswer(error);
        return status === undefined ? undefined : { ok: false, status, body: undefined };
      }, "an error frame, or the end of the socket");
      apart.socket.terminate();
      return found;
    },
    async close() {
      await feeds.stop();
      commands.socket.terminate();
    },
  };
}

async function watch(options: HttpConnectionOptions, session: string, since: number | undefined): Promise<Feed> {
  const from = since === undefined ? "" : `&lastEventId=${since}`;
  const open = await openSocket(options, `?session=${session}${from}`, (frame) => {
    if (fieldOf(frame, "frame") === "event") feed.add({ ...sightingOf(fieldOf(frame, "body")), raw: frame });
    else if (fieldOf(frame, "frame") === "error") open.news.end(`${textField(frame, "body", "reason")}`);
  });
  const feed = createFeed(open.news, {
    stop: () => open.socket.terminate(),
    pause: () => open.socket.pause(),
    resume: () => open.socket.resume(),
  });
  open.socket.on("ping", () => feed.beat());
  try {
    open.socket.send(JSON.stringify({ frame: "handshake", id: "watch", body: {} }));
    await take(open, (frame) => fieldOf(frame, "id") === "watch", "the handshake");
    // The stream is attached behind the handshake; a command that is answered after it was read behind that.
    open.socket.send(JSON.stringify({ frame: "command", id: "ready", body: { kind: "ListRules", session } }));
    const ready = await take(open, (frame) => fieldOf(frame, "id") === "ready", "an answer on the stream's socket");
    const refused = open.received.find((frame) => fieldOf(frame, "frame") === "error") ?? ready;
    if (fieldOf(refused, "frame") === "error") throw new Refused(frameAnswer(refused));
    return feed;
  } catch (error) {
    open.socket.terminate();
    throw error;
  }
}

function framePeer(options: HttpConnectionOptions): FramePeer {
  return {
    async converse(frames, enough) {
      const open = await openSocket(options, "");
      for (const frame of frames) open.socket.send(frame instanceof Uint8Array ? frame : JSON.stringify(frame));
      await open.news.until(
        () => (enough(open.received) || open.closed() !== undefined ? true : undefined),
        "the answer to the frames",
      );
      open.socket.terminate();
      return { received: open.received, ...given("closed", open.closed()) };
    },
  };
}

function take(open: OpenSocket, fits: (frame: unknown) => boolean, what: string): Promise<unknown> {
  return open.news.until(() => {
    const found = open.received.find(fits);
    if (found === undefined && open.closed() !== undefined) return { frame: "error", body: {}, closed: open.closed() };
    return found;
  }, what);
}

function frameAnswer(frame: unknown): Answer {
  const body = fieldOf(frame, "body");
  const closed = fieldOf(frame, "closed");
  return {
    ok: fieldOf(frame, "frame") === "command" || fieldOf(frame, "frame") === "handshake",
    ...given("reason", textField(body, "reason")),
    ...given("session", textField(body, "session")),
    ...given("turn", textField(body, "turn")),
    ...given("status", typeof closed === "number" ? closed : undefined),
    body,
  };
}

/** Rejects with Refused when the server does not take the connection. Events are not kept unless `onFrame` does. */
async function openSocket(
  { place, waitMs, clock, token }: HttpConnectionOptions,
  query: string,
  onFrame: (frame: unknown) => void = () => undefined,
): Promise<OpenSocket> {
  const socket = new WebSocket(addressOf(place, `/v1/ws${query}`), {
    headers: { ...(place.kind === "unix" ? { host: "localhost" } : {}), ...given("x-harness-token", token) },
    handshakeTimeout: waitMs,
    maxPayload: PIECE_MAX_BYTES,
    perMessageDeflate: false,
  });
  const news = createNews(clock, waitMs);
  const received: unknown[] = [];
  let closed: number | undefined;
  const intake = createIntake();
  socket.on("message", (data: Buffer) => {
    try {
      intake(data.length);
    } catch (error) {
      news.end(messageOf(error));
      socket.terminate();
      return;
    }
    const frame = parsed(data.toString("utf8"));
    if (fieldOf(frame, "frame") !== "event") received.push(frame);
    onFrame(frame);
    news.tell();
  });
  socket.on("close", (code) => {
    closed = code;
    news.tell();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (_request, response) => {
      response.setTimeout(waitMs, () => response.destroy());
      textOf(response).then((text) => {
        const json = parsed(text);
        reject(new Refused(answerOf({ status: response.statusCode ?? 0, headers: {}, text: "", json })));
      }, reject);
    });
  });
  socket.on("error", () => undefined); // `close` follows with its code
  return { socket, news, received, closed: () => closed };
}

function addressOf(place: HttpPlace, path: string): string {
  if (place.kind === "unix") return `ws+unix:${place.path}:${path}`;
  return `${place.kind === "tls" ? "wss" : "ws"}://${hostOf(place)}${path}`;
}

function parsed(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isRecord(value) ? value : { frame: "unreadable", body: value };
  } catch {
    return { frame: "unreadable", body: text.slice(0, 200) };
  }
}
