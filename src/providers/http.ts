/**
 * One HTTP exchange with a streamed response body over kept-alive connections. Failures are values with one of our
 * reasons. It follows no redirects, because a key must never reach another host, and it knows nothing of any vendor. A request
 * with a credential goes the way that the credential port names, and without one it is not sent.
 */

import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { type Clock, createConcealer } from "#base";
import type { CredentialPort, CredentialRef, CredentialRoute } from "#engine";
import { type Reason, reasonText } from "#protocol";
import { createModelConnections, proxyVariables } from "#world";
import {
  cancelled,
  cut,
  HELPER_CUT,
  helperLate,
  helperLost,
  helperProblem,
  type Phase,
  redirected,
  timedOut,
  tooLarge,
  unreachable,
  unsendable,
} from "./http-failure.ts";

/** How long a finished response may take to end by itself before its connection is dropped. */
const DRAIN_MS = 1_000;
/** How long the bookkeeping may take that follows a whole answer; pings do not prolong it. */
const END_MS = 5_000;
/** Its connections break a moment before we are told that the helper has died. */
const LOST_PAUSE_MS = 50;
/** The first, and one after a connection or a helper that turned out to be gone, and one more if both were. */
const MAX_ATTEMPTS = 3;

/** Nobody reads it; Node looks at a name longer than at an address, the first time for some milliseconds. */
const SOCKET_HOST = "127.0.0.1";

export interface CallLimits {
  /** From the start to the response head: the way to the key, connecting, sending, waiting. */
  readonly headersTimeoutMs: number;
  /** From the start until the sink says that the body flows. */
  readonly firstTokenTimeoutMs: number;
  /** The longest silence after that: every byte ends it, whatever it says. */
  readonly chunkTimeoutMs: number;
  readonly maxResponseBytes: number;
}

export interface HttpRequest extends CallLimits {
  /** Used in messages: the vendor's name. */
  readonly peer: string;
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Called when all of it has left this process. */
  readonly onSent?: () => void;
  /** The key to send it with; absent for a server that needs none. */
  readonly credential?: CredentialRef;
  readonly signal: AbortSignal;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/**
 * `waiting`: nothing of use has come yet. `ending`: the rest is welcome, and not needed. `complete`: it has all it needs, the rest
 * is thrown away.
 */
export type SinkState = "waiting" | "flowing" | "ending" | "complete";

/** Gets each piece of decoded text in order. */
export type BodySink = (text: string) => SinkState;

export interface HttpFailure {
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
      const startMs = ports.clock.monotonicMs();
      for (let attempt = 1; ; attempt++) {
        const route = await routeInTime(request, ports.credentials, ports.clock, startMs);
        if (route?.type === "failed") return route;
        if (route?.type === "refused") return { ...route, type: "failed", retryable: false };
        const agent = route?.type === "socket" ? connections.throughSocket() : connections.to(request.url);
        const outcome = await exchange(request, onHead, agent, ports.clock, startMs, route);
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
export type NotSent = "stale" | "lost";

/** Fails closed: a credential without somebody who has it is a refusal. */
async function routeOf(
  { credential, url, signal }: HttpRequest,
  credentials: Pick<CredentialPort, "route"> | undefined,
): Promise<CredentialRoute | undefined> {
  if (credential === undefined || signal.aborted) return undefined;
  if (credentials !== undefined) return credentials.route(credential, url);
  const values = { detail: "this program was assembled without one" };
  return { type: "refused", reason: "CredentialHelperFailed", message: reasonText("CredentialHelperFailed", values) };
}

/** The process with the keys may hang as a vendor may: whoever waits for it is under the same limit, and can be cancelled. */
async function routeInTime(
  request: HttpRequest,
  credentials: Pick<CredentialPort, "route"> | undefined,
  clock: Clock,
  startMs: number,
): Promise<CredentialRoute | HttpFailure | undefined> {
  if (request.credential === undefined) return undefined;
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  request.signal.addEventListener("abort", stop, { once: true });
  try {
    const leftMs = startMs + request.headersTimeoutMs - clock.monotonicMs();
    const late = clock.sleep(Math.max(0, leftMs), waiting.signal).then(() => "late" as const);
    const route = await Promise.race([routeOf(request, credentials), late]);
    if (route !== "late") return route;
    return request.signal.aborted ? cancelled() : helperLate(request);
  } finally {
    request.signal.removeEventListener("abort", stop);
    waiting.abort();
  }
}

function exchange(
  request: HttpRequest,
  onHead: (head: HttpHead) => BodySink,
  agent: Agent,
  clock: Clock,
  startMs: number,
  route: SendingRoute | undefined,
): Promise<HttpOutcome | NotSent> {
  const { signal, url } = request;
  const isSocket = route?.type === "socket";
  if (signal.aborted) return Promise.resolve(cancelled());
  return new Promise((resolve) => {
    // Ends the watcher's sleep: when another limit holds from now on, and when all is over.
    let watching = new AbortController();
    let phase: Phase = "headers";
    let enteredMs = startMs;
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
    const enter = (next: Phase): void => {
      phase = next;
      enteredMs = clock.monotonicMs();
      watching.abort();
      watching = new AbortController();
    };
    const onAbort = (): void => fail(cancelled());
    const onResponse = (response: IncomingMessage): void => {
      incoming = response;
      lastMs = clock.monotonicMs();
      enter("first token");
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
        const state = sink(decoder.write(concealer === undefined ? chunk : concealer.write(chunk)));
        if (state === "flowing" && phase !== "chunk") enter("chunk");
        if (state === "ending" && phase !== "end") enter("end");
        if (state !== "complete") return;
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
    if (request.onSent !== undefined) outgoing.once("finish", request.onSent);
    outgoing.end(request.body);

    const limitMs = (): number => {
      switch (phase) {
        case "headers":
          return startMs + request.headersTimeoutMs;
        case "first token":
          return startMs + request.firstTokenTimeoutMs;
        case "chunk":
          return lastMs + request.chunkTimeoutMs;
        case "end":
          return enteredMs + Math.min(END_MS, request.chunkTimeoutMs);
      }
    };
    const watch = async (): Promise<void> => {
      while (!settled) {
        const waitMs = limitMs() - clock.monotonicMs();
        if (waitMs <= 0) return fail(timedOut(request, phase));
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
