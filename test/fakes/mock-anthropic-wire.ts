/** Anthropic's side of the mock vendor: what it streams and what it refuses. */
import type { IncomingHttpHeaders } from "node:http";
import { type MockMessage, pieces } from "./mock-reply.ts";

export interface Refusal {
  readonly status: number;
  readonly body: object;
}

const MAX_CACHE_BREAKPOINTS = 4;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const IMAGE_TYPES: ReadonlySet<string | undefined> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
/** The kinds of blocks of each role, with the fields that each may have; the API refuses any other. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  user: {
    text: ["text", "cache_control", "citations"],
    image: ["source", "cache_control"],
    tool_result: ["tool_use_id", "content", "is_error", "cache_control"],
  },
  assistant: {
    text: ["text", "cache_control", "citations"],
    thinking: ["thinking", "signature"],
    redacted_thinking: ["data"],
    tool_use: ["id", "name", "input", "cache_control", "caller"],
  },
  tool_result: { text: ["text", "cache_control", "citations"], image: ["source", "cache_control"] },
};

/** Every event of the response, framed and ready to be written. */
export function anthropicEvents(reply: MockMessage, model: string): string[] {
  const { blocks, usage = { input: 10, output: 20 } } = reply;
  const events: string[] = [];
  const add = (type: string, rest: object): void => {
    events.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  };
  const counted = {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
  };
  const empty = { id: "msg_mock", type: "message", role: "assistant", model, content: [] };
  add("message_start", {
    message: { ...empty, stop_reason: null, stop_sequence: null, usage: { ...counted, output_tokens: 1 } },
  });
  add("ping", {});
  blocks.forEach((block, index) => {
    const start = (content_block: object): void => add("content_block_start", { index, content_block });
    const delta = (value: object): void => add("content_block_delta", { index, delta: value });
    switch (block.type) {
      case "text":
        start({ type: "text", text: "" });
        for (const text of pieces(block.text, block.deltas ?? 1)) delta({ type: "text_delta", text });
        break;
      case "thinking":
        start({ type: "thinking", thinking: "", signature: "" });
        for (const thinking of pieces(block.text, block.deltas ?? 1)) delta({ type: "thinking_delta", thinking });
        delta({ type: "signature_delta", signature: block.signature ?? "c2lnbmF0dXJl" });
        break;
      case "redacted_thinking":
        start({ type: "redacted_thinking", data: block.data });
        break;
      case "tool_call":
        start({ type: "tool_use", id: `toolu_mock_${index}`, name: block.name, input: {} });
        delta({ type: "input_json_delta", partial_json: "" });
        for (const partial_json of pieces(block.arguments, block.deltas ?? 1)) {
          delta({ type: "input_json_delta", partial_json });
        }
        break;
    }
    add("content_block_stop", { index });
  });
  const natural = blocks.some((block) => block.type === "tool_call") ? "tool_use" : "end_turn";
  const stop_reason = reply.stop === undefined ? natural : reply.stop;
  add("message_delta", {
    delta: { stop_reason, stop_sequence: null },
    usage: { ...counted, output_tokens: usage.output },
  });
  add("message_stop", {});
  return events;
}

/** What the API would refuse, in its own form. */
export function refuseAnthropic(headers: IncomingHttpHeaders, body: unknown): Refusal | undefined {
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return refusal(401, "authentication_error", "x-api-key header is required");
  }
  if (headers["anthropic-version"] === undefined) {
    return refusal(400, "invalid_request_error", "anthropic-version: header is required");
  }
  const problem = problemOf(body);
  return problem === undefined ? undefined : refusal(400, "invalid_request_error", problem);
}

interface Block {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly source?: { readonly type?: string; readonly media_type?: string; readonly data?: string };
  readonly signature?: string;
  readonly content?: string | readonly Block[];
  readonly is_error?: boolean;
  readonly cache_control?: object;
}

interface Body {
  readonly model?: unknown;
  readonly max_tokens?: unknown;
  readonly stream?: unknown;
  readonly system?: string | readonly Block[];
  readonly tools?: readonly {
    readonly name?: string;
    readonly input_schema?: { type?: string };
    cache_control?: object;
  }[];
  readonly messages?: readonly { readonly role?: string; readonly content?: string | readonly Block[] }[];
}

function problemOf(raw: unknown): string | undefined {
  if (typeof raw !== "object" || raw === null) return "the body must be an object";
  // Every field of a Body is optional; what is there is checked below.
  const body = raw as Body;
  if (typeof body.model !== "string") return "model: Field required";
  if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
  if (body.stream !== true) return "the mock only streams";
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "messages: at least one message is required";
  if (breakpoints(body) > MAX_CACHE_BREAKPOINTS) return "A maximum of 4 blocks with cache_control may be provided.";
  const system = typeof body.system === "string" ? [{ type: "text", text: body.system }] : (body.system ?? []);
  const wrong = system.map((block, at) => problemOfBlock(block, `system.${at}`)).find(Boolean);
  if (wrong !== undefined) return wrong;
  const names = new Set<string | undefined>();
  for (const [at, tool] of (body.tools ?? []).entries()) {
    if (!TOOL_NAME.test(tool.name ?? "")) return `tools.${at}.name: String should match pattern '${TOOL_NAME.source}'`;
    if (names.has(tool.name)) return "tools: Tool names must be unique.";
    names.add(tool.name);
    if (tool.input_schema?.type !== "object") return `tools.${at}.input_schema.type: Field required`;
  }
  return problemOfMessages(body.messages);
}

