/** The HTTP server: every request passes the same checks in the same order, then its row of the route table. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { type ConfirmationChannel, checkOrigin, phaseOf, preflightAnswer, presentedToken, type TokenDesk } from "#auth";
import { type Clock, visibleLine } from "#base";
import { requireSeen } from "#control";
import { ReasonError, SessionId, SOCKET_PROTOCOL } from "#protocol";
import type { ListenAddress } from "../listen-address.ts";
import { type Authenticate, type PresentedToken, refusalOf, requireClaims } from "./access.ts";
import { openEventStream } from "./event-stream.ts";
import { asReasonError, cleanReason } from "./failure.ts";
import type { TlsTexts } from "./lan.ts";
import { defaultLimits, type HttpLimits } from "./limits.ts";
import type { HttpObserver } from "./observer.ts";
import { type Listener, type OpenedListener, openListener } from "./open-listener.ts";
import { openApiDocument } from "./openapi.ts";
import { plainFrames } from "./plain-events.ts";
import { CLIENT_HEADER, createPrincipals, type Principal } from "./principal.ts";
import { createBodyReader } from "./request-body.ts";
import type { HttpBackend, Route, RouteCall } from "./route.ts";
import { matchRoute, openRoute, routes } from "./routes.ts";
import { brokenRequest, refuseUpgrade, sendAnswer, sendFailure } from "./send-answer.ts";
import { createStreams, type TokenPhaseOf } from "./streams.ts";
import { serveWebSocket } from "./web-socket.ts";
import { createFraming } from "./wire-event.ts";

/** Of a path that an observer is told. */
const TOLD_PATH_CHARS = 200;
const CLIENT_NAME_CHARS = 200;
/** How long connections may take to go when the server closes. */
const CLOSE_GRACE_MS = 500;

export interface HttpServerOptions {
  readonly backend: HttpBackend;
  readonly authenticate: Authenticate;
  /** As `authenticate` judges it. Default: by the wall clock alone. */
  readonly phaseOf?: TokenPhaseOf;
  /** Makes and revokes tokens; the people who are attached here are one way to have them confirmed. Absent: no tokens are made. */
  readonly desk?: (clients: ConfirmationChannel) => TokenDesk;
  readonly clock: Clock;
  readonly listen: readonly ListenAddress[];
  /** Origins of pages that may use the server. */
  readonly allowedOrigins?: readonly string[];
  /** Without it, no address is listened on that other machines can reach. */
  readonly tls?: TlsTexts;
  readonly limits?: Partial<HttpLimits>;
  readonly observer?: HttpObserver;
}

export interface HttpServer {
  readonly addresses: readonly ListenAddress[];
  /** No new connection is taken; those that are there go on. */
  stopAccepting(): void;
  /** Ends all streams and connections. */
  close(): Promise<void>;
}

