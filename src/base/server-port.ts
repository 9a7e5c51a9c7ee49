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

export interface ServerPromptRequest extends ServerRequest {
  readonly prompt: string;
  readonly args: Readonly<Record<string, string>>;
}

/** What a server asks a person, or the model. Its words are the server's own. */
export interface ServerAsk {
  readonly method: "elicitation/create" | "sampling/createMessage";
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

/** A prompt that people may run, with names that can be typed. Its description is in the words of the server. */
export interface ServerPrompt {
  readonly name: string;
  readonly description: string;
  /** Those that must be given come first. */
  readonly args: readonly { readonly name: string; readonly isRequired: boolean }[];
}

/** What a server is asked to complete: an argument of a prompt, or a variable of a resource template. */
export interface ServerCompletion {
  readonly server: string;
  readonly of: { readonly prompt: string } | { readonly template: string };
  readonly argument: string;
  /** What was typed of it so far. */
  readonly value: string;
  /** The other arguments that are known already. */
  readonly others: Readonly<Record<string, string>>;
}

/** The name under which rules, hooks, logs and receipts know a tool of a server. Never taken apart again. */
export function serverToolName(server: string, tool: string): string {
  return `mcp.${server}.${tool}`;
}

/** How a person names a resource in an input, and how receipts do. */
export function resourceReference(server: string, uri: string): string {
  return `@${server}:${uri}`;
}

/** How receipts name a prompt: as it is typed. */
export function promptReference(server: string, prompt: string): string {
  return `/mcp:${server}:${prompt}`;
}

/** Lists the resources of servers. */
export const RESOURCES_TOOL = "mcp.resources";
/** Reads one of them: `{ server, uri }`. */
export const READ_RESOURCE_TOOL = "mcp.read_resource";
/** Gets the messages of a prompt: `{ server, prompt, arguments }`. */
export const GET_PROMPT_TOOL = "mcp.get_prompt";
/** Has the model answer a server: `{ server, request }`. */
export const SAMPLE_TOOL = "mcp.sample";

/**
 * MCP servers of the session. All reject with an `EffectError` (`ServerUnavailable`, `LoginRequired`, `TooLarge`, `Timeout`, `Cancelled`); a request
 * that the server refuses, or a tool that failed, is an answer.
 */
export interface ServerPort {
  call(call: ServerCall, signal: AbortSignal): Promise<ServerAnswer>;
  resources(server: string, timeoutMs: number, signal: AbortSignal): Promise<readonly ServerResource[]>;
  /** The content is blocks of the type `resource`. */
  read(read: ServerRead, signal: AbortSignal): Promise<ServerAnswer>;
  /** The messages of the prompt, each behind a line that names its role. */
  prompt(request: ServerPromptRequest, signal: AbortSignal): Promise<ServerAnswer>;
  /** Values for somebody who types, at most 100. Connects nothing: empty where the server is not connected, refuses or is slow. */
  complete(completion: ServerCompletion, signal: AbortSignal): Promise<readonly string[]>;
}

/** Of a session that has none. */
export const noServers: ServerPort = {
  call: ({ server }) => none(server),
  resources: (server) => none(server),
  read: ({ server }) => none(server),
  prompt: ({ server }) => none(server),
  complete: ({ server }) => none(server),
};

async function none(server: string): Promise<never> {
  throw new EffectError("ServerUnavailable", `there is no MCP server ${server} in this session`);
}