function problemOfMessages(messages: NonNullable<Body["messages"]>): string | undefined {
  let open = new Set<string>();
  let previous: string | undefined;
  const ids = new Set<string>();
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== "user" && role !== "assistant") return `messages.${at}.role: Input should be 'user' or 'assistant'`;
    if (at === 0 && role !== "user") return "messages: first message must use the user role";
    // The API joins turns of one role; the results of a call must then still come first.
    if (role === previous) return `messages.${at}: the mock wants alternating roles`;
    const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
    if (blocks.length === 0) return `messages.${at}: content must not be empty`;
    const answered = new Set<string>();
    const asked = new Set<string>();
    let sawOther = false;
    for (const [n, block] of blocks.entries()) {
      const where = `messages.${at}.content.${n}`;
      const problem = problemOfFields(role, block, where) ?? problemOfBlock(block, where);
      if (problem !== undefined) return problem;
      if (block.type === "tool_use" && block.id !== undefined) {
        if (ids.has(block.id)) return "messages: `tool_use` ids must be unique";
        ids.add(block.id);
        asked.add(block.id);
      }
      if (block.type === "tool_result") {
        if (sawOther) return `${where}: tool_result blocks must come first`;
        if (!open.has(block.tool_use_id ?? "")) return `${where}: unexpected \`tool_use_id\`: ${block.tool_use_id}`;
        if (answered.has(block.tool_use_id ?? "")) return `${where}: each tool_use must have a single result`;
        answered.add(block.tool_use_id ?? "");
      } else sawOther = true;
    }
    if (role === "assistant" && blocks.at(-1)?.type?.endsWith("thinking")) {
      return `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`;
    }
    const missing = [...open].filter((id) => !answered.has(id));
    if (missing.length > 0) return `messages.${at}: \`tool_use\` ids without \`tool_result\`: ${missing.join(", ")}`;
    open = asked;
    previous = role;
  }
  if (open.size > 0) return "messages: `tool_use` ids were found without `tool_result` blocks immediately after";
  return previous === "assistant" ? "This model does not support assistant message prefill." : undefined;
}

function problemOfFields(role: string, block: Block, where: string): string | undefined {
  const fields = FIELDS[role]?.[block.type ?? ""];
  if (fields === undefined) return `${where}.type: \`${block.type}\` blocks are not permitted here`;
  const extra = Object.keys(block).find((name) => name !== "type" && !fields.includes(name));
  return extra === undefined ? undefined : `${where}.${extra}: Extra inputs are not permitted`;
}

function problemOfBlock(block: Block, where: string): string | undefined {
  switch (block.type) {
    case "text":
      return block.text?.trim() ? undefined : `${where}: text content blocks must contain non-whitespace text`;
    case "image": {
      const { type, media_type, data } = block.source ?? {};
      if (type !== "base64" || !IMAGE_TYPES.has(media_type)) return `${where}.source: Field required`;
      return data && Buffer.from(data, "base64").toString("base64") === data
        ? undefined
        : `${where}.source: bad base64`;
    }
    case "tool_use":
      if (!CALL_ID.test(block.id ?? "")) return `${where}.id: String should match pattern '${CALL_ID.source}'`;
      if (!TOOL_NAME.test(block.name ?? "")) return `${where}.name: String should match pattern`;
      return isRecord(block.input) ? undefined : `${where}.input: Input should be a valid dictionary`;
    case "tool_result": {
      if (block.is_error === true && (block.content ?? []).length === 0) return `${where}: content cannot be empty`;
      if (typeof block.content === "string" || block.content === undefined) return undefined;
      if (block.is_error === true && block.content.some(({ type }) => type !== "text")) {
        return `${where}: all content must be type "text" if "is_error" is true`;
      }
      return block.content
        .map((part, n) => {
          const at = `${where}.content.${n}`;
          return problemOfFields("tool_result", part, at) ?? problemOfBlock(part, at);
        })
        .find(Boolean);
    }
    case "thinking":
      if (block.cache_control !== undefined) return `${where}: cache_control is not allowed on thinking`;
      return block.signature ? undefined : `${where}.signature: Field required`;
    case "redacted_thinking":
      return undefined;
    default:
      return `${where}.type: unknown block ${block.type}`;
  }
}

function breakpoints(body: Body): number {
  const system = typeof body.system === "string" ? [] : (body.system ?? []);
  const blocks = (body.messages ?? []).flatMap(({ content }) => (typeof content === "string" ? [] : (content ?? [])));
  return [...system, ...(body.tools ?? []), ...blocks].filter((each) => each.cache_control !== undefined).length;
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refusal(status: number, type: string, message: string): Refusal {
  return { status, body: { type: "error", error: { type, message } } };
}
