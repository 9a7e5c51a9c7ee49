/** One call of a tool of a server, with its time limit, its cancellation and its progress. */
import type { Progress } from "@modelcontextprotocol/client";
import { type Clock, EffectError, isRecord, messageOf, type ServerAnswer, type ServerCall, visibleLine } from "#base";
import { type Connection, codeOf } from "./connection.ts";
import { startDeadline, untilAborted } from "./deadline.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { TOO_LARGE_CODE } from "./stdio-transport.ts";
import type { SupervisedServer } from "./supervised-server.ts";
import type { ListedTool } from "./tool-list.ts";

const SDK_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_PROGRESS_CHARS = 500;
const MAX_ERROR_CHARS = 4_000;
/** Deeper answers than any server gives; what walks them may do so recursively. */
const MAX_DEPTH = 128;

export async function callServer(
  supervised: SupervisedServer,
  tool: ListedTool,
  call: ServerCall,
  clock: Clock,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const deadline = startDeadline(clock, Math.min(call.timeoutMs, supervised.server.toolTimeoutMs), signal);
  let connection: Connection | undefined;
  try {
    connection = await supervised.connected(deadline.signal);
    return await untilAborted(send(connection, tool, call, deadline.signal), deadline.signal);
  } catch (error) {
    if (signal.aborted) throw new EffectError("Cancelled", "the call was cancelled");
    if (deadline.isOver()) {
      throw new EffectError("Timeout", `the MCP server '${call.server}' did not answer in time`);
    }
    return failedAnswer(error, call.server, connection);
  } finally {
    deadline.clear();
  }
}

async function send(
  { client }: Connection,
  { name, inputSchema }: ListedTool,
  { args, onProgress }: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const result = await client.callTool(
    { name, arguments: args },
    {
      signal,
      timeout: SDK_TIMEOUT_MS,
      // Without its output schema: that is checked elsewhere. The wire of the newer era needs the schema of the input.
      toolDefinition: { name, inputSchema: { ...inputSchema, type: "object" } },
      ...(onProgress !== undefined && { onprogress: (progress) => onProgress(progressText(progress)) }),
    },
  );
  if (isDeeper(result, MAX_DEPTH)) return errorAnswer(`The answer is nested more than ${MAX_DEPTH} levels deep.`);
  return {
    content: result.content.filter(isRecord),
    ...(result.structuredContent !== undefined && { structured: result.structuredContent }),
    isError: result.isError === true,
  };
}

function failedAnswer(error: unknown, server: string, connection: Connection | undefined): ServerAnswer {
  if (error instanceof EffectError) throw error;
  const code = codeOf(error);
  const text = visibleLine(messageOf(error).slice(0, MAX_ERROR_CHARS));
  if (code === TOO_LARGE_CODE) throw new EffectError("TooLarge", text, { cause: error });
  // Refused by the server itself, or an answer that is not one.
  if (typeof code === "number" || code === "INVALID_RESULT")
    return errorAnswer(`The MCP server refused the call: ${text}`);
  // A server on the network that cannot be reached, or that has forgotten the session: it is connected again.
  connection?.kill(text);
  const detail =
    code === "CONNECTION_CLOSED" ? "it ended during the call, which may or may not have had its effect" : text;
  throw new EffectError("ServerUnavailable", `the MCP server '${server}' is not available: ${detail}`, {
    cause: error,
  });
}

/** Structured content that is not what the server itself promised is an error, as the specification wants it. */
export async function checkedAnswer(
  answer: ServerAnswer,
  { outputSchema }: ListedTool,
  schemas: SchemaCheck,
): Promise<ServerAnswer> {
  if (outputSchema === undefined || answer.isError) return answer;
  if (answer.structured === undefined) {
    return errorAnswer("The MCP server promised structured content for this tool and sent none.");
  }
  const problems = await schemas.check(outputSchema, answer.structured);
  if (problems.length === 0) return answer;
  return errorAnswer(
    `The structured content of the MCP server does not match its output schema: ${problems.join(" ")}`,
  );
}

export function errorAnswer(text: string): ServerAnswer {
  return { content: [{ type: "text", text }], isError: true };
}

function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return visibleLine((message ?? share).slice(0, MAX_PROGRESS_CHARS));
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((field) => isDeeper(field, levels - 1));
}
