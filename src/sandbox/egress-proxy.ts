/**
 * The one way out of a sandbox with a domain list: an HTTP proxy on a Unix socket. It matches the host against the list,
 * resolves it once, checks every address and connects to a checked one. Tunnels must be TLS for the host they named. It
 * does not look into TLS, and it follows no redirects: the program inside asks again.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type Clock,
  checkedAddresses,
  type DomainList,
  EffectError,
  messageOf,
  normalHost,
  pinnedLookup,
  type Resolve,
} from "#base";
import { MAX_HELLO_BYTES, readClientHello } from "./client-hello.ts";

const MAX_CONNECTIONS = 128;
const MAX_HEADER_BYTES = 16 * 1024;
const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 60_000;
/** No command runs longer; what is still open then belongs to nobody. */
const MAX_CONNECTION_MS = 600_000;
const MAX_CONNECTION_BYTES = 4 * 1024 ** 3;
const HOP_BY_HOP = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade host".split(
    " ",
  ),
);

/** One connection as the record has it: `opened` or `refused` first, and `closed` after `opened`. */
export interface EgressRecord {
  /** The same for both records of a connection. */
  readonly connection: number;
  readonly host: string;
  readonly port: number;
  readonly state: "opened" | "refused" | "closed";
  /** Why it was refused or cut. */
  readonly why?: string;
  readonly bytesSent?: number;
  readonly bytesReceived?: number;
  readonly durationMs?: number;
}

export interface EgressProxyOptions {
  /** Where it listens; its folder must be closed to others. */
  readonly socket: string;
  readonly domains: DomainList;
  readonly clock: Clock;
  /** Awaited before a connection is opened: what cannot be recorded does not happen. */
  readonly record: (entry: EgressRecord) => Promise<void>;
  readonly resolve?: Resolve;
}

export interface EgressProxy {
  close(): Promise<void>;
}

/** Resolves when it listens. */
export async function startEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const { createServer } = process.getBuiltinModule("node:http");
  const egress = createEgress(options);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connect", (request, socket, head) => void egress.tunnel(request, socket, head));
  server.on("request", (request, response) => void egress.forward(request, response));
  // Without listeners an odd request would end with an answer that says nothing.
  server.on("upgrade", (_request, socket) => refuseRaw(socket, 501, "upgrades are not forwarded"));
  server.on("clientError", (_error, socket) => refuseRaw(socket, 400, "not an HTTP request"));
  await listen(server, options.socket);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        egress.closeAll();
      }),
  };
}

interface Egress {
  tunnel(request: IncomingMessage, inside: Duplex, head: Buffer): Promise<void>;
  forward(request: IncomingMessage, response: ServerResponse): Promise<void>;
  closeAll(): void;
}

