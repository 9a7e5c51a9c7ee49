/** The page about the HTTP transport: its routes, from the table that serves them, and its bounds. */
import { openApiDocument, type Route, routes } from "#transports/http";
import { defaultLimits, type HttpLimits } from "../../src/transports/http/limits.ts";
import { GENERATED, list, page, plain, table } from "./markdown.ts";

/** Takes every command without a route of its own; which those are is in the table of commands. */
const ANY_COMMAND_PATH = "/v1/sessions/{id}/commands";

/** What each bound means to a client. A bound that is new is missing here until it is said. */
const meanings: Readonly<Record<keyof HttpLimits, string>> = {
  bodyBytes: "One request body, and one message of a web socket (413, close code 1009).",
  unfinishedBytes: "Bodies of all requests that are not complete yet (503).",
  headerBytes: "The headers of a request (413).",
  requestMs: "From the first byte of a request to its last (408).",
  headersMs: "From the first byte of a request to the end of its headers (408).",
  keepAliveMs: "How long a connection without requests stays open.",
  connections: "Open connections for each listener; further ones are closed at once.",
  streams: "Event streams and web sockets together (503).",
  heartbeatMs: "Between two heartbeats on a stream.",
  recheckMs: "Between two checks of the tokens of open streams.",
  stalledBeats: "Heartbeats that a stream may leave unread before it is cut.",
  clients:
    "Tokens whose handshake is remembered, and as many clients; beyond that, the one unused for longest has to repeat its handshake.",
  unansweredFrames: "Unanswered commands of one web socket; the server reads no more until one is answered.",
  frameIds: "Frame ids that one web socket remembers, to execute a repeated frame only once.",
  badFrames: "Malformed frames of one web socket before it is closed (1008).",
};

