/**
 * One HTTP exchange with a streamed response body over kept-alive connections. Failures are values with one of our
 * reasons. It follows no redirects, because a key must never reach another host, and it knows nothing of any vendor. A request
 * with a credential goes the way that the credential port names, and without one it is not sent.
 */

import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { type Clock, createConcealer, createModelConnections, proxyVariables } from "#base";
import type { CredentialPort, CredentialRef, CredentialRoute } from "#engine";
import { type Reason, reasonText } from "#protocol";

/** How long a finished response may take to end by itself before its connection is dropped. */
const DRAIN_MS = 1_000;
/** Its connections break a moment before we are told that the helper has died. */
const LOST_PAUSE_MS = 50;
/** The first, and one after a connection or a helper that turned out to be gone, and one more if both were. */
const MAX_ATTEMPTS = 3;

/** Nobody reads it; Node looks at a name longer than at an address, the first time for some milliseconds. */
const SOCKET_HOST = "127.0.0.1";

/** What the credential helper adds to the vendor's answer; it lets none of a vendor's own headers through that look so. */
const HELPER_REFUSED = "x-harness-refused";
const HELPER_FAILED = "x-harness-failed";
const HELPER_CUT = "x-harness-cut";

export interface HttpRequest {
  /** Used in messages: the vendor's name. */
  readonly peer: string;
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The key to send it with; absent for a server that needs none. */
  readonly credential?: CredentialRef;
  readonly signal: AbortSignal;
  /** From the start to the response head: connecting, sending, waiting. */
  readonly firstByteTimeoutMs: number;
  /** Between two chunks of the body. */
  readonly idleTimeoutMs: number;
  readonly maxResponseBytes: number;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Gets each piece of decoded text in order; true says that it has all it needs, the rest is thrown away. */
export type BodySink = (text: string) => boolean;

interface HttpFailure {
  readonly type: "failed";
  readonly reason: Reason;
  readonly message: string;
  readonly retryable: boolean;
}

export type HttpOutcome = (HttpHead & { readonly type: "ok" }) | HttpFailure;

export interface HttpClient {
  /** `onHead` is called once, with a status below 300 or from 400 on, and gives the sink of the body. Never rejects. */
  send(request: HttpRequest, onHead: (head: HttpHead) => BodySink): Promise<HttpOutcome>;
  /** Closes idle connections. */
  close(): void;
}

/** `env` is read for the usual proxy variables only; loopback addresses are reached directly. */
export function createHttpClient(ports: {
  readonly clock: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Needed for requests with a credential. */
  readonly credentials?: Pick<CredentialPort, "route">;
}): HttpClient {
  const connections = createModelConnections(proxyVariables(ports.env ?? {}));
  return {
    async send(request, onHead) {
      // The peer may close an idle connection in the very moment it is used again; that says nothing about the request. A
      // helper that died before it answered has a successor, or the next route is a refusal.
      for (let attempt = 1; ; attempt++) {
        const route = await routeOf(request, ports.credentials);
        if (route?.type === "refused") return { ...route, type: "failed", retryable: false };
        const agent = route?.type === "socket" ? connections.throughSocket() : connections.to(request.url);
        const outcome = await exchange(request, onHead, agent, ports.clock, route);
        if (typeof outcome === "object") return outcome;
        if (attempt < MAX_ATTEMPTS) {
          // A timer of its own and not the clock's: what it waits for is a process that ends.
          if (outcome === "lost") await new Promise((resolve) => setTimeout(resolve, LOST_PAUSE_MS));
          continue;
        }
        return outcome === "lost" ? helperLost() : unreachable(request, "the connection was closed");
      }
    },
    close: () => connections.close(),
  };
}

type SendingRoute = Exclude<CredentialRoute, { type: "refused" }>;
/** Nothing was answered, and it is not the vendor's doing: an old connection, or a helper that died. */
type NotSent = "stale" | "lost";

/** Fails closed: a credential without somebody who has it is a refusal. */
async function routeOf(
  { credential, url, signal }: HttpRequest,
  credentials: Pick<CredentialPort, "route"> | undefined,
): Promise<CredentialRoute | undefined> {
  if (credential === undefined || signal.aborted) return undefined;
  if (credentials !== undefined) return credentials.route(credential, url);
  const values = { detail: "this program was put together without one" };
  return { type: "refused", reason: "CredentialHelperFailed", message: reasonText("CredentialHelperFailed", values) };
}

function exchange(
  request: HttpRequest,
  onHead: (head: HttpHead) => BodySink,
  agent: Agent,
  clock: Clock,
  route: SendingRoute | undefined,
): Promise<HttpOutcome | NotSent> {
  const { signal, url } = request;
  const isSocket = route?.type === "socket";
  if (signal.aborted) return Promise.resolve(cancelled());
  return new Promise((resolve) => {
    // Ends the watcher's sleep: when the head is there, and when all is over.
    let watching = new AbortController();
    let outgoing: ClientRequest | undefined;
    let incoming: IncomingMessage | undefined;
    let settled = false;
    let lastMs = clock.monotonicMs();

    const settle = (outcome: HttpOutcome | NotSent): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener("abort", onAbort);
      watching.abort();
      resolve(outcome);
    };
    const fail = (outcome: HttpFailure | NotSent): void => {
      if (settled) return;
      settle(outcome);
      outgoing?.destroy();
    };
    const onAbort = (): void => fail(cancelled());
    const onResponse = (response: IncomingMessage): void => {
      incoming = response;
      lastMs = clock.monotonicMs();
      watching.abort();
      watching = new AbortController();
      const status = response.statusCode ?? 0;
      const problem = isSocket ? helperProblem(request, response.headers) : undefined;
      if (problem !== undefined) {
        fail(problem);
        return;
      }
      if (status >= 300 && status < 400) {
        fail(redirected(request, status));
        return;
      }
      const sink = onHead({ status, headers: response.headers });
      const decoder = new StringDecoder("utf8");
      const concealer = route?.type === "held" ? createConcealer(route.secret) : undefined;
      let received = 0;
      response.on("data", (chunk: Buffer) => {
        if (settled) return;
        lastMs = clock.monotonicMs();
        received += chunk.length;
        if (received > request.maxResponseBytes) return fail(tooLarge(request));
        if (!sink(decoder.write(concealer === undefined ? chunk : concealer.write(chunk)))) return;
        settle({ type: "ok", status, headers: response.headers });
        dropUnlessEnded(response);
      });
      response.on("end", () => {
        if (isSocket && response.trailers[HELPER_CUT] !== undefined) return fail(cut(request));
        const rest = decoder.end(concealer?.end());
        if (!settled && rest !== "") sink(rest);
        settle({ type: "ok", status, headers: response.headers });
      });
      // The helper says when the vendor stopped; that it says nothing more means that it is gone itself.
      response.on("error", () => fail(isSocket ? helperLost() : cut(request)));
      response.on("close", () => fail(isSocket ? helperLost() : cut(request)));
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      const stale = outgoing?.reusedSocket === true && (error.code === "ECONNRESET" || error.code === "EPIPE");
      if (isSocket) fail(incoming === undefined ? "lost" : helperLost());
      else if (incoming !== undefined) fail(cut(request));
      else fail(stale ? "stale" : unreachable(request, error.code ?? error.message));
    };

    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const headers = { ...request.headers, ...route?.headers };
      const options: RequestOptions = { method: request.method, headers, agent };
      const isTls = url.protocol === "https:" && !isSocket;
      const { request: send } = process.getBuiltinModule(isTls ? "node:https" : "node:http");
      outgoing = isSocket
        ? send({ ...options, socketPath: route.socketPath, host: SOCKET_HOST, path: "/" }, onResponse)
        : send(url, options, onResponse);
    } catch (error) {
      return settle(unsendable(request, error));
    }
    outgoing.on("error", onError);
    outgoing.end(request.body);

    const watch = async (): Promise<void> => {
      const startMs = lastMs;
      while (!settled) {
        const limitMs = incoming === undefined ? startMs + request.firstByteTimeoutMs : lastMs + request.idleTimeoutMs;
        const waitMs = limitMs - clock.monotonicMs();
        if (waitMs <= 0) return fail(timedOut(request, incoming === undefined));
        await clock.sleep(waitMs, watching.signal);
      }
    };
    void watch();
  });
}

