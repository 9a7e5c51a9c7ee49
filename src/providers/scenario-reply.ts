/** The reply of a scenario's rule: what it is made of, and how it is read from the file. */
import type { Node } from "yaml";
import { type ScenarioDocument, unknownKey } from "./scenario-document.ts";

export const MAX_TEXT_CHARS = 100_000;
export const MAX_TIMES = 1_000_000;
const MAX_REPLY_ITEMS = 100;
const MAX_WAIT_MS = 600_000;

const FAULTS = [
  "rate_limited",
  "unavailable",
  "cut",
  "garbled",
  "timeout",
  "unauthorized",
  "content_filter",
  "length",
] as const;

export type Fault = (typeof FAULTS)[number];

export type ReplyItem =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  /** `args` is sent as JSON; a string is sent as it is, so that broken arguments can be tried. */
  | { readonly kind: "tool"; readonly name: string; readonly args: unknown }
  | { readonly kind: "fault"; readonly fault: Fault; readonly retryAfterMs?: number; readonly times?: number }
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "yield"; readonly reason?: string };

const ITEM_KEYS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  thinking: ["thinking"],
  tool: ["tool", "args"],
  fault: ["fault", "retry_after_ms", "times"],
  pause_ms: ["pause_ms"],
  yield: ["yield"],
};

/** The items of a reply; `groups` is how many groups the rule's input pattern captures, for templates. */
export function readReply(document: ScenarioDocument, node: Node, groups: number): ReplyItem[] {
  const nodes = document.list(node, MAX_REPLY_ITEMS) ?? [];
  const reply: ReplyItem[] = [];
  nodes.forEach((itemNode, index) => {
    const item = readItem(document, itemNode, groups);
    if (item === undefined) return;
    const isEnd = item.kind === "yield" || (item.kind === "fault" && item.times === undefined);
    if (isEnd && index < nodes.length - 1) document.problem(itemNode, `nothing after "${item.kind}" is ever reached`);
    reply.push(item);
  });
  return reply;
}

function readItem(document: ScenarioDocument, node: Node, groups: number): ReplyItem | undefined {
  const kinds = Object.keys(ITEM_KEYS);
  const keys = document.keysOf(node);
  const [kind, second] = keys.filter((key) => kinds.includes(key));
  if (kind === undefined || second !== undefined) {
    const slip = keys.find((key) => !kinds.includes(key));
    const hint = second === undefined && slip !== undefined ? `: ${unknownKey(slip, kinds)}` : "";
    document.problem(node, `expected exactly one of ${kinds.join(", ")}${hint}`);
    return undefined;
  }
  const fields = document.mapping(node, ITEM_KEYS[kind] ?? []);
  const value = fields?.get(kind);
  if (fields === undefined || value === undefined) return undefined;
  switch (kind) {
    case "text":
    case "thinking": {
      const text = readTemplate(document, value, groups);
      return text === undefined ? undefined : { kind, text };
    }
    case "tool": {
      const name = document.text(value, MAX_TEXT_CHARS);
      const args = fields.get("args");
      return name === undefined ? undefined : { kind, name, args: args ? readArguments(document, args, groups) : {} };
    }
    case "fault":
      return readFault(document, value, fields);
    case "pause_ms": {
      const ms = document.integer(value, 0, MAX_WAIT_MS);
      return ms === undefined ? undefined : { kind: "pause", ms };
    }
    default: {
      const reason = document.value(value) === null ? undefined : document.text(value, MAX_TEXT_CHARS);
      return { kind: "yield", ...(reason !== undefined && { reason }) };
    }
  }
}

function readFault(document: ScenarioDocument, node: Node, fields: ReadonlyMap<string, Node>): ReplyItem | undefined {
  const name = document.text(node, MAX_TEXT_CHARS);
  const fault = FAULTS.find((known) => known === name);
  if (name !== undefined && fault === undefined)
    document.problem(node, unknownKey(name, FAULTS).replace("key", "fault"));
  const [wait, limit] = [fields.get("retry_after_ms"), fields.get("times")];
  const retryAfterMs = wait && document.integer(wait, 0, MAX_WAIT_MS);
  const times = limit && document.integer(limit, 1, MAX_TIMES);
  if (fault === undefined) return undefined;
  return {
    kind: "fault",
    fault,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(times !== undefined && { times }),
  };
}

function readArguments(document: ScenarioDocument, node: Node, groups: number): unknown {
  const args = document.value(node);
  if (typeof args !== "string" && (typeof args !== "object" || args === null || Array.isArray(args))) {
    document.problem(node, "expected a mapping of arguments, or a text that is sent as it is");
  }
  checkTemplates(document, node, JSON.stringify(args), groups);
  return args;
}

function readTemplate(document: ScenarioDocument, node: Node, groups: number): string | undefined {
  const text = document.text(node, MAX_TEXT_CHARS);
  if (text !== undefined) checkTemplates(document, node, text, groups);
  return text;
}

function checkTemplates(document: ScenarioDocument, node: Node, text: string, groups: number): void {
  for (const [whole, name = ""] of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    const group = /^input\.([1-9])$/.exec(name)?.[1];
    if (name === "input" || name === "tool_result" || (group !== undefined && Number(group) <= groups)) continue;
    const why =
      group === undefined
        ? "known are {{input}}, {{tool_result}} and {{input.1}} to {{input.9}}"
        : `the pattern of when.input has ${groups} groups`;
    document.problem(node, `${whole} stands for nothing; ${why}`);
  }
}
