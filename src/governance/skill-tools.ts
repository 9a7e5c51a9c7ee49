/**
 * An entry of `allowed-tools`, as the authors of skills mean it: names of tools as other agents have them, and `Bash(git *)` or
 * `Bash(git:*)` for all that begins so. Because such a list takes tools away and never allows a call, it is not read as narrowly as a
 * permission rule, whose `*` reaches no option.
 */
import { ReasonError } from "#protocol";
import { argvPattern } from "./argv-patterns.ts";
import { canonicalName, isCommand } from "./known-tools.ts";
import { evaluateRules, parseRule, type Rule, type RuleCall, steeredBy } from "./rules.ts";
import { analyseShell } from "./shell/analysis.ts";
import type { SimpleCommand } from "./shell/command.ts";
import { ownToolNames } from "./shell-hooks/tool-vocabulary.ts";
import { matchSequence, matchWildcard } from "./wildcard.ts";

/** Empty for what names no tool here. */
export function skillToolRules(written: string, source: string): readonly Rule[] {
  const [, name = written, pattern = ""] = /^([^(]+)(\(.*\))$/s.exec(written) ?? [];
  return ownToolNames(name).flatMap((tool) => {
    try {
      return [parseRule(`${tool}${pattern}`, "allow", source)];
    } catch (error) {
      if (error instanceof ReasonError) return [];
      throw error;
    }
  });
}

/** Whether the list has the call: each command of a compound one. What cannot be read is not in it. */
export function listsCall(rules: readonly Rule[], call: RuleCall, root: string): boolean {
  if (evaluateRules(rules, call, { root }).effect === "allow") return true;
  if (!isCommand(call.tool) || typeof call.args.command !== "string") return false;
  const patterns = rules.flatMap(({ tool, pattern }) =>
    pattern !== undefined && isCommand(canonicalName(tool)) ? [argvPattern(pattern)] : [],
  );
  const { understood, commands } = analyseShell(call.args.command);
  return understood && commands.length > 0 && commands.every((command) => isListed(patterns, command));
}

function isListed(patterns: readonly (readonly string[])[], command: SimpleCommand): boolean {
  const { words, redirects, transparent, starts } = command;
  // A file that the shell writes is not what the listed program does.
  if (redirects.some(({ writes }) => writes)) return false;
  if (command.poisoned !== undefined || steeredBy(command) !== undefined) return false;
  if (patterns.some((pattern) => matchSequence(pattern, words, "*", matchWildcard))) return true;
  return transparent && starts.length > 0 && starts.every((started) => isListed(patterns, started));
}
