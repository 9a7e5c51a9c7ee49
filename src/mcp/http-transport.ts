/**
 * Servers on the network: the SDK's transports over a `fetch` that is handed in, with a bound on what an answer may bring, how long it
 * may take and where it may redirect to.
 */
import type { Transport } from "@modelcontextprotocol/client";
import type { McpConnection, McpServer } from "#artifacts";
import { type Clock, EffectError, isRecord } from "#base";
import { type Deadline, startDeadline } from "./deadline.ts";
import type { McpWorld } from "./mcp-world.ts";
import type { OpenTransport } from "./open-transport.ts";
import { loadSdk } from "./sdk.ts";
import { MAX_ASKING_MS } from "./server-questions.ts";
import { MAX_MESSAGE_BYTES, TOO_LARGE_CODE, UNREADABLE_CODE } from "./stdio-transport.ts";

/** What one request may bring as a stream: notifications and the answer together. */
const MAX_STREAM_BYTES = 4 * MAX_MESSAGE_BYTES;
/** An answer that is still under way this long after the time limit of its call is cut off. */
const ANSWER_GRACE_MS = 5_000;
const MIN_ANSWER_MS = 30_000;
const TOO_LARGE = { code: TOO_LARGE_CODE, message: `the answer is longer than ${MAX_MESSAGE_BYTES} bytes` };
const NOT_UTF8 = { code: UNREADABLE_CODE, message: "the answer is not valid UTF-8" };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** A server that is reached over the network. */
export type NetworkServer = McpServer & { readonly connection: Exclude<McpConnection, { readonly kind: "stdio" }> };

export async function createHttpTransport(
  server: NetworkServer,
  world: Pick<McpWorld, "fetch">,
  clock: Clock,
): Promise<OpenTransport> {
  const { kind, url, headers } = server.connection;
  const { StreamableHTTPClientTransport, SSEClientTransport } = await loadSdk();
  let fault: EffectError | undefined;
  const send = boundedFetch(server, world.fetch, clock);
  const options = {
    fetch: async (address: string | URL, init?: RequestInit) => {
      try {
        return await send(address, init);
      } catch (error) {
        if (error instanceof EffectError) fault = error;
        throw error;
      }
    },
    requestInit: { headers: { ...headers } },
  };
  const address = new URL(url);
  const transport: Transport =
    kind === "http" ? new StreamableHTTPClientTransport(address, options) : new SSEClientTransport(address, options);
  const over = Promise.withResolvers<string>();
  let reason: string | undefined;
  const finish = (why: string): void => {
    reason ??= why;
    over.resolve(reason);
  };
  transport.onclose = () => finish("the connection was closed");
  return {
    transport,
    closed: over.promise,
    reason: () => reason,
    fault: () => fault,
    kill(why) {
      finish(why);
      transport.close().catch(() => undefined); // it is over either way
    },
  };
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

function boundedFetch(server: NetworkServer, send: McpWorld["fetch"], clock: Clock): Fetch {
  const limitMs = Math.max(MIN_ANSWER_MS, server.toolTimeoutMs) + ANSWER_GRACE_MS;
  return async (url, init) => {
    const { id, isLasting, mayAsk } = aboutRequest(init);
    const around = init?.signal ?? new AbortController().signal;
    const deadline = isLasting ? undefined : startDeadline(clock, limitMs + (mayAsk ? MAX_ASKING_MS : 0), around);
    const signal = deadline?.signal ?? around;
    try {
      const response = await send(url, { ...init, signal }, server);
      refuseForeignRedirect(url, response);
      if (response.body === null) {
        deadline?.clear();
        return response;
      }
      const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
      const bound = isStream ? boundStream(id, deadline) : boundBody(deadline);
      return new Response(response.body.pipeThrough(bound), response);
    } catch (error) {
      deadline?.clear();
      if (deadline?.isOver() === true) throw new EffectError("Timeout", "the MCP server did not answer in time");
      throw error;
    }
  };
}

/** One within the origin is followed by the SDK; its headers, and what is asked, are for no other. */
function refuseForeignRedirect(from: string | URL, { status, headers }: Response): void {
  const location = headers.get("location");
  if (!REDIRECTS.has(status) || location === null) return;
  const target = URL.parse(location, String(from));
  if (target?.origin === new URL(from).origin) return;
  const where = target === null ? "something that is not an address" : target.origin;
  throw new EffectError("AddressRefused", `${new URL(from).origin} redirects to another origin: ${where}`);
}

function boundBody(deadline: Deadline | undefined): TransformStream<Uint8Array, Uint8Array> {
  const isText = createTextCheck();
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new EffectError("TooLarge", TOO_LARGE.message));
      else if (!isText(chunk)) controller.error(new EffectError("NetworkFailed", NOT_UTF8.message));
      else controller.enqueue(chunk);
    },
    flush: () => deadline?.clear(),
    cancel: () => deadline?.clear(),
  });
}

/** Whoever waits for an answer that cannot be used gets an error in its place; a stream without a request is cut off. */
function boundStream(
  id: string | number | undefined,
  deadline: Deadline | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  const isText = createTextCheck();
  let bytes = 0;
  let messageBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = lastMessageEnd(chunk);
      bytes = id === undefined ? 0 : bytes + chunk.length;
      messageBytes = end === undefined ? messageBytes + chunk.length : chunk.length - end;
      const isSmall = messageBytes <= MAX_MESSAGE_BYTES && bytes <= MAX_STREAM_BYTES;
      const error = isSmall ? (isText(chunk) ? undefined : NOT_UTF8) : TOO_LARGE;
      if (error === undefined) {
        controller.enqueue(chunk);
        return;
      }
      const message = JSON.stringify({ jsonrpc: "2.0", id, error });
      if (id !== undefined) controller.enqueue(Buffer.from(`\n\nevent: message\ndata: ${message}\n\n`));
      deadline?.clear();
      controller.terminate();
    },
    flush: () => deadline?.clear(),
    cancel: () => deadline?.clear(),
  });
}

/** Whether all that came so far is UTF-8, also where a character is cut by the border of two chunks. */
function createTextCheck(): (chunk: Uint8Array) => boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (chunk) => {
    try {
      decoder.decode(chunk, { stream: true });
      return true;
    } catch {
      return false; // the one thing that it throws for
    }
  };
}

/** Behind the last empty line; one that two chunks share is found with the next. */
function lastMessageEnd(chunk: Uint8Array): number | undefined {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const ends = ["\n\n", "\r\n\r\n", "\r\r"].flatMap((blank) => {
    const at = text.lastIndexOf(blank);
    return at < 0 ? [] : [at + blank.length];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}

interface AboutRequest {
  /** Of the request that waits for an answer. */
  readonly id: string | number | undefined;
  /** A stream that stays open as long as the connection. */
  readonly isLasting: boolean;
  /** The server may ask people before it answers. */
  readonly mayAsk: boolean;
}

function aboutRequest(init: RequestInit | undefined): AboutRequest {
  const none = { id: undefined, mayAsk: false };
  if (typeof init?.body !== "string") return { ...none, isLasting: true };
  // The SDK writes it.
  const message: unknown = JSON.parse(init.body);
  if (!isRecord(message) || !("method" in message)) return { ...none, isLasting: false };
  if (message.method === "subscriptions/listen") return { ...none, isLasting: true };
  const { id, method } = message;
  const mayAsk = method === "tools/call" || method === "resources/read";
  return { id: typeof id === "string" || typeof id === "number" ? id : undefined, isLasting: false, mayAsk };
}