/** Listens when it resolves. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { backend, authenticate, clock } = options;
  const { control, store } = backend;
  const limits = { ...defaultLimits, ...options.limits };
  const byWallClock: TokenPhaseOf = (claims) => phaseOf(claims, clock.now());
  const judge = { authenticate, phaseOf: options.phaseOf ?? byWallClock };
  const streams = createStreams(clock, limits, judge, options.observer);
  const desk = options.desk?.(streams.clients);
  const principals = createPrincipals(control, limits.clients);
  const bodies = createBodyReader(limits);
  const framing = createFraming();
  const table: readonly Route[] = [...routes, openApiRoute];
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.bodyBytes,
    perMessageDeflate: false,
    // The first that is offered would be chosen otherwise, and that may be the token.
    handleProtocols: (offered) => offered.has(SOCKET_PROTOCOL) && SOCKET_PROTOCOL,
  });
  /** Opens sessions for those who may attach to them. */
  const opener = control.connect({ identityClass: "agent", interactive: false });
  const told = (cause: unknown): ReasonError => {
    const error = asReasonError(cause);
    // The log closes after the last session. Whoever still reads it then comes back to the next server: the store has not failed.
    const isOver = isStopping && control.sessions().length === 0;
    if (isOver && error.reason === "StoreFailed") return new ReasonError("ShuttingDown");
    return cleanReason(error, backend.clean);
  };
  const startMs = clock.monotonicMs();
  let isStopping = false;
  let defaultSession: Promise<SessionId> | undefined;

  async function ensureOpen(principal: Principal, session: SessionId): Promise<void> {
    principal.allow("AttachSession", session);
    if (control.session(session) !== undefined) return;
    if ((await store.get(session)) === undefined) throw new ReasonError("SessionNotFound", { session });
    await opener.submit({ kind: "CreateSession", resume: session });
  }

  /** For a stream. One that begins with the log does not wait for what follows it: what then fails is told on the stream. */
  async function openFor(principal: Principal, session: SessionId, since: number | undefined): Promise<void> {
    if (since === undefined) return ensureOpen(principal, session);
    principal.allow("AttachSession", session);
    if (control.session(session) !== undefined) return;
    if ((await store.get(session)) === undefined) throw new ReasonError("SessionNotFound", { session });
    await control.prepare(session);
  }

  async function keptSession(principal: Principal): Promise<SessionId> {
    const kept = await defaultSession?.catch(() => undefined);
    if (kept !== undefined && control.session(kept) !== undefined) return kept;
    defaultSession = principal.submit({ kind: "CreateSession" }).then(({ session }) => session);
    return defaultSession;
  }

  async function health(): Promise<Readonly<Record<string, unknown>>> {
    const open = control.sessions();
    const subsystems = await backend.subsystems();
    return {
      status: isStopping ? "stopping" : Object.values(subsystems).some(isFailing) ? "degraded" : "ok",
      version: backend.version,
      service: "harness",
      uptime_ms: Math.round(clock.monotonicMs() - startMs),
      sessions: { open: open.length, running: open.filter(({ activity }) => activity !== "idle").length },
      subsystems,
      transport_status: {
        stdio: "one process each (harness rpc)",
        http: opened.map(({ listener }) => listener.channel),
      },
      http: {
        streams: streams.size,
        max_streams: limits.streams,
        clients: principals.size,
        max_clients: limits.clients,
        unfinished_bytes: bodies.unfinishedBytes,
      },
    };
  }

  /** The row of the table. Whoever has no token is not told which there are, but for those that need none. */
  async function admit(listener: Listener, request: IncomingMessage, path: string) {
    const { method = "" } = request;
    const open = listener.channel === "unix" ? openRoute(method, path) : undefined;
    if (open !== undefined) return { matched: open };
    const presented = tokenOf(listener, request);
    const principal = principals.of(
      await requireClaims(authenticate, presented),
      namedClient(request),
      clientName(request),
    );
    const matched = matchRoute(method, path, table);
    if (matched.route.isOpen) throw new ReasonError("NotAllowed", "Request tokens on the Unix socket.");
    if (matched.route.handshake) principal.requireHandshake();
    return { matched, presented, principal };
  }

  async function lastEventId(session: SessionId): Promise<number> {
    return (await store.get(session))?.lastEventId ?? 0;
  }

  async function answer(listener: Listener, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: target = "", headers } = request;
    const raw = rawOf(request);
    const origin = checkOrigin(raw, listener);
    const preflight = preflightAnswer(raw, listener);
    if (preflight !== undefined) return void response.writeHead(204, preflight).end();
    if (origin !== undefined) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("vary", "Origin");
    }
    const { path, query } = splitTarget(target);
    const admitted = await admit(listener, request, path);
    const { route, params } = admitted.matched;
    const known = (): Principal => {
      if (admitted.principal === undefined) throw new ReasonError("TokenRequired");
      return admitted.principal;
    };
    const call: RouteCall = {
      backend,
      get principal() {
        return known();
      },
      source: sourceOf(listener, request),
      desk,
      async recheckToken() {
        const refusal = await refusalOf(authenticate, admitted.presented);
        if (refusal !== undefined && refusal.reason !== "TokenExpired") throw refusal;
      },
      recheckStreams: () => streams.recheck(),
      query,
      headers,
      response,
      params,
      body: route.method === "POST" ? await bodies.read(request) : {},
      session: () => sessionOf(params.id),
      ensureOpen: (session) => ensureOpen(known(), session),
      defaultSession: () => keptSession(known()),
      async streamEvents(session, wire) {
        const { principal, presented } = admitted;
        if (principal === undefined || presented === undefined) throw new ReasonError("TokenRequired");
        const since = sinceOf(query, headers["last-event-id"]);
        await openFor(principal, session, since);
        // Before the first byte, where it can still be refused.
        await requireSeen(store, session, since);
        await openEventStream({
          control,
          streams,
          principal,
          response,
          session,
          since,
          replayed: backend.replayed,
          standsAt: since ?? (await lastEventId(session)),
          encode: wire === "sse" ? (event) => framing.sse(event, session) : plainFrames,
          presented,
          clock,
          told,
        });
      },
      health,
      openSessions: () => new Map(control.sessions().map((state) => [state.id, state])),
    };
    await sendAnswer(response, await route.handle(call));
  }

  async function upgrade(listener: Listener, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { method = "", url: target = "" } = request;
    checkOrigin(rawOf(request), listener);
    const presented = tokenOf(listener, request);
    if (presented === undefined) throw new ReasonError("TokenRequired");
    const check = () => requireClaims(authenticate, presented);
    const claims = await check();
    const { path, query } = splitTarget(target);
    if (path !== "/v1/ws") throw new ReasonError("RouteNotFound", { method, path: path.slice(0, 200) });
    const named = query.get("session");
    const session = named === null ? undefined : sessionOf(named);
    const since = sinceOf(query, undefined);
    if (streams.size >= limits.streams) throw new ReasonError("TooManyStreams", { limit: limits.streams });
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      serveWebSocket({
        socket: webSocket,
        connection: socket,
        control,
        streams,
        limits,
        principalOf: (current) => principals.of(current),
        check,
        claims,
        name: clientName(request),
        presented,
        clock,
        encode: framing.socket,
        replayed: backend.replayed,
        cleanValue: backend.cleanValue,
        session,
        since,
        openFor,
        lastEventId,
        told,
      });
    });
  }

  function serve({ server, listener }: OpenedListener): void {
    const refused = ({ method = "", url = "" }: IncomingMessage, { reason }: ReasonError): void => {
      const path = splitTarget(url).path.slice(0, TOLD_PATH_CHARS);
      options.observer?.refused({ method, path, reason, channel: listener.channel });
    };
    server.on("request", (request, response) => {
      options.observer?.asked();
      answer(listener, request, response).catch((cause: unknown) => {
        const error = told(cause);
        refused(request, error);
        sendFailure(request, response, error);
      });
    });
    server.on("upgrade", (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      options.observer?.asked();
      upgrade(listener, request, socket, head).catch((cause: unknown) => {
        const error = told(cause);
        refused(request, error);
        refuseUpgrade(socket, error);
      });
    });
    // A handshake of TLS that fails or takes too long: there is nobody yet who could be told.
    server.on("tlsClientError", (_cause: Error, socket: Duplex) => socket.destroy());
    server.on("clientError", (cause: NodeJS.ErrnoException, socket) => {
      if (socket.writable && cause.code !== "ECONNRESET") refuseUpgrade(socket, brokenRequest(cause, limits));
      else socket.destroy();
    });
  }

  const opened: OpenedListener[] = [];
  try {
    for (const wanted of options.listen) {
      const one = await openListener(wanted, { origins: options.allowedOrigins ?? [], limits, tls: options.tls });
      opened.push(one);
      // Before the next is opened: whoever waits for this one is there at once.
      serve(one);
    }
  } catch (error) {
    for (const { server } of opened) server.close();
    streams.close();
    throw error;
  }

  return {
    addresses: opened.map(({ address }) => address),
    stopAccepting() {
      isStopping = true;
      for (const { server } of opened) server.close();
    },
    async close() {
      isStopping = true;
      streams.endAll(new ReasonError("ShuttingDown"));
      streams.close();
      const gone = opened.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve())));
      const late = new AbortController();
      void clock.sleep(CLOSE_GRACE_MS, late.signal).then(() => {
        for (const { server } of opened) server.closeAllConnections();
        for (const socket of sockets.clients) socket.terminate();
      });
      for (const { server } of opened) server.closeIdleConnections();
      await Promise.all(gone);
      late.abort();
    },
  };
}

