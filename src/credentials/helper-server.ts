/**
 * Sends provider requests with a key that only this process has: checks where a request goes, adds the key, streams the
 * answer back. It follows no redirect, passes on no key that a vendor repeats, writes no log, and has no other way out.
 */
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { isBoundTo } from "#base/bound-hosts";
import { type Concealer, createConcealer } from "#base/concealer";
import { CONNECTION_HEADERS } from "#world/connection-headers";
import { createModelConnections } from "#world/model-connections";
import { type AuthScheme, HELPER_HEADERS } from "./helper-frames.ts";

/** A key with where it may go. */
export interface HeldCredential {
  readonly hosts: readonly string[];
  readonly auth: AuthScheme;
  readonly secret: Buffer;
}

/** For the server that they were sent to, not for the one behind; or ours to set. */
const OWN_HEADERS = new Set([...CONNECTION_HEADERS, "accept-encoding"]);
/** What says who asks is said here and nowhere else; the host would say where the request goes. */
const AUTH_HEADERS = new Set(["api-key", "authorization", "cookie", "proxy-authorization", "x-api-key"]);

export type RemoteHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

export function createForwarder(options: {
  readonly pass: string;
  readonly proxy: Readonly<Record<string, string>>;
  readonly credential: (id: string) => HeldCredential | undefined;
  /** Who answers requests to an MCP server. */
  readonly remote: (id: string) => RemoteHandler | undefined;
}): (request: IncomingMessage, response: ServerResponse) => void {
  const pass = Buffer.from(options.pass);
  const connections = createModelConnections(options.proxy);

  return (request, response) => {
    const { headers } = request;
    // Refused before the body is read: it can be large, and is of no use.
    const refuse = (code: string, detail = ""): void => {
      response.writeHead(403, { [HELPER_HEADERS.refused]: code, connection: "close" }).end(detail);
      request.resume();
    };
    if (!isPass(pass, headers[HELPER_HEADERS.pass])) return refuse("NotTheEngine");
    const id = text(headers[HELPER_HEADERS.credential]);
    const url = URL.parse(text(headers[HELPER_HEADERS.url]));
    if (url === null) return refuse("NotAnAddress");
    const remote = options.remote(id);
    if (remote !== undefined) return remote(request, response, url);
    const credential = options.credential(id);
    if (credential === undefined) return refuse("UnknownCredential");
    if (!isBoundTo(credential.hosts, url)) return refuse("HostNotBound", credential.hosts.join(", "));
    const given = Object.keys(headers).find((name) => AUTH_HEADERS.has(name));
    if (given !== undefined) return refuse("AuthHeaderGiven", given);
    forward(request, response, url, credential, connections.to(url));
  };
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  credential: HeldCredential,
  agent: Agent,
): void {
  let outgoing: ClientRequest;
  const failed = (code: string): void => {
    response.writeHead(502, { [HELPER_HEADERS.failed]: code.replace(/[^\w .-]/g, "?"), connection: "close" }).end();
    request.resume();
  };
  try {
    const { request: send } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
    const headers = { ...passedOn(request.headers), ...authHeader(credential), "accept-encoding": "identity" };
    outgoing = send(url, { method: request.method, headers, agent }, (incoming) => {
      answer(incoming, response, [credential.secret]);
    });
  } catch {
    failed("UNSENDABLE"); // its own message could repeat a header
    return;
  }
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    if (response.headersSent) return; // told by the response
    const isStale = outgoing.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
    failed(isStale ? "STALE" : (error.code ?? "FAILED"));
  });
  // Whoever asked has gone: nothing more is sent, and nothing more is read.
  response.once("close", () => outgoing.destroy());
  request.once("error", () => outgoing.destroy());
  request.pipe(outgoing);
}

/** Streams the answer to whoever asked, without the secrets. */
export function answer(incoming: IncomingMessage, response: ServerResponse, secrets: readonly Buffer[]): void {
  const concealer = concealAll(secrets);
  response.writeHead(incoming.statusCode ?? 502, {
    ...answeredHeaders(incoming.headers, secrets),
    trailer: HELPER_HEADERS.cut,
  });
  response.flushHeaders();
  let isWhole = false;
  incoming.on("data", (chunk: Buffer) => {
    const clean = concealer.write(chunk);
    if (clean.length > 0 && !response.write(clean) && !incoming.isPaused()) {
      incoming.pause();
      response.once("drain", () => incoming.resume());
    }
  });
  incoming.on("end", () => {
    isWhole = true;
    response.end(concealer.end());
  });
  incoming.on("error", () => undefined); // followed by close
  incoming.on("close", () => {
    if (isWhole || response.destroyed) return;
    response.addTrailers({ [HELPER_HEADERS.cut]: "1" });
    response.end(concealer.end());
  });
}

function concealAll(secrets: readonly Buffer[]): Concealer {
  const all = secrets.map((secret) => createConcealer(secret));
  return {
    write: (chunk) => all.reduce((clean, one) => one.write(clean), chunk),
    end: () => all.reduce((clean, one) => Buffer.concat([one.write(clean), one.end()]), Buffer.alloc(0)),
  };
}

export function passedOn(headers: IncomingHttpHeaders): Record<string, string | readonly string[]> {
  const kept: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isOurs = name === "host" || OWN_HEADERS.has(name) || name.startsWith(HELPER_HEADERS.prefix);
    if (!isOurs && value !== undefined) kept[name] = value;
  }
  return kept;
}

function authHeader({ auth, secret }: HeldCredential): Record<string, string> {
  const key = secret.toString("utf8");
  return auth === "bearer" ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
}

function answeredHeaders(headers: IncomingHttpHeaders, secrets: readonly Buffer[]): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isOurs = OWN_HEADERS.has(name) || name.startsWith(HELPER_HEADERS.prefix);
    // The length changes where a key is taken out; cookies of a vendor are nobody's business.
    if (isOurs || value === undefined || name === "content-length" || name === "set-cookie") continue;
    const bytes = Buffer.from(String(value), "latin1");
    if (!secrets.some((secret) => bytes.includes(secret))) kept[name] = value;
  }
  return kept;
}

function isPass(pass: Buffer, given: string | string[] | undefined): boolean {
  const shown = Buffer.from(text(given));
  const { timingSafeEqual } = process.getBuiltinModule("node:crypto");
  return shown.length === pass.length && timingSafeEqual(shown, pass);
}

function text(header: string | string[] | undefined): string {
  return typeof header === "string" ? header : "";
}
