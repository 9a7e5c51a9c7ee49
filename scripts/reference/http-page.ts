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
  keepAliveMs: "A connection on which nothing is asked.",
  connections: "Open connections for each listener; further ones are closed at once.",
  streams: "Event streams and web sockets together (503).",
  heartbeatMs: "Between two signs of life on a stream.",
  recheckMs: "Between two looks at the tokens of open streams.",
  stalledBeats: "Signs of life that a stream may leave untaken before it is cut.",
  clients:
    "Tokens whose handshake is remembered, and as many clients; beyond that the one that was not used for longest shakes hands again.",
  unansweredFrames: "Commands of one web socket that are not answered yet; more are not read until one is.",
  frameIds: "Frame ids that one web socket remembers, to carry out a repeated frame once.",
  badFrames: "Frames of one web socket that make no sense before it is closed (1008).",
};

export function httpPage(): string {
  // The document has exactly the paths that it was made from.
  const described = Object.keys(openApiDocument(routes, "").paths as object).length;
  return page([
    "# HTTP",
    GENERATED,
    "What `harness daemon run` serves on a Unix socket (mode 0600), on loopback ports and, over TLS, to other machines: REST with server-sent events, web sockets, " +
      "and a small surface of three routes. The [guide](../guide/control-plane.md) shows it with curl. " +
      `The same as OpenAPI 3.1, ${described} paths: \`GET /v1/openapi.json\`.`,
    "Every request carries its [capability token](../guide/pipe-and-tokens.md#tokens) in the header `X-Harness-Token`, also on the Unix " +
      "socket; only the two routes that ask for one need none, and they are on the Unix socket alone. `Host` must be `localhost` on the " +
      "socket, `localhost:PORT` or `127.0.0.1:PORT` on a port, and a name of the certificate over TLS; a request with an `Origin` is " +
      "refused unless that origin was allowed with `--allow-origin`, and so is its preflight. A page, which cannot set headers on a web " +
      "socket, offers the subprotocols `harness` and `harness.token.TOKEN` instead; the server chooses the first. A refusal is " +
      '`{"error": {"reason", "message"}}` with the status of its [reason](protocol.md#reasons). A disk that takes nothing is 507 with ' +
      "`StoreFailed`: nothing of the request was kept, and the same request works when there is room.",
    "An answer of 201, 202 or 204 to a command, and the `command` frame of a web socket, come when the log has what the command did, " +
      "synced to the disk: a crash after it loses nothing of it.  A cancel is " +
      "the exception. What each answer promises is in [reliability.md](../reliability.md#acknowledgements).",
    "Routes marked *handshake* are refused with `HandshakeRequired` until the token has asked for `/v1/handshake` once.",
    "A client is an attachment, not a token: two that use the same token are two clients, and the log tells them apart by the `originator` " +
      "of their turns and the `by` of their answers. A web socket is a client. Over REST the answer to the handshake names one in `client`; " +
      "requests and event streams that carry it in the header `X-Harness-Client` are that client, with the token that it was made with. One " +
      "that the server does not know, as after a restart, is refused with `HandshakeRequired`. A request without the header is a client " +
      "for itself alone.",
    "## Sessions",
    routeTable(routes.filter(({ path }) => path.startsWith("/v1/sessions"))),
    "## The server",
    routeTable(routes.filter(({ path }) => /^\/v1\/(?!sessions|auth\/)/.test(path))),
    "## Tokens",
    routeTable(routes.filter(({ path }) => path.startsWith("/v1/auth/"))),
    "`TokenRequired`: there is none. `TokenInvalid`: it was not made here, or too early. `TokenExpired`, `TokenRevoked`: it is over. " +
      "`TokenScope`: it does not cover this. `TooManyFailures`: after ten tokens or codes that were not right, a peer waits a minute; a token " +
      "that was good before is served all the same.",
    "## The small surface",
    "For front ends that want little: no handshake, no session id, plain events with a heartbeat comment.",
    routeTable(routes.filter(({ path }) => !path.startsWith("/v1/"))),
    "## Bodies and queries",
    ...routes.filter(({ query, body, headers }) => query ?? body ?? headers).flatMap(details),
    "## Event streams",
    "A frame is `id:` with the event's id, `event:` with its kind and `data:` with the event as it is in the log. A client that comes " +
      "back sends the last id it has seen and gets what followed, then what happens, each event once and in order. What a client does " +
      "not take in time is dropped for it alone: it is told by a `StreamGap` (without `id:`) which ids are missing, and gets them by " +
      "coming back with the id before them. Where content has passed its time, a resume begins with a `StreamGap` of reason `ttl` (with " +
      "`id:`), and what is still whole follows; what is left of the others is in the log. `event: error` with a reason is the last frame of a stream that the server ends.",
    "A stream that begins with the log does not wait until a stored session is open: the log is sent while the session opens. What keeps " +
      "it from opening after its first event was sent ends the stream with `event: error`.",
    "A `StreamGap` of reason `overflow`, `TokenExpiring`, `TokenRequested` and `TurnLost` are not in the log: they have no `id:`, and the `id` of the " +
      "event before them. A stream ends within a second of the revocation of its token, and a minute after the end of it.",
    "## Web socket",
    "`GET /v1/ws?session=ID&lastEventId=N`, both optional. Frames are JSON texts in both directions:",
    table(
      ["frame", "from", "body"],
      [
        ["`handshake`", "both", "The first frame. From the client `{protocol_version?}`; the answer is the handshake."],
        ["`command`", "client", "A command of the protocol. `id` beside `frame` is given back with the answer."],
        ["`command`", "server", "What the command came to: `{kind, session?, turn?, result?}`."],
        ["`event`", "server", "An event of a session that the connection is attached to."],
        ["`error`", "server", "`{reason, message}`, with the `id` of the frame that it answers."],
      ],
    ),
    "The token is checked for every frame; one that has ended refuses commands, and the connection stays for a minute. A frame whose `id` was used before is refused with `FrameRepeated` and not carried out again.",
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
