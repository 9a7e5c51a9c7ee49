/** A stated estimate of input tokens, made without a tokenizer and without the network. */
import type { ContentBlock, ContextBlock } from "#protocol";
import type { ModelRequest, ToolSchema } from "./provider.ts";

/** English and code of today's vocabularies; other scripts have more bytes a character and come out high. */
const BYTES_PER_TOKEN = 3.7;
/** A full-size image as the large vendors count it. */
const IMAGE_TOKENS = 1_600;
/** Framing around a message, and around a tool's schema. */
const MESSAGE_OVERHEAD_TOKENS = 4;
const TOOL_OVERHEAD_TOKENS = 24;

type Block = ContentBlock | ContextBlock;

/** Of one block, once: blocks do not change, and most of them are in every request that follows. */
const known = new WeakMap<Block, number>();

/** Of the parameters of one tool, once: they are in every request. */
const knownSchemas = new WeakMap<object, number>();

/** Within about a fifth for English and code; good enough to budget and to refuse what cannot fit. */
export function estimateTokens({ system, tools, messages }: ModelRequest): number {
  let tokens = messages.length * MESSAGE_OVERHEAD_TOKENS + fixedTokens(system, tools);
  for (const message of messages) tokens += blocksTokens(message.content);
  return Math.ceil(tokens);
}

/** What every request has in front of the conversation. Not rounded. */
export function fixedTokens(system: readonly string[], tools: readonly ToolSchema[]): number {
  let bytes = 0;
  for (const text of system) bytes += Buffer.byteLength(text);
  for (const { name, description, parameters } of tools) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(description) + schemaBytes(parameters);
  }
  return bytes / BYTES_PER_TOKEN + tools.length * TOOL_OVERHEAD_TOKENS;
}

/** Not rounded, so that sums of many small blocks are not too high. */
export function blocksTokens(blocks: readonly Block[]): number {
  let tokens = 0;
  for (const block of blocks) {
    let own = known.get(block);
    if (own === undefined) {
      own = blockTokens(block);
      known.set(block, own);
    }
    tokens += own;
  }
  return tokens;
}

export function textTokens(text: string): number {
  return Buffer.byteLength(text) / BYTES_PER_TOKEN;
}

/** A text of at most so many tokens has at most so many bytes. */
export function bytesOf(tokens: number): number {
  return Math.floor(tokens * BYTES_PER_TOKEN);
}

function blockTokens(block: Block): number {
  switch (block.type) {
    case "text":
    case "file":
      return textTokens(block.text);
    case "image":
      return IMAGE_TOKENS;
    case "tool_use":
      return (Buffer.byteLength(block.name) + jsonBytes(block.input)) / BYTES_PER_TOKEN;
    case "tool_result":
      return blocksTokens(block.content);
    case "thinking":
      return jsonBytes(block.data) / BYTES_PER_TOKEN;
    case "yield":
      return 0;
  }
}

function schemaBytes(parameters: ToolSchema["parameters"]): number {
  const before = knownSchemas.get(parameters);
  if (before !== undefined) return before;
  const bytes = jsonBytes(parameters);
  knownSchemas.set(parameters, bytes);
  return bytes;
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
