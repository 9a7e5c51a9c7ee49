/** MCP servers as the engine sees them: requests of a session to a server, and what a server asks while it works on one. */
import { EffectError } from "./effect-error.ts";

/** What every request to a server has. */
interface ServerRequest {
  readonly server: string;
  /** The time that the server has; the time that people take to answer does not count. */
  readonly timeoutMs: number;
  readonly onProgress?: (text: string) => void;
  /** Answers what the server asks meanwhile. Absent: it is refused. Must not reject. */
  readonly onAsk?: (asked: ServerAsk, signal: AbortSignal) => Promise<ServerReply>;
}

export interface ServerCall extends ServerRequest {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ServerRead extends ServerRequest {
  readonly uri: string;
}

/** A question of a server to a person. Its words are the server's own. */
export interface ServerAsk {
  readonly method: "elicitation/create";
  readonly params: Readonly<Record<string, unknown>>;
}

export type ServerReply =
  | { readonly result: Readonly<Record<string, unknown>> }
  /** Why nobody answers; the server reads it. */
  | { readonly refused: string };

/** What a server answered, as JSON, at most as long as the program allows. */
export interface ServerAnswer {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structured?: unknown;
  readonly isError: boolean;
}

/** A resource or a resource template, in the words of the server. */
export interface ServerResource {
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  readonly sizeBytes?: number;
}

/** The name under which rules, hooks, logs and receipts know a tool of a server. Never taken apart again. */
export function serverToolName(server: string, tool: string): string {
  return `mcp.${server}.${tool}`;
}

/** How a person names a resource in an input, and how receipts do. */
export function resourceReference(server: string, uri: string): string {
  return `@${server}:${uri}`;
}

/** Lists the resources of servers. */
export const RESOURCES_TOOL = "mcp.resources";
/** Reads one of them: `{ server, uri }`. */
export const READ_RESOURCE_TOOL = "mcp.read_resource";

/**
 * MCP servers of the session. All reject with an `EffectError` (`ServerUnavailable`, `LoginRequired`, `TooLarge`, `Timeout`, `Cancelled`); a request
 * that the server refuses, or a tool that failed, is an answer.
 */
export interface ServerPort {
  call(call: ServerCall, signal: AbortSignal): Promise<ServerAnswer>;
  resources(server: string, timeoutMs: number, signal: AbortSignal): Promise<readonly ServerResource[]>;
  /** The content is blocks of the type `resource`. */
  read(read: ServerRead, signal: AbortSignal): Promise<ServerAnswer>;
}

/** Of a session that has none. */
export const noServers: ServerPort = {
  call: ({ server }) => none(server),
  resources: (server) => none(server),
  read: ({ server }) => none(server),
};

async function none(server: string): Promise<never> {
  throw new EffectError("ServerUnavailable", `there is no MCP server ${server} in this session`);
}
