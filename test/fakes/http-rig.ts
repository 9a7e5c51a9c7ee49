/** A whole harness behind a real HTTP server, on a Unix socket and a loopback port, driven as foreign programs would. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import { defaultSettings } from "#artifacts";
import { type Clock, defined } from "#base";
import { type Event, type EventKind, ReasonError, type SessionId } from "#protocol";
import { createHeldKeys } from "#providers";
import {
  type Authenticate,
  type HttpLimits,
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
  type TlsTexts,
} from "#transports/http";
import { createSystemClock } from "#world";
import { createOutward } from "../../src/cli/outward.ts";
import { httpBackend } from "../../src/daemon/backend.ts";
import type { Health } from "../../src/program/options.ts";
import { createHarnessRig, type HarnessRig, type RigOptions } from "./harness-rig.ts";
import type { MockReply } from "./mock-reply.ts";
import { type RigClaims, wholeClaims } from "./token-claims.ts";

export interface HttpRigOptions extends RigOptions {
  /** What the parts of the program say of themselves instead. */
  readonly health?: Partial<Health>;
  readonly limits?: Partial<HttpLimits>;
  readonly allowedOrigins?: readonly string[];
  /** Of the server's heartbeat; default: real. */
  readonly serverClock?: Clock;
  /** Instead of the tokens of the rig. */
  readonly authenticate?: Authenticate;
  readonly phaseOf?: NonNullable<HttpServerOptions["phaseOf"]>;
  readonly desk?: NonNullable<HttpServerOptions["desk"]>;
  /** Listens on all addresses of this machine, too. */
  readonly tls?: TlsTexts;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a foreign program knows no types
  readonly json: any;
}

export interface Asked {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Over TCP instead of the Unix socket. */
  readonly tcp?: boolean;
}

export interface ReadStream {
  readonly frames: EventSourceMessage[];
  readonly events: Event[];
  readonly comments: string[];
  /** The first frame, now or later, for which this is true. */
  until(found: (event: Event) => boolean): Promise<Event>;
  readonly ended: Promise<void>;
  close(): void;
}

export interface SocketClient {
  // biome-ignore lint/suspicious/noExplicitAny: a foreign program knows no types
  readonly frames: any[];
  send(frame: unknown): void;
  sendRaw(text: string | Buffer): void;
  // biome-ignore lint/suspicious/noExplicitAny: a foreign program knows no types
  until(found: (frame: any) => boolean): Promise<any>;
  readonly closed: Promise<number>;
  readonly socket: WebSocket;
}

export interface HttpRig extends HarnessRig {
  readonly server: HttpServer;
  readonly socketPath: string;
  readonly port: number;
  /** Claims by token; `human` is there, with everything. */
  readonly tokens: Map<string, RigClaims>;
  ask(method: string, path: string, asked?: Asked): Promise<HttpAnswer>;
  shakeHands(token?: string): Promise<void>;
  read(path: string, asked?: Asked): Promise<ReadStream>;
  openSocket(path: string, asked?: Asked): Promise<SocketClient>;
  /** A connection that speaks for itself. */
  raw(): Promise<Socket>;
  path(rest?: string): string;
  publish(kind: "CustomEvent", payload: { namespace: string; kind: string; payload: unknown }): Promise<void>;
}