export function httpPage(): string {
  // The document has exactly the paths that it was made from.
  const described = Object.keys(openApiDocument(routes, "").paths as object).length;
  return page([
    "# HTTP",
    GENERATED,
    "`harness daemon run` serves REST with server-sent events, web sockets, and a small surface of three routes. It listens on a Unix " +
      "socket (mode 0600), on loopback ports and, over TLS, for other machines. The [guide](../guide/control-plane.md) shows it with curl. " +
      `\`GET /v1/openapi.json\` describes the same ${described} paths as OpenAPI 3.1.`,
    "Every request carries its [capability token](../guide/pipe-and-tokens.md#tokens) in the header `X-Harness-Token`, also on the Unix " +
      "socket. Only the two routes that request a token need none, and they exist only on the Unix socket. `Host` must be `localhost` on " +
      "the socket, `localhost:PORT` or `127.0.0.1:PORT` on a port, and a name of the certificate over TLS. The server refuses a request " +
      "with an `Origin`, and its preflight, unless `--allow-origin` allows that origin. A page cannot set headers on a web socket; it " +
      "offers the subprotocols `harness` and `harness.token.TOKEN` instead, and the server chooses the first. A refusal is " +
      '`{"error": {"reason", "message"}}` with the status of its [reason](protocol.md#reasons). When the disk accepts no writes, the ' +
      "answer is 507 with `StoreFailed`: nothing of the request was kept, and the same request works when there is room.",
    "The server answers a command with 201, 202 or 204, or with a `command` frame of a web socket, only when the log has the command's " +
      "effect, synced to disk: a later crash loses nothing of it. A cancel is the exception. " +
      "[reliability.md](../reliability.md#acknowledgements) says what each answer promises.",
    "Routes marked *handshake* are refused with `HandshakeRequired` until the token has requested `/v1/handshake` once.",
    "A client is an attachment, not a token. Two programs with the same token are two clients, and the log distinguishes them by the " +
      "`originator` of their turns and the `by` of their answers. Each web socket is a client. Over REST the answer to the handshake " +
      "names a client in `client`. Requests and event streams with that value in the header `X-Harness-Client`, under the same token, " +
      "belong to that client. The server refuses a client that it does not know, for example after a restart, with " +
      "`HandshakeRequired`. A request without the header is a client of its own.",
    "## Sessions",
    routeTable(routes.filter(({ path }) => path.startsWith("/v1/sessions"))),
    "## The server",
    routeTable(routes.filter(({ path }) => /^\/v1\/(?!sessions|auth\/)/.test(path))),
    "## Tokens",
    routeTable(routes.filter(({ path }) => path.startsWith("/v1/auth/"))),
    "`TokenRequired`: the request has no token. `TokenInvalid`: the token was not made here, or is not valid yet. `TokenExpired`, " +
      "`TokenRevoked`: the token has ended. `TokenScope`: the token does not cover this request. `TooManyFailures`: after ten wrong tokens " +
      "or codes, a peer waits a minute; a token that was good before is still served.",
    "## The small surface",
    "For simple front ends: no handshake, no session id, plain events with a heartbeat comment.",
    routeTable(routes.filter(({ path }) => !path.startsWith("/v1/"))),
    "## Bodies and queries",
    ...routes.filter(({ query, body, headers }) => query ?? body ?? headers).flatMap(details),
    "## Event streams",
    "A frame is `id:` with the event's id, `event:` with its kind and `data:` with the event as it is in the log. A client that " +
      "reconnects sends the last id it has seen. It gets the events since then, followed by live events, each once and in order. " +
      "Events that a client does not read in time are dropped for that client alone. A `StreamGap` (without `id:`) names the missing " +
      "ids, and the client gets them by reconnecting with the id before them. Where content has expired, a resume begins with a " +
      "`StreamGap` of reason `ttl` (with `id:`), and the events that are still whole follow; the remains of the others are in the log. " +
      "When the server ends a stream, the last frame is `event: error` with a reason.",
    "A stream that begins with the log does not wait until a stored session is open: the server sends the log while the session opens. " +
      "If the session then cannot open, the stream ends with `event: error`.",
    "A `StreamGap` of reason `overflow`, `TokenExpiring`, `TokenRequested` and `TurnLost` are not in the log: they have no `id:`, and the " +
      "`id` of the event before them. A stream ends within a second after its token is revoked, and a minute after its token expires.",
    "## Web socket",
    "`GET /v1/ws?session=ID&lastEventId=N`, both optional. Frames are JSON texts in both directions:",
    table(
      ["frame", "from", "body"],
      [
        ["`handshake`", "both", "The first frame. From the client `{protocol_version?}`; the answer is the handshake."],
        ["`command`", "client", "A command of the protocol. The answer repeats the `id` beside `frame`."],
        ["`command`", "server", "The result of the command: `{kind, session?, turn?, result?}`."],
        ["`event`", "server", "An event of a session that the connection is attached to."],
        ["`error`", "server", "`{reason, message}`, with the `id` of the frame that it answers."],
      ],
    ),
    "The server checks the token for every frame. After the token has ended, it refuses commands, and the connection stays for a minute. " +
      "A frame whose `id` was used before is refused with `FrameRepeated` and not executed again.",
    "## Bounds",
    table(
      ["bound", "value", "of"],
      // `defaultLimits` has exactly these keys.
      (Object.keys(meanings) as (keyof HttpLimits)[]).map((name) => [
        `\`${name}\``,
        String(defaultLimits[name]),
        meanings[name],
      ]),
    ),
  ]);
}

function routeTable(rows: readonly Route[]): string {
  return table(
    ["route", "what", "command", "handshake", "answers"],
    rows.map(({ method, path, summary, commands = [], handshake, answers }) => [
      `\`${method} ${path}\``,
      plain(summary),
      path === ANY_COMMAND_PATH ? "[those](protocol.md#commands)" : commands.length === 0 ? "–" : list(commands),
      handshake ? "yes" : "–",
      Object.entries(answers)
        .map(([status, text]) => `${status}: ${plain(text)}`)
        .join(" "),
    ]),
  );
}

function details({ method, path, query = {}, headers = {}, body }: Route): readonly string[] {
  const fields = (body?.properties ?? {}) as Readonly<Record<string, { description?: string; type?: string }>>;
  const rows = [
    ...Object.entries(query).map(([name, text]) => [`\`${name}\``, "query", plain(text)]),
    ...Object.entries(headers).map(([name, text]) => [`\`${name}\``, "header", plain(text)]),
    ...Object.entries(fields).map(([name, { description, type }]) => [
      `\`${name}\``,
      "body",
      plain(description ?? type ?? ""),
    ]),
  ];
  return [`### ${method} ${path}`, table(["field", "in", "meaning"], rows)];
}
