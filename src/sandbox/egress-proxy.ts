/**
 * The one way out of a sandbox without a network of its own: HTTP and SOCKS5 on one Unix socket. With a list of domains, a tunnel
 * must carry TLS for the host that it named. It does not look into TLS, and it follows no redirects: the program inside asks again.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { EffectError, messageOf, normalHost } from "#base";
import { MAX_HELLO_BYTES, readClientHello } from "./client-hello.ts";
import {
  createEgressConnections,
  type EgressConnection,
  type EgressConnections,
  type EgressRules,
  joinConnection,
  type Target,
} from "./egress-connections.ts";
import { firstBytes } from "./first-bytes.ts";
import { readSocksGreeting, readSocksRequest, SOCKS_VERSION, type SocksMessage, socksReply } from "./socks.ts";

export type { EgressRecord } from "./egress-connections.ts";

const MAX_CONNECTIONS = 256;
const MAX_LOOPBACK_CONNECTIONS = 64;
const MAX_HEADER_BYTES = 16 * 1024;
/** How long a program may take to say what it wants. */
const GREETING_TIMEOUT_MS = 15_000;
const NOTHING = Buffer.alloc(0);
const HOP_BY_HOP = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade host".split(
    " ",
  ),
);

export interface EgressProxyOptions extends EgressRules {
  /** Where it listens; its folder must be closed to others. */
  readonly socket: string;
  /** Sockets that lead to ports of the machine's own loopback, and to nothing else. */
  readonly loopback?: readonly { readonly socket: string; readonly port: number }[];
}

export interface EgressProxy {
  close(): Promise<void>;
}

/** Resolves when it listens. */
export async function startEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const egress = createEgressConnections(options);
  const server = createProxyServer(egress, options.domains !== undefined);
  const listening = [
    listen(server, options.socket),
    ...(options.loopback ?? []).map(({ socket, port }) => listen(createLoopbackServer(egress, port), socket)),
  ];
  const close = async (): Promise<void> => {
    const started = await Promise.allSettled(listening);
    const servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.all(servers.map((one) => one.close()));
    egress.closeAll();
  };
  try {
    await Promise.all(listening);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Speaks HTTP, or SOCKS5 with a client whose first byte is 5, which begins no HTTP request. */
function createProxyServer(egress: EgressConnections, checksTls: boolean): Server {
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false,
    // An offer to speak HTTP/2, which Cargo and Java make with every plain request. Nobody has to accept it.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() !== "h2c",
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connect", (request, inside: Duplex, head: Buffer) => {
    // The server's connections are those of a net.Server.
    void tunnel(request, inside as Socket, head, egress, checksTls);
  });
  server.on("request", (request, response) => void forward(request, response, egress));
  // Without listeners an odd request would end with an answer that says nothing.
  server.on("upgrade", (_request, socket) => refuseRaw(socket, 501, "the proxy does not forward upgrades"));
  server.on("clientError", (_error, socket) => refuseRaw(socket, 400, "not an HTTP request"));
  const speakHttp = server.listeners("connection");
  server.removeAllListeners("connection");
  const greet = async (inside: Socket): Promise<void> => {
    const destroy = () => void inside.destroy();
    inside.once("error", destroy);
    const head = await firstBytes(inside, NOTHING, ({ length }) => length === 0, greetingLimit());
    if (head.length === 0) return destroy();
    if (head[0] === SOCKS_VERSION) return socks(inside, head, egress, checksTls);
    inside.off("error", destroy).unshift(head);
    for (const speak of speakHttp) speak.call(server, inside);
    inside.resume();
  };
  server.on("connection", (inside) => void greet(inside));
  return server;
}

function createLoopbackServer(egress: EgressConnections, port: number): Server {
  const { createServer } = process.getBuiltinModule("node:net");
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (inside) => {
    inside.on("error", () => inside.destroy());
    // The refusal is on the record; the program sees a connection that ends at once.
    egress.toMachine(port).then(
      (connection) => joinConnection(inside, connection),
      () => inside.destroy(),
    );
  });
  server.maxConnections = MAX_LOOPBACK_CONNECTIONS;
  return server;
}

async function tunnel(
  request: IncomingMessage,
  inside: Socket,
  head: Buffer,
  egress: EgressConnections,
  checksTls: boolean,
): Promise<void> {
  inside.on("error", () => inside.destroy());
  const target = authorityTarget(request.url ?? "");
  if (target === undefined) return refuseRaw(inside, 400, "CONNECT needs host:port");
  try {
    const connection = await egress.toHost(target);
    inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
    await carry(inside, head, target, connection, checksTls);
  } catch (error) {
    refuseRaw(inside, statusOf(error), messageOf(error));
  }
}

async function socks(inside: Socket, head: Buffer, egress: EgressConnections, checksTls: boolean): Promise<void> {
  const limit = greetingLimit();
  const read = async <Value>(from: Buffer, message: (bytes: Buffer) => SocksMessage<Value>) => {
    const found = message(await firstBytes(inside, from, (bytes) => message(bytes).kind === "more", limit));
    if (found.kind === "read") return found;
    inside.end((found.kind === "refused" && found.answer) || NOTHING, () => inside.destroy());
    return undefined;
  };
  const greeting = await read(head, readSocksGreeting);
  if (greeting === undefined) return;
  inside.write(greeting.answer);
  const request = await read(greeting.rest, readSocksRequest);
  if (request === undefined) return;
  const { host: name, port } = request.value;
  const host = normalHost(name);
  if (host === undefined || port === 0) {
    inside.end(socksReply("badAddress"), () => inside.destroy());
    return;
  }
  try {
    const connection = await egress.toHost({ host, port });
    inside.write(request.answer);
    await carry(inside, request.rest, { host, port }, connection, checksTls);
  } catch (error) {
    inside.end(socksReply(isRefusal(error) ? "refused" : "unreachable"), () => inside.destroy());
  }
}