export async function createHttpRig(replies: readonly MockReply[], options: HttpRigOptions = {}): Promise<HttpRig> {
  const { limits, allowedOrigins, serverClock, desk, tls, phaseOf, authenticate: given, health, ...rest } = options;
  const rig = await createHarnessRig(replies, { checkToken: async () => undefined, ...rest });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-http-")));
  const socketPath = join(folder, "control.sock");
  const tokens = new Map<string, RigClaims>([["human", { jti: "tok_human", identity_class: "human" }]]);
  const authenticate: Authenticate = ({ token }) => {
    const claims = tokens.get(token);
    return claims === undefined
      ? { refusal: new ReasonError("TokenInvalid", { detail: "not known" }) }
      : { claims: wholeClaims(claims) };
  };
  const clock = createSystemClock();
  const outward = createOutward({ env: { HOME: folder }, cwd: folder, clock });
  const build = { version: "0.0.0", commit: "", builtAt: "" };
  const server = await startHttpServer({
    backend: await httpBackend(
      { clock, build, credentials: createHeldKeys({}), outward },
      { ...rig.harness, health: () => ({ ...rig.harness.health(), ...health }) },
      defaultSettings,
    ),
    authenticate: given ?? authenticate,
    ...defined({ phaseOf, desk }),
    clock: serverClock ?? clock,
    listen: [
      { kind: "unix", path: socketPath },
      { kind: "tcp", host: "127.0.0.1", port: 0 },
      ...(tls === undefined ? [] : [{ kind: "tcp" as const, host: "0.0.0.0", port: 0 }]),
    ],
    ...defined({ tls, limits, allowedOrigins }),
  });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const port = server.addresses.flatMap((address) => (address.kind === "tcp" ? [address.port] : []))[0] ?? 0;

  function begin(method: string, path: string, { token = "human", body, headers = {}, tcp = false }: Asked = {}) {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const where = tcp ? { host: "127.0.0.1", port } : { socketPath, headers: { host: "localhost" } };
    return new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpRequest({
        ...where,
        method,
        path,
        agent: false,
        headers: {
          ...(tcp ? {} : { host: "localhost" }),
          ...(token === "" ? {} : { "x-harness-token": token }),
          ...(text === undefined ? {} : { "content-length": Buffer.byteLength(text) }),
          ...headers,
        },
      });
      request.on("response", resolve);
      request.on("error", reject);
      request.end(text);
    });
  }

  async function ask(method: string, path: string, asked?: Asked): Promise<HttpAnswer> {
    const response = await begin(method, path, asked);
    const text = await textOf(response);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text) as unknown;
      },
    };
  }

  async function read(path: string, asked?: Asked): Promise<ReadStream> {
    const response = await begin("GET", path, asked);
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${await textOf(response)}`);
    const frames: ReadStream["frames"] = [];
    const events: Event[] = [];
    const comments: string[] = [];
    const news = createNews();
    const parser = createParser({
      onComment: (comment) => {
        comments.push(comment);
        news.tell();
      },
      onEvent: (frame) => {
        frames.push(frame);
        if (frame.event !== "error") events.push(JSON.parse(frame.data) as Event);
        news.tell();
      },
    });
    response.setEncoding("utf8").on("data", (chunk: string) => parser.feed(chunk));
    response.on("error", () => undefined);
    const ended = new Promise<void>((resolve) => void response.on("close", () => resolve()));
    onTestFinished(() => void response.destroy());
    return {
      frames,
      events,
      comments,
      until: (found) => news.until(() => events.find(found)),
      ended,
      close: () => response.destroy(),
    };
  }

  async function openSocket(path: string, { token = "human", headers = {}, tcp = false }: Asked = {}) {
    const where = tcp ? `ws://127.0.0.1:${port}${path}` : `ws+unix:${socketPath}:${path}`;
    const socket = new WebSocket(where, {
      headers: { ...(tcp ? {} : { host: "localhost" }), "x-harness-token": token, ...headers },
    });
    onTestFinished(() => socket.terminate());
    const frames: unknown[] = [];
    const news = createNews();
    socket.on("message", (data: Buffer) => {
      frames.push(JSON.parse(data.toString()));
      news.tell();
    });
    const closed = new Promise<number>((resolve) => void socket.on("close", resolve));
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("error", () => undefined);
    return {
      frames,
      socket,
      closed,
      send: (frame: unknown) => socket.send(JSON.stringify(frame)),
      sendRaw: (text: string | Buffer) => socket.send(text),
      until: (found: (frame: unknown) => boolean) => news.until(() => frames.find(found)),
    } as SocketClient;
  }

  return {
    ...rig,
    server,
    socketPath,
    port,
    tokens,
    ask,
    async shakeHands(token = "human") {
      await ask("GET", "/v1/handshake", { token });
    },
    read,
    openSocket,
    raw: () =>
      new Promise((resolve) => {
        const socket = connect(socketPath, () => resolve(socket));
        socket.on("error", () => undefined);
        onTestFinished(() => void socket.destroy());
      }),
    path: (path = "") => `/v1/sessions/${rig.session}${path}`,
    async publish(kind, payload) {
      await rig.harness.control.session(rig.session)?.bus.publish(kind, payload);
    },
  };
}

export function isKind(kind: EventKind): (event: Event) => boolean {
  return (event) => event.kind === kind;
}

export function textInput(text: string): { readonly content: readonly object[] } {
  return { content: [{ type: "text", text }] };
}

export function humanFor(...sessions: SessionId[]): RigClaims {
  return { jti: "tok_bound", identity_class: "human", sessions };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Waits until something can be found, looking again at each piece of news. */
function createNews() {
  let waiting: (() => void)[] = [];
  return {
    tell() {
      const told = waiting;
      waiting = [];
      for (const resume of told) resume();
    },
    async until<Found>(look: () => Found | undefined): Promise<Found> {
      for (;;) {
        const found = look();
        if (found !== undefined) return found;
        await new Promise<void>((resume) => waiting.push(resume));
      }
    },
  };
}
