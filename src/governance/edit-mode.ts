/** What the mode `accept-edits` is: two rules. Deny and ask rules, secret files and steering files come before them as before all. */
import { parseRule, type Rule, type RuleMatch } from "./rules.ts";

const RULES: readonly Rule[] = ["fs.edit", "fs.write"].map((tool) => parseRule(tool, "allow", "mode accept-edits"));

/** No rule that somebody wrote allows the call. */
export function isModeAlone(matches: readonly RuleMatch[]): boolean {
  return matches.length > 0 && matches.every(({ rule }) => RULES.includes(rule));
}

/** The same list for the same list: what is worked out for one is kept with it. */
const made = new WeakMap<readonly Rule[], readonly Rule[]>();

export function withEditRules(rules: readonly Rule[]): readonly Rule[] {
  const known = made.get(rules) ?? [...rules, ...RULES];
  made.set(rules, known);
  return known;
}
