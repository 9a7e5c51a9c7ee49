/**
 * A scenario: what the scripted model answers, as a YAML file. Reading and checking only; `scripted.ts` plays it.
 *
 *   name: hello                  # the model is scripted:hello
 *   description: …               # optional, as are `prompt` (the input to try it with) and `allow` (permission rules)
 *   rules:                       # the first rule that matches answers
 *     - when: {input: /^hi\b/i}  # all given conditions must hold: input, tool_result, tool, step
 *       reply: [{text: "You said {{input}}."}]
 *       times: 1                 # optional: used up after so many answers
 *   otherwise: [{text: "…"}]     # optional: when no rule matches
 *
 * A reply is a list of `text`, `thinking`, `tool` (with `args`), `fault` (with `retry_after_ms`, `times`), `pause_ms` and
 * `yield`. docs/reference/scenarios.md says it in full.
 */
import { readFile, stat } from "node:fs/promises";
import type { Node } from "yaml";
import { fileErrorText, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { readDocument, type ScenarioDocument } from "./scenario-document.ts";
import { MAX_TEXT_CHARS, MAX_TIMES, type ReplyItem, readReply } from "./scenario-reply.ts";

const MAX_FILE_BYTES = 1_000_000;
const MAX_RULES = 1000;
const MAX_ALLOW_RULES = 100;
const MAX_STEP = 10_000;

/** A text is looked for without regard to case; a pattern as it is written. */
export type TextMatcher = string | RegExp;

/** All that are given must hold. */
export interface Condition {
  readonly input?: TextMatcher;
  readonly toolResult?: TextMatcher;
  /** The tool whose result came last in this turn. */
  readonly tool?: string;
  /** The number of the model call in its turn, from 1. */
  readonly step?: number;
}

export interface Rule {
  readonly when: Condition;
  readonly reply: readonly ReplyItem[];
  readonly times?: number;
}

export interface Scenario {
  readonly name: string;
  readonly description?: string;
  readonly prompt?: string;
  readonly allow: readonly string[];
  readonly rules: readonly Rule[];
  readonly otherwise?: readonly ReplyItem[];
}

/** Rejects with ScenarioInvalid when the file is not there, too large or wrong. */
export async function loadScenario(path: string): Promise<Scenario> {
  const refuse = (detail: string, cause?: unknown): never => {
    throw new ReasonError("ScenarioInvalid", `${path}: ${detail}`, { cause });
  };
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return refuse(`the file is larger than ${MAX_FILE_BYTES} bytes`);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    const detail = fileErrorText(error, path);
    if (detail === undefined) return refuse(messageOf(error), error);
    throw new ReasonError("ScenarioInvalid", detail, { cause: error });
  }
  return parseScenario(text, path);
}

/** Rejects with ScenarioInvalid that lists every problem as `file:line:column: …`. */
export async function parseScenario(text: string, file: string): Promise<Scenario> {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) {
    throw new ReasonError("ScenarioInvalid", `${file}: the file is larger than ${MAX_FILE_BYTES} bytes`);
  }
  const document = await readDocument(text, file);
  const keys = ["name", "description", "prompt", "allow", "rules", "otherwise"];
  const fields = document.mapping(document.root, keys, ["name", "rules"]);
  const read = <Value>(key: string, reader: (node: Node) => Value): Value | undefined => {
    const node = fields?.get(key);
    return node === undefined ? undefined : reader(node);
  };
  const name = read("name", (node) => readName(document, node));
  const description = read("description", (node) => document.text(node, MAX_TEXT_CHARS));
  const prompt = read("prompt", (node) => document.text(node, MAX_TEXT_CHARS));
  const allow = read("allow", (node) => readTexts(document, node)) ?? [];
  const rules = read("rules", (node) => readRules(document, node)) ?? [];
  const otherwise = read("otherwise", (node) => readReply(document, node, 0));
  document.finish();
  return {
    // A missing name is a problem, and problems ended this function above.
    name: name ?? "",
    ...(description !== undefined && { description }),
    ...(prompt !== undefined && { prompt }),
    allow,
    rules,
    ...(otherwise !== undefined && { otherwise }),
  };
}

function readName(document: ScenarioDocument, node: Node): string | undefined {
  const name = document.text(node, MAX_TEXT_CHARS);
  if (name === undefined || /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return name;
  document.problem(node, `a name is up to 64 letters, digits, ".", "_" and "-"`);
  return undefined;
}

function readTexts(document: ScenarioDocument, node: Node): string[] {
  const items = document.list(node, MAX_ALLOW_RULES) ?? [];
  return items.flatMap((item) => document.text(item, MAX_TEXT_CHARS) ?? []);
}

function readRules(document: ScenarioDocument, node: Node): Rule[] {
  return (document.list(node, MAX_RULES) ?? []).map((item) => {
    const fields = document.mapping(item, ["when", "reply", "times"], ["reply"]);
    const [when, reply, times] = [fields?.get("when"), fields?.get("reply"), fields?.get("times")];
    const condition = when === undefined ? {} : readCondition(document, when);
    const limit = times && document.integer(times, 1, MAX_TIMES);
    return {
      when: condition,
      reply: reply === undefined ? [] : readReply(document, reply, groupsOf(condition.input)),
      ...(limit !== undefined && { times: limit }),
    };
  });
}

function readCondition(document: ScenarioDocument, node: Node): Condition {
  const fields = document.mapping(node, ["input", "tool_result", "tool", "step"]);
  const [input, result] = ["input", "tool_result"].map((key) => {
    const value = fields?.get(key);
    return value && readMatcher(document, value);
  });
  const toolNode = fields?.get("tool");
  const tool = toolNode && document.text(toolNode, MAX_TEXT_CHARS);
  const stepNode = fields?.get("step");
  const step = stepNode && document.integer(stepNode, 1, MAX_STEP);
  return {
    ...(input !== undefined && { input }),
    ...(result !== undefined && { toolResult: result }),
    ...(tool !== undefined && { tool }),
    ...(step !== undefined && { step }),
  };
}

function readMatcher(document: ScenarioDocument, node: Node): TextMatcher | undefined {
  const text = document.text(node, MAX_TEXT_CHARS);
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text ?? "") ?? [];
  if (source === undefined || flags === undefined) return text;
  if (!/^[imsu]*$/.test(flags)) {
    document.problem(node, `a pattern takes the flags i, m, s and u, not "${flags}"`);
    return undefined;
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    document.problem(node, `not a pattern: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** How many groups a pattern captures. */
function groupsOf(matcher: TextMatcher | undefined): number {
  if (!(matcher instanceof RegExp)) return 0;
  return (new RegExp(`${matcher.source}|`, matcher.flags).exec("")?.length ?? 1) - 1;
}
