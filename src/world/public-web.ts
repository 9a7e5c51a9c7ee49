/**
 * The one place that opens connections for tools: GET and POST of public http(s) addresses, and of those that a list of domains names.
 * Every hop is judged, resolved once, all its addresses are checked, and the connection goes to a checked address. It knows no
 * proxies and keeps no cookies or credentials.
 */
import type { IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import { type DomainList, EffectError, type WebPort, type WebPost, type WebRequest, type WebResponse } from "#base";
import { checkedAddresses, pinnedLookup, type Resolve, type ResolvedAddress } from "./checked-addresses.ts";
import { CONNECTION_HEADERS } from "./connection-headers.ts";
import { failureText, MAX_HEADER_BYTES } from "./network-failure.ts";
import { readBody } from "./response-body.ts";

const MAX_REDIRECTS = 5;
const MAX_URL_CHARS = 8 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Sent only where the caller says so. */
const CREDENTIAL_HEADERS = new Set(["authorization", "cookie"]);
/** Never sent, whoever asks: credentials for others, and what frames the request or names its target. */
const STRIPPED_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  "proxy-authorization",
  "x-harness-token",
  "host",
  "content-length",
]);

export interface PublicWebOptions {
  /** Asked at every hop, for lists change; absent or undefined: every host at a public address. */
  readonly domains?: () => DomainList | undefined;
  /** For tests only: lets these host names, or all, be at loopback and private addresses. */
  readonly allowPrivateHosts?: boolean | readonly string[];
  /** All addresses of a host name; the system's resolver by default. */
  readonly resolve?: Resolve;
  /** PEM certificates to trust instead of the built-in ones. */
  readonly certificateAuthorities?: readonly string[];
}

export function createPublicWeb(options: PublicWebOptions = {}): WebPort {
  return {
    get: (request, signal) => bounded("GET", request, options, signal),
    post: (request, signal) => bounded("POST", request, options, signal),
  };
}

type Method = "GET" | "POST";

async function bounded(
  method: Method,
  request: WebRequest | WebPost,
  options: PublicWebOptions,
  signal: AbortSignal,
): Promise<WebResponse> {
  const limit = AbortSignal.timeout(Math.min(request.timeoutMs, 2 ** 31 - 1));
  const stop = AbortSignal.any([signal, limit]);
  try {
    stop.throwIfAborted();
    return await follow(method, request, options, stop);
  } catch (error) {
    if (signal.aborted) throw new EffectError("Cancelled", `${method} ${request.url} was cancelled`, { cause: error });
    if (limit.aborted) {
      throw new EffectError("Timeout", `${method} ${request.url} took longer than ${request.timeoutMs} ms`, {
        cause: error,
      });
    }
    throw networkError(error, method, request.url);
  }
}

