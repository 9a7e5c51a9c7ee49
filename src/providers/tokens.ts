/** A stated estimate of a request's input tokens, made without a tokenizer and without the network. */
import type { ModelRequest } from "#engine";
import type { ContentBlock } from "#protocol";
import { type Failure, failure } from "./failure.ts";

/** English and code of today's vocabularies; other scripts have more bytes a character and come out high. */
const BYTES_PER_TOKEN = 3.7;
/** A full-size image as the large vendors count it. */
const IMAGE_TOKENS = 1_600;
/** Framing around a message, and around a tool's schema. */
const MESSAGE_OVERHEAD_TOKENS = 4;
const TOOL_OVERHEAD_TOKENS = 24;

/** Within about a fifth for English and code; good enough to budget and to refuse what cannot fit. */
export function estimateTokens(request: ModelRequest): number {
  let bytes = 0;
  let tokens = request.messages.length * MESSAGE_OVERHEAD_TOKENS + request.tools.length * TOOL_OVERHEAD_TOKENS;
  for (const text of request.system) bytes += Buffer.byteLength(text);
  for (const tool of request.tools) {
    bytes += Buffer.byteLength(tool.name) + Buffer.byteLength(tool.description) + jsonBytes(tool.parameters);
  }
  const add = (block: ContentBlock): void => {
    switch (block.type) {
      case "text":
        bytes += Buffer.byteLength(block.text);
        break;
      case "image":
        tokens += IMAGE_TOKENS;
        break;
      case "tool_use":
        bytes += block.name.length + jsonBytes(block.input);
        break;
      case "tool_result":
        for (const part of block.content) add(part);
        break;
      case "thinking":
        bytes += jsonBytes(block.data);
        break;
      case "yield":
        break;
    }
  };
  for (const message of request.messages) for (const block of message.content) add(block);
  return Math.ceil(bytes / BYTES_PER_TOKEN) + tokens;
}

/** The failure of a request that cannot fit; undefined when it may, or when the window is not known. */
export function contextOverflow(request: ModelRequest, contextTokens: number | undefined): Failure | undefined {
  if (contextTokens === undefined) return undefined;
  const tokens = estimateTokens(request);
  if (tokens <= contextTokens) return undefined;
  return failure("ContextOverflow", false, { tokens, model: request.model, limit: contextTokens });
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}
