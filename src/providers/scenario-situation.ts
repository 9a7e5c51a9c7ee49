/** Where a conversation stands, as far as a scenario's rules can tell, and what a template makes of it. Pure. */
import { type ContentBlock, type Message, textIn } from "#protocol";
import type { Condition, TextMatcher } from "./scenario.ts";

/** Of the input and of a tool result, so much is looked at by rules, and so much inserted by templates. */
const MAX_MATCHED_CHARS = 10_000;
const MAX_INSERTED_CHARS = 4000;
const MAX_QUOTED_CHARS = 100;

export interface Situation {
  /** What the person wrote last; it began the turn. */
  readonly input: string;
  /** The number of this model call in the turn, from 1. */
  readonly step: number;
  /** The last tool result since then. */
  readonly lastResult?: { readonly tool: string; readonly text: string };
}

export function situationOf(messages: readonly Message[]): Situation {
  const start = messages.findLastIndex(({ role, content }) => role === "user" && content.some(isInput));
  const turn = messages.slice(start + 1);
  const names = new Map<string, string>();
  let lastResult: Situation["lastResult"];
  for (const { content } of turn) {
    for (const block of content) {
      if (block.type === "tool_use") names.set(block.id, block.name);
      if (block.type !== "tool_result") continue;
      lastResult = { tool: names.get(block.tool_use_id) ?? "", text: withoutMarks(textIn(block.content)) };
    }
  }
  return {
    input: textIn((messages[start]?.content ?? []).filter(isInput)),
    step: turn.filter(({ role }) => role === "assistant").length + 1,
    ...(lastResult !== undefined && { lastResult }),
  };
}

/** A result as the tool gave it: rules and templates are about that, not about the delimiters that it is shown in. */
function withoutMarks(text: string): string {
  return text.replace(/^<untrusted id="([0-9a-f]+)" from="[^"]*">\n([\s\S]*)\n<\/untrusted id="\1">$/, "$2");
}

/** True when every condition that is given holds. */
export function matches(when: Condition, { input, step, lastResult }: Situation): boolean {
  if (when.step !== undefined && when.step !== step) return false;
  if (when.tool !== undefined && when.tool !== lastResult?.tool) return false;
  if (when.input !== undefined && !matchesText(when.input, input)) return false;
  if (when.toolResult === undefined) return true;
  return lastResult !== undefined && matchesText(when.toolResult, lastResult.text);
}

/** Fills `{{input}}`, `{{tool_result}}` and the groups of the pattern that the input matched, `{{input.1}}`. */
export function fillTemplate(template: string, situation: Situation, matcher: TextMatcher | undefined): string {
  const groups = matcher instanceof RegExp ? matcher.exec(situation.input.slice(0, MAX_MATCHED_CHARS)) : null;
  return template.replace(/\{\{(input|tool_result|input\.([1-9]))\}\}/g, (_, name: string, group?: string) => {
    if (group !== undefined) return shorten(groups?.[Number(group)] ?? "", MAX_INSERTED_CHARS);
    return shorten(name === "input" ? situation.input : (situation.lastResult?.text ?? ""), MAX_INSERTED_CHARS);
  });
}

/** For the message that no rule matched. */
export function describeSituation({ input, step, lastResult }: Situation): string {
  const after = lastResult === undefined ? "" : ` after the result of ${lastResult.tool}`;
  return `step ${step}${after} of the turn that began with "${shorten(input, MAX_QUOTED_CHARS)}".`;
}

function matchesText(matcher: TextMatcher, text: string): boolean {
  const looked = text.slice(0, MAX_MATCHED_CHARS);
  if (matcher instanceof RegExp) return matcher.test(looked);
  return looked.toLowerCase().includes(matcher.toLowerCase());
}

/** What Harness tells a model in the place of an input: about plan mode, background commands, undone changes. */
const NOTE = "[harness: ";

function isInput(block: ContentBlock): boolean {
  return block.type === "image" || (block.type === "text" && !block.text.startsWith(NOTE));
}

function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
