/** Requests to a server, with their time limit, cancellation, progress and the questions that it asks meanwhile. */
import type { CallToolRequest, Progress } from "@modelcontextprotocol/client";
import {
  type Clock,
  EffectError,
  type EffectReason,
  isDeeper,
  isRecord,
  messageOf,
  type ServerAnswer,
  type ServerCall,
  type ServerCompletion,
  type ServerPromptRequest,
  type ServerRead,
  type ServerResource,
  visibleLine,
} from "#base";
import { type Connection, codeOf } from "./connection.ts";
import { startDeadline, untilAborted } from "./deadline.ts";
import { SDK_TIMEOUT_MS } from "./list-pages.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { createAsking, QuestionRefused, type WithInput, withInput } from "./server-questions.ts";
import { isEnabled, waitsForApproval } from "./server-tools.ts";
import { TOO_LARGE_CODE } from "./stdio-transport.ts";
import type { SupervisedServer } from "./supervised-server.ts";
import type { ListedTool } from "./tool-list.ts";
import { mayWrite, withWriting } from "./writing-server.ts";

const MAX_PROGRESS_CHARS = 500;
const MAX_ERROR_CHARS = 4_000;
/** Deeper answers than any server gives; what walks them may do so recursively. */
const MAX_DEPTH = 128;

/** What every request has: how long it may take, and who answers what the server asks meanwhile. */
type Request = Pick<ServerCall, "server" | "timeoutMs" | "onAsk">;

export interface CalledServer {
  readonly answer: ServerAnswer;
  /** What the structured content of the answer has to match. */
  readonly outputSchema?: ListedTool["outputSchema"];
}

interface Sending {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  /** Repeats a request until its result is complete. */
  complete(send: (input: WithInput) => Promise<unknown>): Promise<Readonly<Record<string, unknown>>>;
}

/** Rejects as `ServerPort` says; `send` gives what the server answered. */
async function requestServer<Result>(
  supervised: Pick<SupervisedServer, "server" | "connected">,
  { server, timeoutMs, onAsk }: Request,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  send: (sending: Sending) => Promise<Result>,
): Promise<Result | ServerAnswer> {
  const deadline = startDeadline(clock, Math.min(timeoutMs, supervised.server.toolTimeoutMs), signal);
  const ended = new AbortController();
  const asking = createAsking(onAsk, deadline, ended.signal);
  let connection: Connection | undefined;
  let end: (() => void) | undefined;
  try {
    const open = await supervised.connected(deadline.signal);
    connection = open;
    // Where nobody answers, a question belongs to another request.
    if (onAsk !== undefined) end = open.requests.begin(asking);
    const around = { asking, roots: open.roots, clock, signal: deadline.signal };
    const complete: Sending["complete"] = async (once) => {
      const result = await withInput(once, around);
      return isRecord(result) ? result : {};
    };
    return await untilAborted(send({ connection: open, signal: deadline.signal, complete }), deadline.signal);
  } catch (error) {
    if (signal.aborted) throw new EffectError("Cancelled", "the call was cancelled");
    if (deadline.isOver()) throw new EffectError("Timeout", `the MCP server '${server}' did not answer in time`);
    return failedAnswer(error, server, connection);
  } finally {
    end?.();
    ended.abort();
    deadline.clear();
  }
}

/** The tool as it was approved, or why it cannot be called. */
function toolOf(
  { server, offer, waiting }: Pick<SupervisedServer, "server" | "offer" | "waiting">,
  name: string,
): ListedTool | string {
  const isNamed = (tool: ListedTool): boolean => tool.name === name && isEnabled(server, name);
  const found = offer().tools.find(isNamed);
  if (found !== undefined) return found;
  if (waiting().some(isNamed)) return waitsForApproval(server.name, name);
  return `The MCP server '${server.name}' has no tool '${name}'.`;
}

/** A call that may change the workspace has a process of its own, so that nothing of it runs when the call has ended. */
export async function callServer(
  supervised: SupervisedServer,
  call: ServerCall,
  clock: Clock,
  signal: AbortSignal,
): Promise<CalledServer> {
  if (!mayWrite(supervised.server, call.tool)) return callOnce(supervised, call, clock, signal);
  return withWriting(supervised, (writing) => callOnce(writing, call, clock, signal));
}

async function callOnce(
  supervised: Pick<SupervisedServer, "server" | "offer" | "waiting" | "connected">,
  call: ServerCall,
  clock: Clock,
  signal: AbortSignal,
): Promise<CalledServer> {
  const { args, onProgress } = call;
  let outputSchema: ListedTool["outputSchema"];
  const answer = await requestServer(supervised, call, { clock, signal }, async (sending): Promise<ServerAnswer> => {
    const { connection, signal: given, complete } = sending;
    // Not before it is connected: what was known of it came from an earlier connection.
    const tool = toolOf(supervised, call.tool);
    if (typeof tool === "string") return errorAnswer(tool);
    const { name, inputSchema } = tool;
    const options = {
      signal: given,
      timeout: SDK_TIMEOUT_MS,
      allowInputRequired: true,
      // Without its output schema: that is checked elsewhere. The wire of the newer era needs the schema of the input.
      toolDefinition: { name, inputSchema: { ...inputSchema, type: "object" as const } },
      ...(onProgress !== undefined && { onprogress: (progress: Progress) => onProgress(progressText(progress)) }),
    };
    const result = await complete((input) =>
      connection.client.callTool(
        { name, arguments: args, ...logged(connection), ...input } as CallToolRequest["params"],
        options,
      ),
    );
    const { content, structuredContent, isError } = result;
    outputSchema = tool.outputSchema;
    return answerOf({
      content: blocksOf(content),
      ...(structuredContent !== undefined && { structured: structuredContent }),
      isError: isError === true,
    });
  });
  return { answer, ...(outputSchema !== undefined && { outputSchema }) };
}

