/**
 * Requests to MCP servers on the network: to the origin that the entry names, within the session's list of hosts, on the record, and
 * with secrets that somebody else adds. A redirect is not followed here.
 */
import type { IncomingMessage } from "node:http";
import type { McpConnection, McpServer } from "#artifacts";
import { type Clock, type DomainList, defined, EffectError, type EffectReason } from "#base";
import type { CredentialPort, EventBus } from "#engine";
import { isPrivateByName, listedHost, type RemoteRequest, sendThroughSocket, sendToAddress } from "#world";

/** From the start of a request to the head of its answer; a call that answers late keeps its stream open instead. */
const HEAD_TIMEOUT_MS = 24 * 60 * 60 * 1000;
const HELPER_REFUSED = "x-harness-refused";
const HELPER_CUT = "x-harness-cut";
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface RemoteServers {
  readonly fetch: (url: string | URL, init: RequestInit | undefined, server: McpServer) => Promise<Response>;
  /** Records the end of what was opened. */
  close(): Promise<void>;
}

export interface RemoteServersOptions {
  readonly credentials: Pick<CredentialPort, "reach" | "route">;
  readonly domains: () => DomainList | undefined;
  readonly clock: Clock;
  readonly bus: () => EventBus | undefined;
}

interface OpenServer {
  readonly connection: number;
  readonly host: string;
  readonly port: number;
  readonly openedMs: number;
  sent: number;
  received: number;
}

export function createRemoteServers(options: RemoteServersOptions): RemoteServers {
  const { clock } = options;
  const opened = new Map<string, OpenServer>();
  let connections = 0;

  async function refused(url: URL, why: string): Promise<void> {
    connections += 1;
    const entry = { connection: connections, host: url.hostname, port: portOf(url), state: "refused" as const, why };
    await options.bus()?.publish("NetworkConnection", entry);
  }

  /** One record for a server: it is on the log before the first request goes out. */
  async function record(name: string, url: URL): Promise<OpenServer> {
    const known = opened.get(name);
    if (known !== undefined) return known;
    connections += 1;
    const made: OpenServer = {
      ...{ connection: connections, host: url.hostname, port: portOf(url) },
      ...{ openedMs: clock.monotonicMs(), sent: 0, received: 0 },
    };
    opened.set(name, made);
    const { connection, host, port } = made;
    await options.bus()?.publish("NetworkConnection", { connection, host, port, state: "opened" });
    return made;
  }

  async function send(request: RemoteRequest, name: string, connection: RemoteConnection): Promise<IncomingMessage> {
    const credential = options.credentials.reach({
      name,
      url: connection.url,
      headers: secretHeaders(connection),
      mayBePrivate: connection.mayBePrivate === true,
      usesLogin: !hasOwnToken(connection),
    });
    if ("missing" in credential) {
      const detail = `the variable ${credential.missing}, which its entry in config.toml names, is not set`;
      throw new EffectError("ServerUnavailable", `the MCP server '${name}' is not available: ${detail}`);
    }
    const route = await options.credentials.route(credential, request.url);
    switch (route.type) {
      case "refused":
        throw new EffectError("ServerUnavailable", `the MCP server '${name}' is not available: ${route.message}`);
      case "socket":
        return answeredByHelper(await sendThroughSocket(request, route));
      case "held": {
        const mayBePrivate = () => connection.mayBePrivate === true || isPrivateByName(new URL(connection.url));
        return sendToAddress({ ...request, headers: { ...request.headers, ...route.headers } }, { mayBePrivate });
      }
    }
  }

  return {
    fetch: async (address, init, { name, connection }) => {
      if (connection.kind === "stdio") throw new Error(`${name} is not on the network`);
      const url = new URL(address);
      try {
        if (url.origin !== new URL(connection.url).origin) {
          throw new EffectError("AddressRefused", `${url.origin} is not the origin of the MCP server '${name}'`);
        }
        listedHost(url, options.domains());
        const request = requestOf(url, init);
        const entry = await record(name, url);
        entry.sent += Buffer.byteLength(request.body ?? "");
        const incoming = await send(request, name, connection);
        return toResponse(incoming, (bytes) => {
          entry.received += bytes;
        });
      } catch (error) {
        if (error instanceof EffectError && REFUSALS.has(error.reason)) await refused(url, error.message);
        throw error;
      }
    },
    async close() {
      for (const { connection, host, port, openedMs, sent, received } of opened.values()) {
        const counts = { bytes_sent: sent, bytes_received: received };
        const duration_ms = Math.round(clock.monotonicMs() - openedMs);
        const entry = { connection, host, port, state: "closed" as const, ...counts, ...defined({ duration_ms }) };
        await options.bus()?.publish("NetworkConnection", entry);
      }
      opened.clear();
    },
  };
}

type RemoteConnection = Exclude<McpConnection, { readonly kind: "stdio" }>;

const REFUSALS = new Set<EffectReason>(["AddressRefused", "SandboxRefused"]);

/** Its entry names what is sent as `Authorization`. */
export function hasOwnToken({ headers, envHeaders = {}, bearerVariable }: RemoteConnection): boolean {
  const names = [...Object.keys(headers), ...Object.keys(envHeaders)];
  return bearerVariable !== undefined || names.some((name) => name.toLowerCase() === "authorization");
}

function secretHeaders({ envHeaders = {}, bearerVariable }: RemoteConnection) {
  const headers = Object.entries(envHeaders).map(([name, variable]) => [name, { variable, prefix: "" }] as const);
  const bearer = bearerVariable === undefined ? {} : { authorization: { variable: bearerVariable, prefix: "Bearer " } };
  return { ...Object.fromEntries(headers), ...bearer };
}

function requestOf(url: URL, init: RequestInit = {}): RemoteRequest & { readonly body?: string } {
  const { body } = init;
  if (body !== undefined && body !== null && typeof body !== "string") throw new Error("only text is sent to servers");
  return {
    url,
    method: init.method ?? "GET",
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof body === "string" && { body }),
    signal: init.signal ?? new AbortController().signal,
    headTimeoutMs: HEAD_TIMEOUT_MS,
  };
}

/** Rejects with what the helper refused, in its words. */
async function answeredByHelper(incoming: IncomingMessage): Promise<IncomingMessage> {
  const reason = incoming.headers[HELPER_REFUSED];
  if (reason === undefined) return incoming;
  const words: Buffer[] = await incoming.toArray();
  const message = Buffer.concat(words).toString("utf8") || `the credential helper refused: ${String(reason)}`;
  // Written by our own helper, with the names of this program's reasons.
  throw new EffectError(reason as EffectReason, message);
}

function toResponse(incoming: IncomingMessage, onBytes: (bytes: number) => void): Response {
  const status = incoming.statusCode ?? 502;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, [value].flat().join(", "));
  }
  if (WITHOUT_BODY.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  return new Response(ReadableStream.from(bodyOf(incoming, onBytes)), { status, headers });
}

async function* bodyOf(incoming: IncomingMessage, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      onBytes(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw new EffectError("NetworkFailed", "the connection to the MCP server was cut", { cause: error });
  }
  if (incoming.trailers[HELPER_CUT] !== undefined) {
    throw new EffectError("NetworkFailed", "the connection to the MCP server was cut");
  }
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
