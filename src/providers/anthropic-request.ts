/** Canonical conversation → body of Anthropic's Messages API. Pure; the order and the bytes depend on the input alone. */
import { defined } from "#base";
import type { ModelRequest } from "#engine";
import type { Message, ToolOutputBlock, ToolResultBlock } from "#protocol";
import { BLANK_INPUT, inputObject, isBlank, type WireOptions } from "./wire-family.ts";

/** The API requires a cap. Thinking counts toward it, so a small one would cut most answers. */
export const DEFAULT_MAX_TOKENS = 32_000;

const CACHE_CONTROL = { type: "ephemeral" } as const;

type Block = Record<string, unknown> & { readonly type: string; cache_control?: typeof CACHE_CONTROL };
interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object;
  cache_control?: typeof CACHE_CONTROL;
}
interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

export function anthropicBody(request: ModelRequest, options: WireOptions): object {
  const system: Block[] = request.system.filter((text) => !isBlank(text)).map((text) => ({ type: "text", text }));
  const tools = request.tools.map(
    (tool): Tool => ({
      name: options.names.toWire(tool.name),
      description: tool.description,
      input_schema: tool.parameters,
    }),
  );
  const messages = wireMessages(request.messages, options);
  markCache(system.at(-1));
  markCache(tools.at(-1));
  markCache(messages.at(-1)?.content.findLast((block) => !block.type.endsWith("thinking")));
  return {
    model: options.model,
    max_tokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length === 0 ? {} : { system }),
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...defined({ temperature: options.temperature }),
    ...(options.showThinking ? { thinking: thinking(options) } : {}),
    stream: true,
  };
}

export function anthropicHeaders({ dropStaleThinking }: WireOptions): Record<string, string> {
  return dropStaleThinking ? { "anthropic-beta": "thinking-binding-controls-2026-08-01" } : {};
}

/**
 * Prompts and tools may change within a session, and call ids are ours: a session must survive that. The vendor then
 * forgets the thinking that it can no longer verify, and nothing else.
 */
function thinking({ dropStaleThinking }: WireOptions): object {
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  return { type: "adaptive", display: "summarized", ...(dropStaleThinking ? { block_binding } : {}) };
}

/** One breakpoint each for tools, system and conversation: three of the four that the API takes. */
function markCache(target: { cache_control?: typeof CACHE_CONTROL } | undefined): void {
  if (target !== undefined) target.cache_control = CACHE_CONTROL;
}

/** Messages of one role in a row become one: the results of a call must come in the message right after it. */
function wireMessages(messages: readonly Message[], options: WireOptions): WireMessage[] {
  const result: WireMessage[] = [];
  for (const message of messages) {
    const content = message.role === "user" ? userBlocks(message) : assistantBlocks(message, options);
    if (content.length === 0) continue;
    const last = result.at(-1);
    if (last?.role === message.role) last.content.push(...content);
    else result.push({ role: message.role, content });
  }
  for (const message of result) {
    // The API wants results before anything else that the user says.
    if (message.role === "user") message.content.sort((a, b) => resultRank(a) - resultRank(b));
  }
  return result;
}

function resultRank(block: Block): number {
  return block.type === "tool_result" ? 0 : 1;
}

function userBlocks(message: Extract<Message, { role: "user" }>): Block[] {
  const blocks: Block[] = [];
  for (const block of message.content) {
    if (block.type === "tool_result") blocks.push(...toolResult(block));
    else blocks.push(...outputBlock(block));
  }
  if (blocks.length === 0 && message.content.length > 0) blocks.push({ type: "text", text: BLANK_INPUT });
  return blocks;
}

function assistantBlocks(message: Extract<Message, { role: "assistant" }>, { names }: WireOptions): Block[] {
  const blocks: Block[] = [];
  for (const block of message.content) {
    switch (block.type) {
      case "text":
        blocks.push(...outputBlock(block));
        break;
      case "thinking":
        // Our own reader made the data of this family: it is the wire block itself.
        if (block.provider === "anthropic") blocks.push(block.data as Block);
        break;
      case "tool_use":
        blocks.push({
          type: "tool_use",
          id: block.id,
          name: names.toWire(block.name),
          input: inputObject(block.input),
        });
        break;
      case "yield":
        break;
    }
  }
  // The text behind it was blank; the API refuses a message that ends with thinking.
  while (blocks.at(-1)?.type.endsWith("thinking")) blocks.pop();
  return blocks;
}

/** The API takes no image in the result of an error: those come behind all results. */
function toolResult(block: ToolResultBlock): Block[] {
  const { tool_use_id, is_error } = block;
  const all = block.content.flatMap(outputBlock);
  const images = is_error ? all.filter(({ type }) => type === "image") : [];
  const content = all.filter((one) => !images.includes(one));
  // An error without content is refused by the API.
  if (content.length === 0 && is_error) {
    content.push({ type: "text", text: images.length > 0 ? "(see the images below)" : "(no output)" });
  }
  const result: Block = {
    ...{ type: "tool_result", tool_use_id },
    ...(content.length === 0 ? {} : { content }),
    ...(is_error ? { is_error: true } : {}),
  };
  if (images.length === 0) return [result];
  return [result, { type: "text", text: `Images from the result of ${tool_use_id}:` }, ...images];
}

/** Blank text is refused by the API and says nothing. */
function outputBlock(block: ToolOutputBlock): Block[] {
  if (block.type === "text") return isBlank(block.text) ? [] : [{ type: "text", text: block.text }];
  return [{ type: "image", source: { type: "base64", media_type: block.media_type, data: block.data } }];
}