/** In the newer era a server logs only for a request that asks for it. */
function logged({ era }: Connection): { readonly _meta?: Readonly<Record<string, string>> } {
  return era === "modern" ? { _meta: { "io.modelcontextprotocol/logLevel": "info" } } : {};
}

/** The content of a resource, which is watched from now on where its server offers that. */
export async function readResource(
  supervised: SupervisedServer,
  read: ServerRead,
  clock: Clock,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { uri } = read;
  return requestServer(supervised, read, { clock, signal }, async ({ connection, signal: given, complete }) => {
    const options = { signal: given, timeout: SDK_TIMEOUT_MS, allowInputRequired: true, cacheMode: "bypass" as const };
    const result = await complete((input) => connection.client.readResource({ uri, ...input }, options));
    void connection.subscribe(uri);
    const content = blocksOf(result.contents).map((resource) => ({ type: "resource", resource }));
    return answerOf({ content, isError: false });
  });
}

/** The messages of a prompt, each behind a line that names its role where they are not all of the user. */
export async function getPrompt(
  supervised: SupervisedServer,
  request: ServerPromptRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { prompt: name, args } = request;
  return requestServer(supervised, request, { clock, signal }, async ({ connection, signal: given, complete }) => {
    const options = { signal: given, timeout: SDK_TIMEOUT_MS, allowInputRequired: true };
    const result = await complete((input) => connection.client.getPrompt({ name, arguments: args, ...input }, options));
    const messages = blocksOf(result.messages);
    const isOneSided = messages.every(({ role }) => role === "user");
    const content = messages.flatMap((message) => {
      const said = { type: "text", text: `[${message.role === "assistant" ? "assistant" : "user"}]` };
      return [...(isOneSided ? [] : [said]), ...blocksOf([message.content])];
    });
    return answerOf({ content, isError: false });
  });
}

/** A value that comes later than the next key is of no use. */
const COMPLETION_TIMEOUT_MS = 2_000;
const MAX_COMPLETIONS = 100;
const MAX_COMPLETION_CHARS = 500;

/** Values that can be typed, at most 100. Empty where the server completes nothing, refuses, or takes too long. */
export async function completeValue(
  supervised: SupervisedServer,
  { server, of, argument, value, others }: ServerCompletion,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const request = { server, timeoutMs: COMPLETION_TIMEOUT_MS };
  const ref =
    "prompt" in of
      ? { type: "ref/prompt" as const, name: of.prompt }
      : { type: "ref/resource" as const, uri: of.template };
  const completed = await requestServer(
    supervised,
    request,
    { clock, signal },
    async ({ connection, signal: given }) => {
      if (connection.client.getServerCapabilities()?.completions === undefined) return [];
      const context = Object.keys(others).length === 0 ? {} : { context: { arguments: others } };
      const params = { ref, argument: { name: argument, value }, ...context };
      const { completion } = await connection.client.complete(params, { signal: given, timeout: SDK_TIMEOUT_MS });
      return completion.values;
    },
  );
  if ("isError" in completed) return [];
  const typeable = completed.filter((one) => one.length <= MAX_COMPLETION_CHARS && !/\p{C}/u.test(one));
  return typeable.slice(0, MAX_COMPLETIONS);
}

export async function listResources(
  supervised: SupervisedServer,
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly ServerResource[]> {
  const request = { server: supervised.server.name, timeoutMs };
  const listed = await requestServer(supervised, request, { clock, signal }, ({ connection, signal: given }) =>
    connection.listResources(given),
  );
  if (!("isError" in listed)) return listed;
  throw new EffectError("ServerUnavailable", `the MCP server '${request.server}' does not list its resources`);
}

function blocksOf(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

function answerOf(answer: ServerAnswer): ServerAnswer {
  return isDeeper(answer, MAX_DEPTH) ? errorAnswer(`The answer is nested more than ${MAX_DEPTH} levels deep.`) : answer;
}

function failedAnswer(error: unknown, server: string, connection: Connection | undefined): ServerAnswer {
  if (error instanceof QuestionRefused) {
    return errorAnswer(`A question of the MCP server was refused: ${visibleLine(error.message)}.`);
  }
  const effect = effectIn(error);
  if (effect !== undefined && !LOST.has(effect.reason)) throw effect;
  const code = codeOf(error);
  const text = visibleLine(messageOf(effect ?? error).slice(0, MAX_ERROR_CHARS));
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

/** The server was not reached, or no longer is: the connection is of no use. */
const LOST = new Set<EffectReason>(["NetworkFailed", "AddressRefused", "SandboxRefused"]);
const MAX_CAUSES = 5;

/** The SDK wraps what a request failed with. */
function effectIn(error: unknown): EffectError | undefined {
  let cause = error;
  for (let at = 0; at < MAX_CAUSES && cause instanceof Error; at++) {
    if (cause instanceof EffectError) return cause;
    cause = cause.cause;
  }
  return undefined;
}

/** Structured content that is not what the server itself promised is an error, as the specification wants it. */
export async function checkedAnswer(
  answer: ServerAnswer,
  outputSchema: ListedTool["outputSchema"],
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

/** A line: what comes at once is put together for people. */
function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return `${visibleLine((message ?? share).slice(0, MAX_PROGRESS_CHARS))}\n`;
}