/** One hop: what is sent where. */
interface Hop {
  readonly url: URL;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

async function follow(
  method: Method,
  request: WebRequest | WebPost,
  options: PublicWebOptions,
  stop: AbortSignal,
): Promise<WebResponse> {
  const headers = allowedHeaders(request.headers ?? {}, request.credentials === true);
  let hop: Hop = { url: parseUrl(request.url), method, headers, body: "body" in request ? request.body : undefined };
  for (let hops = 0; ; hops++) {
    const addresses = await allowedAddresses(hop.url, options, stop);
    const response = await send(hop, addresses, options, stop);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (!REDIRECTS.has(status) || location === undefined) {
      const body = await readBody(response, request.maxBytes, stop);
      const contentType = response.headers["content-type"] ?? "";
      return { status, url: hop.url.href, contentType, headers: flatHeaders(response), ...body };
    }
    response.destroy();
    if (hops >= MAX_REDIRECTS) {
      throw new EffectError("TooManyRedirects", `${request.url} redirects more than ${MAX_REDIRECTS} times`);
    }
    const next = parseUrl(location, hop.url);
    await request.onHop?.(next.href);
    hop = nextHop(hop, next, status, request.otherHosts === true);
  }
}

function nextHop(hop: Hop, next: URL, status: number, otherHosts: boolean): Hop {
  const { url } = hop;
  const elsewhere = next.hostname !== url.hostname;
  if (elsewhere && !otherHosts) {
    // Another host is another decision: whoever judged this call has judged its host.
    throw new EffectError(
      "AddressRefused",
      `${url.href} redirects to another host, ${next.href}; fetch that address itself`,
    );
  }
  if (url.protocol === "https:" && next.protocol === "http:") {
    throw new EffectError("AddressRefused", `${url.href} redirects from https to plain ${next.href}`);
  }
  const keepsMethod = hop.method === "GET" || status === 307 || status === 308;
  if (elsewhere && keepsMethod && hop.method === "POST") {
    throw new EffectError(
      "AddressRefused",
      `${url.href} redirects a request with a body to another host, ${next.href}`,
    );
  }
  // What the caller added was meant for the host it named: another host or port gets none of it.
  const headers = next.origin === url.origin ? hop.headers : {};
  return keepsMethod ? { ...hop, url: next, headers } : { url: next, headers, method: "GET", body: undefined };
}

function flatHeaders(response: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

function parseUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_CHARS)
    throw new EffectError("InvalidUrl", `the URL is longer than ${MAX_URL_CHARS} characters`);
  const url = URL.parse(text, base?.href);
  if (url === null) throw new EffectError("InvalidUrl", `not a URL: ${text}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new EffectError("InvalidUrl", `only http and https URLs can be fetched, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new EffectError("InvalidUrl", `a URL that contains credentials cannot be fetched (${url.host})`);
  }
  url.hash = "";
  return url;
}

/** All addresses of the URL's host, every one of them checked. URL parsing has already undone odd spellings of IPv4. */
async function allowedAddresses(
  url: URL,
  { domains, allowPrivateHosts = false, resolve }: PublicWebOptions,
  stop: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const list = domains?.();
  const host = listedHost(url, list);
  const isTestHost = typeof allowPrivateHosts === "boolean" ? allowPrivateHosts : allowPrivateHosts.includes(host);
  return checkedAddresses(
    host,
    {
      ...(resolve && { resolve }),
      mayBePrivate: (address) => isTestHost || list?.namesAddress(address) === true,
    },
    stop,
  );
}

/** The host of a URL that the list, where there is one, lets pass. Throws an EffectError for any other. */
export function listedHost(url: URL, list: DomainList | undefined): string {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const refusal = list?.refusal(host);
  if (refusal !== undefined) throw new EffectError("SandboxRefused", `SandboxError: ${refusal}`);
  return host;
}

function send(
  { url, method, headers, body }: Hop,
  addresses: readonly ResolvedAddress[],
  options: PublicWebOptions,
  stop: AbortSignal,
): Promise<IncomingMessage> {
  const { Agent, request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const settings: RequestOptions = {
    method,
    // An agent of its own: the global one may be told by the environment to use a proxy, which would resolve again.
    agent: new Agent({ keepAlive: false }),
    headers: {
      accept: "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5",
      "user-agent": "harness",
      ...headers,
      "accept-encoding": "gzip, br, deflate",
      ...(body && { "content-length": String(body.length) }),
    },
    lookup: pinnedLookup(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    signal: stop,
    ...(options.certificateAuthorities && { ca: [...options.certificateAuthorities] }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, settings, (response) => {
      // Whoever reads the body is told as well; without a listener an early break would end the process.
      response.on("error", () => undefined);
      resolve(response);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function allowedHeaders(headers: Readonly<Record<string, string>>, credentials: boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.trim().toLowerCase();
    if (STRIPPED_HEADERS.has(lower) || (CREDENTIAL_HEADERS.has(lower) && !credentials)) continue;
    kept[lower] = value;
  }
  return kept;
}

function networkError(error: unknown, method: Method, url: string): EffectError {
  if (error instanceof EffectError) return error;
  return new EffectError("NetworkFailed", `${method} ${url} failed: ${failureText(error)}`, { cause: error });
}
