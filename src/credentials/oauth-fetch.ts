/**
 * The `fetch` that OAuth uses in the credential helper: to checked addresses, over TLS, with a bound on bytes and time, without a
 * redirect to another origin. After the first refusal it sends nothing more, and says why to whoever asks.
 */
import type { IncomingMessage } from "node:http";
import { EffectError } from "#base";
import { isPrivateByName, sendToAddress } from "#world/remote-request";

const MAX_ANSWER_BYTES = 256 * 1024;
const ANSWER_MS = 15_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const WITHOUT_BODY = new Set([101, 204, 205, 304]);
/** Metadata services of clouds outside the link-local range. */
const METADATA_ADDRESSES = new Set(["168.63.129.16", "100.100.100.200", "fd00:ec2::254"]);
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export interface OAuthFetch {
  readonly fetch: (address: string | URL, init?: RequestInit) => Promise<Response>;
  /** Why a request was refused or failed: the SDK takes some failures for "there is no such document". */
  fault(): EffectError | undefined;
}

export interface OAuthFetchOptions {
  /** The MCP server, as the user's entry names it. */
  readonly url: string;
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
  /** For one answer, body included. */
  readonly answerMs?: number;
}

export function createOAuthFetch(options: OAuthFetchOptions): OAuthFetch {
  let fault: EffectError | undefined;
  return {
    fault: () => fault,
    fetch: async (address, init = {}) => {
      if (fault !== undefined) throw fault;
      try {
        return await send(new URL(address), init, options);
      } catch (error) {
        if (error instanceof EffectError) fault = error;
        throw error;
      }
    },
  };
}

async function send(url: URL, init: RequestInit, options: OAuthFetchOptions): Promise<Response> {
  checkOAuthAddress(url);
  const { answerMs = ANSWER_MS } = options;
  const late = AbortSignal.timeout(answerMs);
  const incoming = await sendToAddress(
    {
      url,
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.body !== undefined && init.body !== null && { body: textOf(init.body) }),
      signal: options.signal,
      headTimeoutMs: answerMs,
    },
    { mayBePrivate: (at) => mayReach(url, at, options) },
  );
  const status = incoming.statusCode ?? 502;
  const location = incoming.headers.location;
  if (REDIRECTS.has(status) && location !== undefined) refuseForeign(url, location, incoming);
  const bytes = await readBounded(incoming, url, AbortSignal.any([late, options.signal]));
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, [value].flat().join(", "));
  return new Response(WITHOUT_BODY.has(status) ? null : bytes, { status, headers });
}

/** Throws for an address that neither a request nor a person's browser may be sent to. */
export function checkOAuthAddress(url: URL): void {
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
  if (isSafe && url.username === "" && url.password === "") return;
  throw new EffectError(
    "AddressRefused",
    `OAuth needs an https address without a login, and the server names ${url.protocol}//${url.host}`,
  );
}

/** Private addresses: those that the user's entry allows, and never one where a cloud hands out secrets. */
async function mayReach(url: URL, address: string, { url: server, mayBePrivate }: OAuthFetchOptions): Promise<boolean> {
  const { default: ipaddr } = await import("ipaddr.js");
  if (!ipaddr.isValid(address) || METADATA_ADDRESSES.has(address)) return false;
  const range = ipaddr.process(address).range();
  if (range === "linkLocal") return false;
  if (mayBePrivate) return true;
  const named = new URL(server);
  const areLoopback = range === "loopback" && LOOPBACK.test(named.hostname) && LOOPBACK.test(url.hostname);
  return areLoopback || (isPrivateByName(named) && named.hostname === url.hostname);
}

function refuseForeign(from: URL, location: string, incoming: IncomingMessage): void {
  const target = URL.parse(location, from.href);
  if (target?.origin === from.origin) return;
  incoming.destroy();
  const where = target === null ? "something that is not an address" : target.origin;
  throw new EffectError("AddressRefused", `${from.origin} redirects to another origin: ${where}`);
}

async function readBounded(
  incoming: IncomingMessage,
  { origin }: URL,
  stop: AbortSignal,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  const end = (): void => void incoming.destroy(new Error("stopped"));
  stop.addEventListener("abort", end, { once: true });
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) {
        throw new EffectError("TooLarge", `the answer of ${origin} is longer than ${MAX_ANSWER_BYTES} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof EffectError) throw error;
    if (stop.aborted) throw new EffectError("Timeout", `${origin} did not answer in time`);
    throw new EffectError("NetworkFailed", `the connection to ${origin} was cut`, { cause: error });
  } finally {
    stop.removeEventListener("abort", end);
    incoming.destroy();
  }
}

function textOf(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new Error("OAuth sends text only");
}
