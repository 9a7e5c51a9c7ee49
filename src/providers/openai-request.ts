/** Canonical conversation → body of the OpenAI chat completions API and of everybody who speaks it. Pure. */
import { defined } from "#base";
import type { ModelRequest } from "#engine";
import type { ImageBlock, InputBlock, Message, ToolResultBlock } from "#protocol";
import { BLANK_INPUT, inputObject, isBlank, jsonText, type WireOptions } from "./wire-family.ts";

type WireMessage = Record<string, unknown> & { readonly role: string };
type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: object };

export function openaiBody(request: ModelRequest, options: WireOptions): object {
  const tools = request.tools.map((tool) => ({
    type: "function",
    function: {
      name: options.names.toWire(tool.name),
      description: tool.description,
      parameters: tool.parameters,
    },
  }));
  const messages = wireMessages(request, options);
  return {
    model: options.model,
    messages: options.marksCache ? withCacheMarks(messages) : messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || options.effortWithTools === undefined
      ? {}
      : { reasoning_effort: options.effortWithTools }),
    ...(options.maxTokens === undefined ? {} : { [options.maxTokensField]: options.maxTokens }),
    ...defined({ temperature: options.temperature, prompt_cache_key: options.cacheKey }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function wireMessages(request: ModelRequest, options: WireOptions): WireMessage[] {
  const result: WireMessage[] = request.system
    .filter((text) => !isBlank(text))
    .map((content) => ({ role: "system", content }));
  for (const [role, messages] of runs(request.messages)) {
    if (role === "assistant") result.push(...assistantMessage(messages, options));
    else result.push(...userMessages(messages));
  }
  return result;
}

/** One mark behind the prompt, one behind the conversation, each on the last text of its message. */
function withCacheMarks(messages: readonly WireMessage[]): WireMessage[] {
  const ends = [
    messages.findLastIndex(({ role }) => role === "system"),
    messages.findLastIndex(({ role }) => role === "user" || role === "tool"),
  ];
  return messages.map((message, index) => (ends.includes(index) ? marked(message) : message));
}

function marked(message: WireMessage): WireMessage {
  const { content } = message;
  // Of a system, user or tool message: one text, or parts.
  const parts = (typeof content === "string" ? [textPart(content)] : content) as readonly Part[];
  const last = parts.findLastIndex(({ type }) => type === "text");
  const cache_control = { type: "ephemeral" };
  return { ...message, content: parts.map((part, index) => (index === last ? { ...part, cache_control } : part)) };
}

/** Messages of one role in a row are taken together: a call's results must follow it before anything else. */
function runs(messages: readonly Message[]): ["user" | "assistant", Message[]][] {
  const result: ["user" | "assistant", Message[]][] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (last?.[0] === message.role) last[1].push(message);
    else result.push([message.role, [message]]);
  }
  return result;
}

/** Results first, then what the user said; images of results cannot be in a result here and come with the latter. */
function userMessages(messages: readonly Message[]): WireMessage[] {
  const results: WireMessage[] = [];
  const parts: Part[] = [];
  for (const message of messages) {
    if (message.role !== "user") continue;
    for (const block of message.content) {
      if (block.type === "tool_result") {
        const images = block.content.filter((part) => part.type === "image");
        results.push({ role: "tool", tool_call_id: block.tool_use_id, content: resultText(block, images.length) });
        if (images.length > 0) parts.push(textPart(`Images from the result of ${block.tool_use_id}:`));
        parts.push(...images.map(imagePart));
      } else parts.push(...inputParts(block));
    }
  }
  if (parts.length === 0 && results.length === 0) parts.push(textPart(BLANK_INPUT));
  if (parts.length === 0) return results;
  const only = parts.length === 1 ? parts[0] : undefined;
  return [...results, { role: "user", content: only?.type === "text" ? only.text : parts }];
}

function assistantMessage(messages: readonly Message[], { names, echoReasoning }: WireOptions): WireMessage[] {
  const texts: string[] = [];
  const calls: object[] = [];
  const reasoning: Record<string, unknown> = {};
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      switch (block.type) {
        case "text":
          if (!isBlank(block.text)) texts.push(block.text);
          break;
        case "tool_use": {
          const text = jsonText(inputObject(block.input));
          calls.push({ id: block.id, type: "function", function: { name: names.toWire(block.name), arguments: text } });
          break;
        }
        case "thinking":
          // Our own reader made the data of this family: a record of reasoning fields.
          if (block.provider === "openai" && echoReasoning) addReasoning(reasoning, block.data as object);
          break;
        case "yield":
          break;
      }
    }
  }
  if (texts.length === 0 && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: texts.length === 0 ? null : texts.join("\n\n"),
      ...reasoning,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** Several blocks of one message become one value for each field: texts are joined, lists are chained. */
function addReasoning(target: Record<string, unknown>, data: object): void {
  for (const [field, value] of Object.entries(data)) {
    const before = target[field];
    if (typeof before === "string" && typeof value === "string") target[field] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) target[field] = [...before, ...value];
    else target[field] = value;
  }
}

/** The wire has no error flag: it is said in the text. */
function resultText(block: ToolResultBlock, imageCount: number): string {
  const texts = block.content.flatMap((part) => (part.type === "text" && !isBlank(part.text) ? [part.text] : []));
  const text = texts.join("\n\n");
  const shown = text !== "" ? text : imageCount > 0 ? "(see the images below)" : "(no output)";
  return block.is_error ? `Error: ${shown}` : shown;
}

function inputParts(block: InputBlock): Part[] {
  if (block.type === "image") return [imagePart(block)];
  return isBlank(block.text) ? [] : [textPart(block.text)];
}

function textPart(text: string): Part {
  return { type: "text", text };
}

function imagePart(block: ImageBlock): Part {
  return { type: "image_url", image_url: { url: `data:${block.media_type};base64,${block.data}` } };
}