/**
 * Checks what the tunnel is for, where there is a list, and then carries it. Without a list a tunnel may carry anything: a program
 * that can reach every public host could send the same bytes in TLS to a host of its own, so a check would only keep ssh, databases
 * and mail from working. With a list it keeps a listed address from serving a host that is not listed.
 */
async function carry(
  inside: Socket,
  head: Buffer,
  target: Target,
  connection: EgressConnection,
  checksTls: boolean,
): Promise<void> {
  let sent = head;
  if (checksTls) {
    const isIncomplete = (bytes: Buffer) => readClientHello(bytes).kind === "more" && bytes.length <= MAX_HELLO_BYTES;
    sent = await firstBytes(inside, head, isIncomplete, greetingLimit());
    const why = helloProblem(sent, target);
    if (why !== undefined) {
      connection.cut(why);
      inside.destroy();
      return;
    }
  }
  if (sent.length > 0) connection.socket.write(sent);
  joinConnection(inside, connection);
}

async function forward(request: IncomingMessage, response: ServerResponse, egress: EgressConnections): Promise<void> {
  const target = absoluteTarget(request);
  if (typeof target === "string") return refuse(response, 400, target);
  try {
    const { socket: outside, count } = await egress.toHost(target);
    const { request: send } = process.getBuiltinModule("node:http");
    const onward = send({
      createConnection: () => outside,
      method: request.method ?? "GET",
      path: target.path,
      headers: { ...onwardHeaders(request), ...framing(request), host: target.authority, connection: "close" },
      setHost: false,
    });
    onward.once("error", () =>
      response.headersSent ? response.destroy() : refuse(response, 502, "the host cut the connection"),
    );
    onward.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, onwardHeaders(answer));
      answer.on("data", count).once("error", () => response.destroy());
      answer.pipe(response);
    });
    response.once("close", () => outside.destroy());
    request.on("data", count).pipe(onward);
  } catch (error) {
    refuse(response, statusOf(error), messageOf(error));
  }
}

/** `host:port` of a CONNECT, in the one spelling that is checked and dialled. */
function authorityTarget(text: string): Target | undefined {
  const [, name, digits] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  const host = name === undefined ? undefined : normalHost(name);
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** A string says what is wrong. The target line counts and nothing else; what the Host header claims is dropped. */
function absoluteTarget(request: IncomingMessage): (Target & { path: string; authority: string }) | string {
  const hosts = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) return "more than one Host header";
  const url = URL.parse(request.url ?? "");
  if (url === null) return "the request target must be an absolute http URL";
  if (url.protocol !== "http:") return `the proxy does not forward ${url.protocol}; use CONNECT for https`;
  if (url.username !== "" || url.password !== "") return "the proxy does not forward URLs with credentials";
  const host = normalHost(url.hostname);
  if (host === undefined) return "the request target has no host";
  return { host, port: Number(url.port || 80), path: url.pathname + url.search, authority: url.host };
}

function onwardHeaders(message: IncomingMessage): Record<string, string | string[]> {
  const named = String(message.headers.connection ?? "")
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(message.headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name));
  return Object.fromEntries(kept.filter((entry): entry is [string, string | string[]] => entry[1] !== undefined));
}

/** How a server tells where a body ends. Without it, the body of a GET would be read as a second request, to any host that it names. */
function framing({ headers }: IncomingMessage): Record<string, string> {
  if (headers["transfer-encoding"] !== undefined) return { "transfer-encoding": "chunked" };
  return headers["content-length"] === undefined ? {} : { "content-length": headers["content-length"] };
}

function helloProblem(bytes: Buffer, { host }: Target): string | undefined {
  const hello = readClientHello(bytes);
  if (hello.kind !== "tls") return "the tunnel does not carry TLS";
  if (hello.serverName === undefined || normalHost(hello.serverName) === host) return undefined;
  return `the tunnel is for another server, ${hello.serverName}`;
}

function greetingLimit(): AbortSignal {
  return AbortSignal.timeout(GREETING_TIMEOUT_MS);
}

function isRefusal(error: unknown): boolean {
  return error instanceof EffectError && error.reason === "AddressRefused";
}

function statusOf(error: unknown): number {
  return isRefusal(error) ? 403 : 502;
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(`${why}\n`);
}

function refuseRaw(socket: Duplex, status: number, why: string): void {
  const text = why.replace(/[^\x20-\x7e]/g, "?");
  socket.end(`HTTP/1.1 ${status} ${text}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${text}\n`);
}

interface Listening {
  close(): Promise<void>;
}

function listen(server: Server, path: string): Promise<Listening> {
  const open = new Set<Socket>();
  server.prependListener("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () =>
      resolve({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            for (const socket of open) socket.destroy();
          }),
      }),
    );
  });
}
