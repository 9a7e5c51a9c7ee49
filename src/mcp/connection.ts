/**
 * One connection to one server: handshake in the era that the server speaks, its tools, calls. It ends when the server does and
 * is never brought back; whoever supervises the server makes another one.
 */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type {
  Client,
  ClientCapabilities,
  CreateMessageResult,
  ElicitResult,
  JsonSchemaValidator,
  ListRootsResult,
  ProtocolError,
} from "@modelcontextprotocol/client";
import type { McpServer } from "#artifacts";
import { type Clock, isRecord, messageOf, type ServerAsk, type ServerPrompt, type ServerResource } from "#base";
import { untilAborted } from "./deadline.ts";
import { headerFault } from "./header-declarations.ts";
import { createHttpTransport } from "./http-transport.ts";
import { readPages, SDK_TIMEOUT_MS } from "./list-pages.ts";
import type { McpLog, McpWorld } from "./mcp-world.ts";
import type { OpenTransport } from "./open-transport.ts";
import { readPrompts } from "./prompt-list.ts";
import { readResources } from "./resource-list.ts";
import { createSubscriptions } from "./resource-subscriptions.ts";
import { loadSdk } from "./sdk.ts";
import { createServerLog, type ServerLog } from "./server-log.ts";
import { createRunningRequests, type RunningRequests } from "./server-questions.ts";
import { createStdioTransport } from "./stdio-transport.ts";
import { type ListedTool, readTools } from "./tool-list.ts";

/** A silent server gets the older handshake after this long. */
const PROBE_TIMEOUT_MS = 2_000;
/** On the network silence is slowness: there is no older handshake after it, and a login may be refreshed meanwhile. */
const NETWORK_PROBE_TIMEOUT_MS = 25_000;
const METHOD_NOT_FOUND = -32_601;
const INVALID_REQUEST = -32_600;

export type Era = "legacy" | "modern";

export interface Connection {
  readonly client: Client;
  readonly era: Era;
  readonly protocolVersion: string;
  /** Resolves to the reason when it is over. */
  readonly closed: Promise<string>;
  /** Requests that are under way; in the older era a server asks beside them. */
  readonly requests: RunningRequests;
  readonly roots: () => ListRootsResult;
  listTools(signal: AbortSignal): Promise<readonly ListedTool[]>;
  listResources(signal: AbortSignal): Promise<readonly ServerResource[]>;
  /** Empty where the server offers none. */
  listPrompts(signal: AbortSignal): Promise<readonly ServerPrompt[]>;
  /** From now on `onResourceUpdated` is told when the resource changes. Nothing where the server does not offer that. */
  subscribe(uri: string): Promise<void>;
  /** Lets a server end by itself first. */
  close(): Promise<void>;
  kill(reason: string): void;
}

export interface ConnectOptions {
  readonly server: McpServer;
  readonly world: McpWorld;
  readonly clock: Clock;
  readonly log: McpLog;
  /** The workspace; absent where there is none. */
  readonly root?: string;
  /** The era that this server spoke the last time. */
  readonly era: Era | undefined;
  readonly onToolsChanged: () => void;
  readonly onPromptsChanged: () => void;
  readonly onResourceUpdated: (uri: string) => void;
  /** Aborts when the program ends. */
  readonly hurry?: AbortSignal;
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
  const { Client, ProtocolError } = await loadSdk();
  const { transport, closed, reason, fault, kill } = await openTransport(options, log);
  const isProgram = options.server.connection.kind === "stdio";
  const client = createClient(Client, options);
  const requests = createRunningRequests();
  const roots = () => rootsOf(options);
  answerRequests(client, options, { ProtocolError, requests, roots });
  client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => {
    options.onResourceUpdated(uri);
  });
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
    const known = signal.aborted ? undefined : fault?.();
    if (known !== undefined) throw known;
    // The SDK knows only that the connection is gone.
    if (codeOf(error) === "CONNECTION_CLOSED" && why !== undefined) throw new Error(why, { cause: error });
    const refusal = refusalOf(error);
    throw refusal === undefined ? error : new Error(refusal, { cause: error });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  return {
    client,
    era: client.getProtocolEra() ?? "legacy",
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    closed,
    requests,
    roots,
    async listTools(listSignal) {
      const tools = await listTools(client, listSignal, log);
      if (isProgram || client.getProtocolEra() !== "modern") return tools;
      return tools.filter(({ name, inputSchema }) => {
        const fault = headerFault(inputSchema);
        if (fault !== undefined) log.line("warn", `the tool ${name} is left out: ${fault}`);
        return fault === undefined;
      });
    },
    listResources: (listSignal) => listResources(client, listSignal, log),
    listPrompts: (listSignal) => listPrompts(client, listSignal, log),
    subscribe: createSubscriptions(client, log),
    close: () => client.close(),
    kill,
  };
}

