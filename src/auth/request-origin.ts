/**
 * Where an HTTP request says that it comes from and goes to, judged on the raw header lines and the raw target: a browser that was led
 * here by a name of somebody else's (DNS rebinding), or by a page of somebody else's, is refused. Pure; for every HTTP transport.
 */
import { ReasonError, tokensInProtocols } from "#protocol";

export interface OriginRules {
  /** Host headers that are this server, port included: see `loopbackHosts`. */
  readonly hosts: readonly string[];
  /** Origins of pages that may send requests, as browsers write them: `https://app.example.com`. */
  readonly origins: readonly string[];
}

export interface RawRequest {
  readonly method: string;
  /** As it stood in the request line. */
  readonly target: string;
  /** Names and values in turn, as they came: `rawHeaders` of Node. */
  readonly rawHeaders: readonly string[];
}

/** The Host of a Unix socket names nothing; clients send this one. */
export const UNIX_HOSTS = ["localhost"] as const;

/** What a server on this loopback port is called; `address` is what it listens on. */
export function loopbackHosts(port: number, address = "127.0.0.1"): readonly string[] {
  return [...new Set(["localhost", "127.0.0.1", address])].map((name) => hostHeader(name, port));
}

/** A name or an address as it stands in a Host header. */
export function hostHeader(name: string, port: number): string {
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/**
 * The origin of a listed page; undefined for what is no page. Throws HostRefused or OriginRefused. For every request, preflights
 * included, before anything else.
 */
export function checkOrigin(request: RawRequest, rules: OriginRules): string | undefined {
  // A target with a host of its own would beat the Host header; `*` and `host:port` are not for us.
  if (!/^\/(?!\/)/.test(request.target) || /[\s\\#]/.test(request.target))
    throw new ReasonError("HostRefused", "the target is not a path");
  const hosts = headerValues(request, "host");
  const [host] = hosts;
  if (host === undefined || hosts.length > 1)
    throw new ReasonError("HostRefused", `there are ${hosts.length} Host headers`);
  if (!rules.hosts.some((known) => sameText(known, host)))
    throw new ReasonError("HostRefused", `Host is '${host.slice(0, 100)}'`);
  const origins = headerValues(request, "origin");
  const [origin] = origins;
  if (origin === undefined) return undefined;
  if (origins.length > 1 || !isListed(origin, rules)) {
    throw new ReasonError("OriginRefused", { origin: origins.join(", ").slice(0, 100) });
  }
  return origin;
}

const PREFLIGHT_HEADERS = ["content-type", "last-event-id", "x-harness-client", "x-harness-token"] as const;
const PREFLIGHT_METHODS = ["GET", "POST", "DELETE"] as const;
const PREFLIGHT_SECONDS = 600;

/**
 * The headers that answer a preflight, after `checkOrigin`; undefined when it is none. Throws OriginRefused for one that asks for more
 * than there is: the browser then sends nothing.
 */
export function preflightAnswer(request: RawRequest, rules: OriginRules): Readonly<Record<string, string>> | undefined {
  const [method, ...otherMethods] = headerValues(request, "access-control-request-method");
  if (request.method !== "OPTIONS" || method === undefined) return undefined;
  const [origin] = headerValues(request, "origin");
  const wanted = headerValues(request, "access-control-request-headers")
    .flatMap((line) => line.split(","))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  const isAllowed =
    origin !== undefined &&
    isListed(origin, rules) &&
    otherMethods.length === 0 &&
    PREFLIGHT_METHODS.some((known) => known === method) &&
    wanted.every((name) => PREFLIGHT_HEADERS.some((known) => known === name));
  if (!isAllowed) throw new ReasonError("OriginRefused", { origin: (origin ?? "none").slice(0, 100) });
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": PREFLIGHT_METHODS.join(", "),
    "access-control-allow-headers": PREFLIGHT_HEADERS.join(", "),
    "access-control-max-age": String(PREFLIGHT_SECONDS),
    vary: "Origin",
  };
}

/**
 * The token of a request: `X-Harness-Token`, which a browser cannot send to another origin without a preflight. `bearer` also takes
 * `Authorization: Bearer`, for clients that know nothing else. On a web socket, where a page can set no header, it may be a
 * subprotocol; whether the page may connect at all is for `checkOrigin`. Undefined when there is none; throws TokenInvalid when there are two.
 */
export function presentedToken(request: RawRequest, options: { readonly bearer: boolean }): string | undefined {
  const own = headerValues(request, "x-harness-token");
  const bearer = options.bearer
    ? headerValues(request, "authorization").map((value) => /^Bearer +(\S+)$/i.exec(value)?.[1] ?? "")
    : [];
  const offered = headerValues(request, "sec-websocket-protocol").flatMap(tokensInProtocols);
  const given = [...own, ...bearer, ...offered];
  if (given.length > 1) throw new ReasonError("TokenInvalid", "the request carries more than one");
  return given[0];
}

function headerValues({ rawHeaders }: RawRequest, name: string): string[] {
  return rawHeaders.flatMap((header, at) => {
    return at % 2 === 0 && header.toLowerCase() === name ? [(rawHeaders[at + 1] ?? "").trim()] : [];
  });
}

function isListed(origin: string, { origins }: OriginRules): boolean {
  return origin !== "null" && origins.some((known) => sameText(known, origin));
}

/** Names of hosts and schemes have no case. */
function sameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