/**
 * Reads a response that nobody waits for to its end, so that its connection can be used again. On a timer of its own
 * and not on the clock: it must not keep the program alive, and nothing that can be seen depends on it.
 */
function dropUnlessEnded(response: IncomingMessage): void {
  const timer = setTimeout(() => response.destroy(), DRAIN_MS);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
}

function failed(reason: Reason, retryable: boolean, values: Readonly<Record<string, string | number>>): HttpFailure {
  return { type: "failed", reason, message: reasonText(reason, values), retryable };
}

/** What the helper says instead of an answer of the vendor. */
function helperProblem(request: HttpRequest, headers: IncomingHttpHeaders): HttpFailure | NotSent | undefined {
  const code = headers[HELPER_FAILED];
  if (code !== undefined) return code === "STALE" ? "stale" : unreachable(request, String(code));
  const { credential, url } = request;
  switch (headers[HELPER_REFUSED]) {
    case undefined:
      return undefined;
    case "HostNotBound":
      return failed("CredentialHostRefused", false, {
        credential: credential?.source ?? "",
        host: url.origin,
        hosts: credential?.hosts.join(", ") || "no host",
      });
    case "AuthHeaderGiven":
      return failed("ConfigInvalid", false, {
        detail: `the headers configured for ${request.peer} say who asks; the key already does. Take them out`,
      });
    default:
      return failed("CredentialHelperFailed", false, { detail: `it refused: ${String(headers[HELPER_REFUSED])}` });
  }
}

function helperLost(): HttpFailure {
  return failed("CredentialHelperFailed", true, { detail: "it ended in the middle of a response" });
}

function cancelled(): HttpFailure {
  return failed("Cancelled", false, {});
}

function unreachable({ peer, url }: HttpRequest, detail: string): HttpFailure {
  const certificate = detail.includes("CERT") || detail.includes("TLS") || detail.includes("SSL");
  return failed("ProviderUnreachable", !certificate, { provider: peer, host: url.host, detail });
}

function unsendable(request: HttpRequest, error: unknown): HttpFailure {
  const detail = `the request to ${request.peer} cannot be sent: ${error instanceof Error ? error.message : "unknown"}`;
  return failed("ConfigInvalid", false, { detail });
}

function redirected({ peer }: HttpRequest, status: number): HttpFailure {
  const detail = "it redirects to another address, and redirects are not followed; check the base URL";
  return failed("ProviderRefused", false, { provider: peer, status, detail });
}

function tooLarge({ maxResponseBytes }: HttpRequest): HttpFailure {
  return failed("OutputLimit", false, { limit: maxResponseBytes });
}

function cut({ peer }: HttpRequest): HttpFailure {
  return failed("ProviderStreamCut", true, { provider: peer });
}

function timedOut(request: HttpRequest, beforeHead: boolean): HttpFailure {
  const timeoutMs = beforeHead ? request.firstByteTimeoutMs : request.idleTimeoutMs;
  return failed("ProviderTimeout", true, { provider: request.peer, timeout: timeoutMs / 1000 });
}