function createClient(SdkClient: typeof Client, options: ConnectOptions): Client {
  const isProgram = options.server.connection.kind === "stdio";
  return new SdkClient(
    { name: "harness", version: "1" },
    {
      capabilities: capabilitiesOf(options),
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: isProgram ? PROBE_TIMEOUT_MS : NETWORK_PROBE_TIMEOUT_MS },
      },
      inputRequired: { autoFulfill: false },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: options.onToolsChanged },
        prompts: { autoRefresh: false, debounceMs: 0, onChanged: options.onPromptsChanged },
      },
      // The SDK would check output with the regular expressions of V8; schemas of others are checked in a worker.
      jsonSchemaValidator: { getValidator: acceptAll },
    },
  );
}

/** Where a server that runs here finds the workspace. One on the network has no use for a path of this machine. */
function rootsOf({ server, root }: ConnectOptions): ListRootsResult {
  if (server.connection.kind !== "stdio" || root === undefined) return { roots: [] };
  return { roots: [{ uri: pathToFileURL(root).href, name: basename(root) }] };
}

function capabilitiesOf({ server }: ConnectOptions): ClientCapabilities {
  return {
    elicitation: { form: {}, url: {} },
    ...(server.sampling && { sampling: {} }),
    ...(server.connection.kind === "stdio" && { roots: {} }),
  };
}

/** Of the older era: what the server asks on its own. */
function answerRequests(
  client: Client,
  { server }: ConnectOptions,
  on: Pick<Connection, "requests" | "roots"> & { readonly ProtocolError: typeof ProtocolError },
): void {
  const answer = async (asked: ServerAsk): Promise<Readonly<Record<string, unknown>>> => {
    const reply = await on.requests.ask(asked);
    if ("refused" in reply) throw new on.ProtocolError(INVALID_REQUEST, reply.refused);
    return reply.result;
  };
  // The SDK checks the shape of the result.
  client.setRequestHandler("elicitation/create", async ({ method, params }) => {
    return (await answer({ method, params: { ...params } })) as ElicitResult;
  });
  if (server.sampling) {
    client.setRequestHandler("sampling/createMessage", async ({ method, params }) => {
      return (await answer({ method, params: { ...params } })) as CreateMessageResult;
    });
  }
  if (server.connection.kind === "stdio") client.setRequestHandler("roots/list", on.roots);
}

async function openTransport({ server, world, clock, hurry }: ConnectOptions, log: ServerLog): Promise<OpenTransport> {
  const { connection } = server;
  if (connection.kind !== "stdio") return createHttpTransport({ ...server, connection }, world, clock);
  return createStdioTransport({ ...server, connection }, world, clock, log, hurry);
}

async function listTools(client: Client, signal: AbortSignal, log: ServerLog): Promise<readonly ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const read = readTools((text) => log.line("warn", text));
  await readPages(client, { method: "tools/list", field: "tools" }, read.add, signal);
  return read.tools();
}

async function listPrompts(client: Client, signal: AbortSignal, log: ServerLog): Promise<readonly ServerPrompt[]> {
  if (client.getServerCapabilities()?.prompts === undefined) return [];
  const read = readPrompts((text) => log.line("warn", text));
  await readPages(client, { method: "prompts/list", field: "prompts" }, read.add, signal);
  return read.prompts();
}

async function listResources(client: Client, signal: AbortSignal, log: ServerLog): Promise<readonly ServerResource[]> {
  if (client.getServerCapabilities()?.resources === undefined) return [];
  const read = readResources((text) => log.line("warn", text));
  const add = (isTemplate: boolean) => (page: readonly unknown[]) => read.add(page, isTemplate);
  await readPages(client, { method: "resources/list", field: "resources" }, add(false), signal);
  const templates = { method: "resources/templates/list", field: "resourceTemplates" };
  try {
    await readPages(client, templates, add(true), signal);
  } catch (error) {
    // A server with resources need not know templates.
    if (codeOf(error) !== METHOD_NOT_FOUND) throw error;
  }
  return read.resources();
}

/** The codes of the SDK's own errors are words, those of JSON-RPC are numbers. */
export function codeOf(error: unknown): string | number | undefined {
  const code = isRecord(error) || error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" || typeof code === "number" ? code : undefined;
}

/** In the place of the SDK's "Error POSTing to endpoint", which does not name the status. */
function refusalOf(error: unknown): string | undefined {
  const data: unknown = error instanceof Error ? Reflect.get(error, "data") : undefined;
  if (!isRecord(data) || typeof data.status !== "number") return undefined;
  const text = typeof data.text === "string" ? data.text.trim().slice(0, MAX_REFUSAL_CHARS) : "";
  return `its address answered HTTP ${data.status}${text === "" ? "" : `: ${text}`}`;
}

const MAX_REFUSAL_CHARS = 200;

function acceptAll<Data>(): JsonSchemaValidator<Data> {
  // The SDK asks for a type that only its caller knows.
  return (input) => ({ valid: true, data: input as Data, errorMessage: undefined });
}
