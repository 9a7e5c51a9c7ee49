/**
 * One connection to one server: handshake in the era that the server speaks, its tools, calls. It ends when the server does and
 * is never brought back; whoever supervises the server makes another one.
 */
import type { Client, JsonSchemaValidator, StandardSchemaV1 } from "@modelcontextprotocol/client";
import type { McpServer } from "#artifacts";
import { type Clock, isRecord, messageOf } from "#base";
import { untilAborted } from "./deadline.ts";
import { createHttpTransport } from "./http-transport.ts";
import type { McpLog, McpWorld } from "./mcp-world.ts";
import type { OpenTransport } from "./open-transport.ts";
import { loadSdk } from "./sdk.ts";
import { createServerLog, type ServerLog } from "./server-log.ts";
import { createStdioTransport } from "./stdio-transport.ts";
import { type ListedTool, readTools } from "./tool-list.ts";

/** A silent server gets the older handshake after this long. */
const PROBE_TIMEOUT_MS = 2_000;
/** The SDK's own timers must not come first: the clock of the program decides. */
const SDK_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_PAGES = 1_000;

export type Era = "legacy" | "modern";

export interface Connection {
  readonly client: Client;
  readonly era: Era;
  readonly protocolVersion: string;
  /** Resolves to the reason when it is over. */
  readonly closed: Promise<string>;
  listTools(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /** Lets a server end by itself first. */
  close(): Promise<void>;
  kill(reason: string): void;
}

export interface ConnectOptions {
  readonly server: McpServer;
  readonly world: McpWorld;
  readonly clock: Clock;
  readonly log: McpLog;
  /** The era that this server spoke the last time. */
  readonly era: Era | undefined;
  readonly onToolsChanged: () => void;
}

/** Rejects with what went wrong; nothing of the attempt is left behind. */
export async function connectServer(options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const log = createServerLog(options.server.name, options.log, options.clock);
  try {
    return await attempt(options, log, options.era, signal);
  } catch (error) {
    // Some servers exit at a request that they do not know: such a one is started again without it.
    if (signal.aborted || options.era === "legacy" || codeOf(error) !== "ERA_NEGOTIATION_FAILED") throw error;
    return await attempt(options, log, "legacy", signal);
  }
}

async function attempt(
  options: ConnectOptions,
  log: ServerLog,
  era: Era | undefined,
  signal: AbortSignal,
): Promise<Connection> {
  const { Client } = await loadSdk();
  const { transport, closed, reason, kill } = await openTransport(options, log);
  const client = new Client(
    { name: "harness", version: "1" },
    {
      capabilities: {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_TIMEOUT_MS } },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: options.onToolsChanged } },
      // The SDK would check output with the regular expressions of V8; schemas of others are checked in a worker.
      jsonSchemaValidator: { getValidator: acceptAll },
    },
  );
  client.onerror = (error) => log.line("warn", messageOf(error));
  client.setNotificationHandler("notifications/message", ({ params: { data } }) => {
    log.line("debug", typeof data === "string" ? data : String(JSON.stringify(data)));
  });
  const onAbort = () => kill("it did not answer in time");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const prior = era === "legacy" ? { prior: { kind: "legacy" } as const } : {};
    await untilAborted(client.connect(transport, { timeout: SDK_TIMEOUT_MS, signal, ...prior }), signal);
  } catch (error) {
    const why = reason();
    kill("it could not be connected");
    // The SDK knows only that the connection is gone.
    throw codeOf(error) === "CONNECTION_CLOSED" && why !== undefined ? new Error(why, { cause: error }) : error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  return {
    client,
    era: client.getProtocolEra() ?? "legacy",
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    closed,
    listTools: (listSignal) => listTools(client, listSignal, log),
    close: () => client.close(),
    kill,
  };
}

async function openTransport({ server, world, clock }: ConnectOptions, log: ServerLog): Promise<OpenTransport> {
  const { connection } = server;
  if (connection.kind !== "stdio") return createHttpTransport(connection, world);
  return createStdioTransport({ ...server, connection }, world, clock, log);
}

async function listTools(client: Client, signal: AbortSignal, log: ServerLog): Promise<readonly ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const read = readTools((text) => log.line("warn", text));
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: "tools/list", params };
    const { tools, nextCursor } = await client.request(request, anyPage, { signal, timeout: SDK_TIMEOUT_MS });
    if (!Array.isArray(tools)) throw new Error("its list of tools is not a list");
    const isFull = !read.add(tools);
    if (isFull || typeof nextCursor !== "string" || nextCursor === cursor) return read.tools();
    cursor = nextCursor;
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
}

/** Pages are read tool by tool: the SDK would refuse the whole list for one tool that is not as it should be. */
const anyPage: StandardSchemaV1<unknown, Readonly<Record<string, unknown>>> = {
  "~standard": {
    version: 1,
    vendor: "harness",
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: "not an object" }] }),
  },
};

/** The codes of the SDK's own errors are words, those of JSON-RPC are numbers. */
export function codeOf(error: unknown): string | number | undefined {
  const code = isRecord(error) || error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" || typeof code === "number" ? code : undefined;
}

function acceptAll<Data>(): JsonSchemaValidator<Data> {
  // The SDK asks for a type that only its caller knows.
  return (input) => ({ valid: true, data: input as Data, errorMessage: undefined });
}
