/** The chat completions side of the mock vendor: what it streams and what it refuses. */
import { defined } from "#base";
import type { Refusal } from "./mock-anthropic-wire.ts";
import { type MockBlock, type MockMessage, pieces } from "./mock-reply.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_CALL_ID_CHARS = 40;

/** Every event of the response, framed and ready to be written. */
export function openaiEvents(reply: MockMessage, model: string): string[] {
  const { blocks, usage = { input: 10, output: 20 } } = reply;
  const events: string[] = [];
  const frame = { id: "chatcmpl-mock", object: "chat.completion.chunk", created: 1_767_225_600, model };
  const add = (rest: object): void => {
    events.push(`data: ${JSON.stringify({ ...frame, ...rest })}\n\n`);
  };
  const delta = (value: object): void =>
    add({ choices: [{ index: 0, delta: value, finish_reason: null }], usage: null });

  delta({ role: "assistant", content: "" });
  for (const block of blocks) {
    if (block.type === "text") for (const content of pieces(block.text, block.deltas ?? 1)) delta({ content });
    if (block.type === "thinking")
      for (const text of pieces(block.text, block.deltas ?? 1)) delta(reasoning(block, text));
  }
  for (const call of callDeltas(blocks, reply.interleaveCalls ?? false)) delta({ tool_calls: [call] });
  const natural = blocks.some((block) => block.type === "tool_call") ? "tool_calls" : "stop";
  const finish_reason = reply.stop === undefined ? natural : reply.stop;
  add({ choices: [{ index: 0, delta: {}, finish_reason }], usage: null });
  const { input, output, cacheRead = 0, cacheWrite = 0, costUsd } = usage;
  const prompt = input + cacheRead + cacheWrite;
  add({
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
      ...defined({ cost: costUsd }),
    },
  });
  events.push("data: [DONE]\n\n");
  return events;
}

function reasoning(block: Extract<MockBlock, { type: "thinking" }>, text: string): object {
  switch (block.field) {
    case "reasoning":
      return { reasoning: text };
    case "reasoning_details":
      return { reasoning: text, reasoning_details: [{ type: "reasoning.text", text, index: 0, format: "unknown" }] };
    default:
      return { reasoning_content: text };
  }
}

function callDeltas(blocks: readonly MockBlock[], interleaved: boolean): object[] {
  const perCall = blocks
    .filter((block) => block.type === "tool_call")
    .map((call, index) => [
      { index, id: `call_mock_${index}`, type: "function", function: { name: call.name, arguments: "" } },
      ...pieces(call.arguments, call.deltas ?? 1).map((text) => ({ index, function: { arguments: text } })),
    ]);
  if (!interleaved) return perCall.flat();
  const result: object[] = [];
  const longest = Math.max(0, ...perCall.map((deltas) => deltas.length));
  for (let n = 0; n < longest; n += 1) {
    for (const deltas of perCall.toReversed()) {
      const next = deltas[n];
      if (next !== undefined) result.push(next);
    }
  }
  return result;
}

interface Message {
  readonly role?: string;
  readonly content?: string | readonly { readonly type?: string; text?: string; image_url?: { url?: string } }[] | null;
  readonly tool_calls?: readonly { id?: string; type?: string; function?: { name?: string; arguments?: unknown } }[];
  readonly tool_call_id?: string;
}

interface Body {
  readonly model?: unknown;
  readonly stream?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
  readonly messages?: readonly Message[];
  readonly tools?: readonly { readonly type?: string; readonly function?: { readonly name?: string } }[];
}

/** What the API would refuse, in its own form. */
export function refuseOpenai(raw: unknown): Refusal | undefined {
  if (typeof raw !== "object" || raw === null) return refusal("the body must be an object");
  // Every field of a Body is optional; what is there is checked below.
  const body = raw as Body;
  if (typeof body.model !== "string") return refusal("you must provide a model parameter");
  if (body.stream !== true) return refusal("the mock only streams");
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) {
    return refusal("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
  }
  const { tools = [] } = body;
  if (body.tools?.length === 0) return refusal("[] is too short - 'tools'");
  if (new Set(tools.map((tool) => tool.function?.name)).size < tools.length)
    return refusal("Tool names must be unique.");
  for (const [at, tool] of tools.entries()) {
    if (tool.type !== "function" || !TOOL_NAME.test(tool.function?.name ?? "")) {
      return refusal(`Invalid 'tools[${at}].function.name': expected a string that matches '${TOOL_NAME.source}'.`);
    }
  }
  if (!Array.isArray(body.messages) || body.messages.length === 0) return refusal("[] is too short - 'messages'");
  return problemOfMessages(body.messages);
}

function problemOfMessages(messages: readonly Message[]): Refusal | undefined {
  let open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id ?? "")) {
        return refusal("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
      }
      if (typeof message.content !== "string") return refusal(`Invalid content of messages[${at}].`);
      continue;
    }
    if (open.size > 0) {
      return refusal(
        `An assistant message with 'tool_calls' must be followed by tool messages: ${[...open].join(", ")}`,
      );
    }
    switch (message.role) {
      case "system":
      case "developer":
        if (typeof message.content !== "string") return refusal(`Invalid content of messages[${at}].`);
        break;
      case "user": {
        const parts = typeof message.content === "string" ? [] : (message.content ?? []);
        if (message.content == null || (Array.isArray(message.content) && parts.length === 0)) {
          return refusal(`Invalid content of messages[${at}].`);
        }
        const wrong = parts.find(
          (part) => !(part.type === "text" ? part.text : part.image_url?.url?.startsWith("data:")),
        );
        if (wrong !== undefined) return refusal(`Invalid content part of messages[${at}].`);
        break;
      }
      case "assistant": {
        const calls = message.tool_calls ?? [];
        if (message.content == null && calls.length === 0) return refusal(`Invalid content of messages[${at}].`);
        if (message.tool_calls?.length === 0) return refusal(`[] is too short - 'messages.${at}.tool_calls'`);
        if (new Set(calls.map(({ id }) => id)).size < calls.length)
          return refusal("Duplicate value for 'tool_call_id'.");
        for (const call of calls) {
          const isId = call.id !== undefined && call.id !== "" && call.id.length <= MAX_CALL_ID_CHARS;
          const valid = isId && call.type === "function" && TOOL_NAME.test(call.function?.name ?? "");
          if (!valid || !isJson(call.function?.arguments)) return refusal(`Invalid tool call in messages[${at}].`);
        }
        open = new Set(calls.map((call) => call.id ?? ""));
        break;
      }
      default:
        return refusal(`Invalid role of messages[${at}].`);
    }
  }
  return open.size > 0
    ? refusal("An assistant message with 'tool_calls' must be followed by tool messages")
    : undefined;
}

function isJson(text: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function refusal(message: string): Refusal {
  return { status: 400, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}
