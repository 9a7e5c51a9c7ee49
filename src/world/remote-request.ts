/**
 * One HTTP request to a server that the user's own configuration names: to checked addresses, or through a socket of this program. It
 * follows no redirect, knows no proxies, and asks for no compression, so that what arrives can be counted.
 */
import type { Agent, IncomingMessage } from "node:http";
import type { RequestOptions } from "node:https";
import { EffectError } from "#base";
import { type AddressRules, checkedAddresses, pinnedLookup } from "./checked-addresses.ts";
import { CONNECTION_HEADERS } from "./connection-headers.ts";
import { failureText, MAX_HEADER_BYTES } from "./network-failure.ts";

/** Ours to set, whoever asks. */
const OWN_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  "host",
  "content-length",
  "accept-encoding",
  "proxy-authorization",
]);

export interface RemoteRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Ends the request, and the response as long as it is read. */
  readonly signal: AbortSignal;
  /** From the start to the head of the response. */
  readonly headTimeoutMs: number;
}

/** Resolves with the head; rejects with an `EffectError` (`AddressRefused`, `NetworkFailed`, `Timeout`, `Cancelled`). */
export async function sendToAddress(
  request: RemoteRequest,
  rules: AddressRules,
  agent?: Agent,
): Promise<IncomingMessage> {
  return inTime(request, async (stop) => {
    const host = request.url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    const addresses = await checkedAddresses(host, rules, stop);
    return exchange(request, { lookup: pinnedLookup(addresses), ...(agent && { agent }) }, stop);
  });
}

/** The same through a socket of this program, whose other end sends it. */
export async function sendThroughSocket(
  request: RemoteRequest,
  route: { readonly socketPath: string; readonly headers: Readonly<Record<string, string>> },
): Promise<IncomingMessage> {
  const { socketPath, headers } = route;
  const inner = { ...request, url: new URL("http://127.0.0.1/"), headers: { ...request.headers, ...headers } };
  return inTime(request, (stop) => exchange(inner, { socketPath }, stop));
}

/** A host that names this machine or a private address as it is written, so that no resolver has a say in it. */
export function isPrivateByName(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || host.endsWith(".localhost") || process.getBuiltinModule("node:net").isIP(host) !== 0;
}

async function inTime(
  { url, method, signal, headTimeoutMs }: RemoteRequest,
  send: (stop: AbortSignal) => Promise<IncomingMessage>,
): Promise<IncomingMessage> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), headTimeoutMs);
  const what = `${method} ${url.origin}${url.pathname}`;
  try {
    signal.throwIfAborted();
    return await send(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (signal.aborted) throw new EffectError("Cancelled", `${what} was cancelled`, { cause: error });
    if (late.signal.aborted) {
      throw new EffectError("Timeout", `${what} was not answered within ${headTimeoutMs} ms`, { cause: error });
    }
    if (error instanceof EffectError) throw error;
    throw new EffectError("NetworkFailed", `${what} failed: ${failureText(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function exchange(
  { url, method, headers, body }: RemoteRequest,
  way: Pick<RequestOptions, "lookup" | "socketPath" | "agent">,
  stop: AbortSignal,
): Promise<IncomingMessage> {
  const { request, Agent: OwnAgent } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.trim().toLowerCase()));
  const bytes = body === undefined ? undefined : Buffer.from(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        // An agent of its own: the global one may be told by the environment to use a proxy, which would resolve again.
        agent: new OwnAgent({ keepAlive: false }),
        headers: {
          "user-agent": "harness",
          ...Object.fromEntries(kept),
          "accept-encoding": "identity",
          ...(bytes && { "content-length": String(bytes.length) }),
        },
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: stop,
        ...way,
      },
      (response) => {
        // Whoever reads the body is told as well; without a listener an early break would end the process.
        response.on("error", () => undefined);
        resolve(response);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(bytes);
  });
}