const openApiRoute: Route = {
  method: "GET",
  path: "/v1/openapi.json",
  summary: "This description, as OpenAPI 3.1",
  handshake: false,
  answers: { 200: "The document." },
  handle: async ({ backend }) => ({ status: 200, body: openApiDocument([...routes, openApiRoute], backend.version) }),
};

function rawOf({ method = "", url: target = "", rawHeaders }: IncomingMessage) {
  return { method, target, rawHeaders };
}

function tokenOf(listener: Listener, request: IncomingMessage): PresentedToken | undefined {
  const token = presentedToken(rawOf(request), { bearer: false });
  return token === undefined ? undefined : { token, channel: listener.channel, source: sourceOf(listener, request) };
}

/** Of an earlier handshake; what is not the id of one names nobody. */
function namedClient({ headers }: IncomingMessage): string | undefined {
  return headers[CLIENT_HEADER]?.toString();
}

function isFailing(part: object): boolean {
  return "state" in part && (part.state === "failing" || part.state === "failed");
}

/** For people who look at sessions; anybody can claim it. */
function clientName({ headers }: IncomingMessage): string | undefined {
  const name = headers["user-agent"];
  return name === undefined ? undefined : visibleLine(name.slice(0, CLIENT_NAME_CHARS));
}

/** Whoever can open the Unix socket is its owner. */
function sourceOf({ channel }: Listener, { socket }: IncomingMessage): string {
  return channel === "unix" ? "unix" : (socket.remoteAddress ?? "gone");
}

/** By hand: a target such as `//host/path` must not become a host. */
function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const at = target.indexOf("?");
  const path = at < 0 ? target : target.slice(0, at);
  return { path, query: new URLSearchParams(at < 0 ? "" : target.slice(at + 1)) };
}

function sessionOf(text: string | undefined): SessionId {
  if (text !== undefined && SessionId.is(text)) return text;
  throw new ReasonError("InvalidCommand", "expected an id of the form sess_<ULID>");
}

function sinceOf(query: URLSearchParams, header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === "string" ? header : (query.get("lastEventId") ?? query.get("since"));
  if (text === null || text === "") return undefined;
  const since = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(since)) return since;
  throw new ReasonError("InvalidCommand", "the last event id must be a number");
}
