/** Servers on the network: the SDK's transports over a `fetch` that is handed in, with a bound on what an answer may bring. */
import type { Transport } from "@modelcontextprotocol/client";
import type { McpConnection } from "#artifacts";
import { EffectError, isRecord } from "#base";
import type { McpWorld } from "./mcp-world.ts";
import type { OpenTransport } from "./open-transport.ts";
import { loadSdk } from "./sdk.ts";
import { MAX_MESSAGE_BYTES, TOO_LARGE_CODE } from "./stdio-transport.ts";

/** What one request may bring as a stream: notifications and the answer together. */
const MAX_STREAM_BYTES = 4 * MAX_MESSAGE_BYTES;
const TOO_LARGE = `the answer is longer than ${MAX_MESSAGE_BYTES} bytes`;

export async function createHttpTransport(
  { kind, url, headers }: Extract<McpConnection, { readonly kind: "http" | "sse" }>,
  world: Pick<McpWorld, "fetch">,
): Promise<OpenTransport> {
  const { StreamableHTTPClientTransport, SSEClientTransport } = await loadSdk();
  // Redirects that leave the origin are refused by the transports themselves.
  const options = { fetch: boundedFetch(world.fetch), requestInit: { headers: { ...headers } } };
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
    kill(why) {
      finish(why);
      transport.close().catch(() => undefined); // it is over either way
    },
  };
}

function boundedFetch(send: McpWorld["fetch"]): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const bound = isStream ? boundStream(requestId(init)) : boundBody();
    return new Response(response.body.pipeThrough(bound), response);
  };
}

function boundBody(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new EffectError("TooLarge", TOO_LARGE));
      else controller.enqueue(chunk);
    },
  });
}

/** Whoever waits for an answer that is too long gets an error in its place; a stream without a request is cut off. */
function boundStream(id: string | number | undefined): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let messageBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = lastMessageEnd(chunk);
      bytes = id === undefined ? 0 : bytes + chunk.length;
      messageBytes = end === undefined ? messageBytes + chunk.length : chunk.length - end;
      if (messageBytes <= MAX_MESSAGE_BYTES && bytes <= MAX_STREAM_BYTES) {
        controller.enqueue(chunk);
        return;
      }
      const error = { jsonrpc: "2.0", id, error: { code: TOO_LARGE_CODE, message: TOO_LARGE } };
      if (id !== undefined) controller.enqueue(Buffer.from(`\n\nevent: message\ndata: ${JSON.stringify(error)}\n\n`));
      controller.terminate();
    },
  });
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

function requestId(init: RequestInit | undefined): string | number | undefined {
  if (typeof init?.body !== "string") return undefined;
  // The SDK writes it.
  const message: unknown = JSON.parse(init.body);
  const id = isRecord(message) && "method" in message ? message.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
