/** What a permission question offers and says: the rule that an answer would add, the call in one line, how to allow it next time. */
import { cutAtBlank } from "#base";
import type { Judgement, ToolCall } from "#engine";
import { asRuleCall, LABEL_GUARD, SECRET } from "./judge.ts";
import { isCommand, isFileTool, kindOf } from "./known-tools.ts";
import type { PermissionOptions } from "./permission.ts";
import { suggestArgvGlob } from "./quiet-preset.ts";

const SUMMARY_CHARS = 2000;

/** A person reads this through the model: what to do so that the call passes next time. */
export function howToAllow(
  tool: string,
  rule: string | undefined,
  { by, trail }: Judgement,
  howToAdd: PermissionOptions["howToAddRule"],
): string {
  const withRule = (text: string): string =>
    `The user can allow it with the rule ${text}${howToAdd === undefined ? "" : ` (${howToAdd(text)})`}.`;
  const asks = trail.find(({ stage, effect }) => stage === "rule" && effect === "ask");
  // An allow rule would not help: the stricter one wins.
  if (asks !== undefined)
    return `To allow it, change the rule 'ask ${asks.name}' (${asks.source}), or run where a person can answer.`;
  if (by === LABEL_GUARD)
    return `To allow it, run where a person can answer, or add a rule that names both labels: ${tool}[private,untrusted].`;
  if (by === SECRET && rule === undefined) return "The user can allow it with a rule that names the file.";
  if (by === "repeated calls") return "To allow it, run where a person can answer, or make a different call.";
  if (rule !== undefined) return withRule(rule);
  return isCommand(tool)
    ? "Run its commands as separate, simple commands; the user can then allow each one with a rule."
    : withRule(tool);
}

/** What "allow this kind for the session" would add; undefined where no pattern would mean one thing only. */
export function ruleToOffer(call: ToolCall, { by }: Judgement): string | undefined {
  const { tool, args } = call;
  const { subject } = asRuleCall(call);
  // A rule with a wildcard would not cover a secret file, nor would one for the folder of a search.
  if (by === SECRET && isCommand(tool.name))
    return PLAIN_COMMAND.test(subject) ? `${tool.label}(${subject})` : undefined;
  if (by === SECRET && args.glob !== undefined) return undefined;
  if (isCommand(tool.name)) {
    const glob = suggestArgvGlob(subject);
    return glob === undefined ? undefined : `${tool.label}(${glob})`;
  }
  if (kindOf(tool.name) === "fetch") {
    const host = URL.canParse(subject) ? new URL(subject).hostname : undefined;
    return host === undefined ? undefined : `${tool.label}(domain:${host})`;
  }
  if (!isFileTool(tool.name) || /[*?[\]{}()!\\]/.test(subject)) return undefined;
  return `${tool.label}(${subject})`;
}

const PLAIN_COMMAND = /^[\w./ -]+$/;

/** What would run, complete enough to decide on: it is cut only when it is very long, and then says so. */
export function summarise(call: ToolCall): string {
  const { subject } = asRuleCall(call);
  const shown = cutAtBlank(subject, SUMMARY_CHARS);
  return shown === subject ? subject : `${shown}… (${subject.length - shown.length} more characters)`;
}