function createEgress({ domains, clock, record, resolve }: EgressProxyOptions): Egress {
  const open = new Set<Duplex>();
  let connections = 0;

  /** Throws an EffectError after recording the refusal. */
  async function admit(target: Target): Promise<{ outside: Socket; closed: (why?: string) => void }> {
    const connection = ++connections;
    const startedMs = clock.monotonicMs();
    const entry = { connection, host: target.host, port: target.port };
    try {
      const refusal = domains.refusal(target.host);
      if (refusal !== undefined) throw new EffectError("AddressRefused", refusal);
      const stop = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
      const rules = { ...(resolve && { resolve }), mayBePrivate: (address: string) => domains.namesAddress(address) };
      const addresses = await checkedAddresses(target.host, rules, stop);
      await record({ ...entry, state: "opened" });
      const outside = await dial(target, pinnedLookup(addresses));
      let isClosed = false;
      const closed = (why?: string) => {
        if (isClosed) return;
        isClosed = true;
        const sizes = { bytesSent: outside.bytesWritten, bytesReceived: outside.bytesRead };
        const durationMs = Math.round(clock.monotonicMs() - startedMs);
        // The connection is over; a log that fails now stops the turn by itself.
        record({ ...entry, state: "closed", ...sizes, durationMs, ...(why && { why }) }).catch(() => undefined);
      };
      outside.once("close", () => closed());
      return { outside, closed };
    } catch (error) {
      const why = messageOf(error);
      await record({ ...entry, state: "refused", why });
      throw error instanceof EffectError ? error : new EffectError("NetworkFailed", why, { cause: error });
    }
  }

  /** Ends the connection when it is idle, old or large; the result is called with every chunk. */
  function bounded(outside: Socket, closed: (why?: string) => void): () => void {
    const cut = (why: string) => {
      closed(why);
      outside.destroy();
    };
    const limit = setTimeout(() => cut("it was open too long"), MAX_CONNECTION_MS).unref();
    outside.setTimeout(IDLE_TIMEOUT_MS, () => cut("nothing came for too long"));
    open.add(outside);
    outside.once("close", () => {
      open.delete(outside);
      clearTimeout(limit);
    });
    return () => {
      if (outside.bytesRead + outside.bytesWritten > MAX_CONNECTION_BYTES) cut("it carried too many bytes");
    };
  }

  function join(inside: Duplex, outside: Socket, count: () => void): void {
    for (const [side, other] of [[inside, outside] as const, [outside, inside] as const]) {
      side.on("data", count);
      side.once("error", () => other.destroy());
      side.once("close", () => other.destroy());
      side.pipe(other);
    }
  }

  return {
    async tunnel(request, inside, head) {
      inside.once("error", () => inside.destroy());
      const target = authorityTarget(request.url ?? "");
      if (target === undefined) return refuseRaw(inside, 400, "CONNECT needs host:port");
      try {
        const { outside, closed } = await admit(target);
        inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
        const hello = await firstBytes(inside, head);
        const why = helloProblem(hello, target);
        if (why !== undefined) {
          closed(why);
          outside.destroy();
          inside.destroy();
          return;
        }
        outside.write(hello);
        join(inside, outside, bounded(outside, closed));
      } catch (error) {
        refuseRaw(inside, statusOf(error), messageOf(error));
      }
    },

    async forward(request, response) {
      const target = absoluteTarget(request);
      if (typeof target === "string") return refuse(response, 400, target);
      try {
        const { outside, closed } = await admit(target);
        const { request: send } = process.getBuiltinModule("node:http");
        const count = bounded(outside, closed);
        const onward = send({
          createConnection: () => outside,
          method: request.method ?? "GET",
          path: target.path,
          headers: { ...onwardHeaders(request), host: target.authority, connection: "close" },
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
    },

    closeAll() {
      for (const stream of open) stream.destroy();
    },
  };
}

interface Target {
  readonly host: string;
  readonly port: number;
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
  if (url.protocol !== "http:") return `${url.protocol} is not forwarded; https goes through CONNECT`;
  if (url.username !== "" || url.password !== "") return "a URL with credentials is not forwarded";
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

function helloProblem(bytes: Buffer, { host }: Target): string | undefined {
  const hello = readClientHello(bytes);
  if (hello.kind !== "tls") return "the tunnel does not carry TLS";
  if (hello.serverName === undefined || normalHost(hello.serverName) === host) return undefined;
  return `the tunnel is for another server, ${hello.serverName}`;
}

/** What the program inside sends first: up to a whole TLS greeting, or as much as there is when it cannot become one. */
async function firstBytes(inside: Duplex, head: Buffer): Promise<Buffer> {
  let bytes = head;
  const limit = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  while (readClientHello(bytes).kind === "more" && bytes.length <= MAX_HELLO_BYTES) {
    const chunk = await nextChunk(inside, limit);
    if (chunk === undefined) break;
    bytes = Buffer.concat([bytes, chunk]);
  }
  return bytes;
}

function nextChunk(inside: Duplex, limit: AbortSignal): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const done = (chunk?: Buffer) => {
      inside.off("data", done).off("end", over).off("close", over).pause();
      limit.removeEventListener("abort", over);
      resolve(chunk);
    };
    const over = () => done();
    inside.on("data", done).on("end", over).on("close", over).resume();
    limit.addEventListener("abort", over, { once: true });
  });
}

function dial({ host, port }: Target, lookup: ReturnType<typeof pinnedLookup>): Promise<Socket> {
  const { connect } = process.getBuiltinModule("node:net");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup, autoSelectFamily: true, timeout: CONNECT_TIMEOUT_MS });
    socket.once("timeout", () => socket.destroy(new Error(`${host}:${port} did not answer`)));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject).setTimeout(0).removeAllListeners("timeout");
      socket.on("error", () => socket.destroy());
      resolve(socket);
    });
  });
}

function statusOf(error: unknown): number {
  return error instanceof EffectError && error.reason === "AddressRefused" ? 403 : 502;
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(`${why}\n`);
}

function refuseRaw(socket: Duplex, status: number, why: string): void {
  const text = why.replace(/[^\x20-\x7e]/g, "?");
  socket.end(`HTTP/1.1 ${status} ${text}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${text}\n`);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve());
  });
}
