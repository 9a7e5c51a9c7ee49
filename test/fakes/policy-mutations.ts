/** Fifty ways in which a policy goes wrong by a small edit: each takes the rules that were in force and gives the changed ones. */
import type { Policy } from "#governance";
import { parseRule, type Rule, type RuleEffect } from "../../src/governance/rules.ts";

export interface PolicyMutation {
  readonly name: string;
  readonly policy: Policy;
}

/** All that can be made of this policy, in a fixed order: by kind, then by rule. */
export function policyMutations(policy: Policy): readonly PolicyMutation[] {
  const { rules } = policy;
  const swapped = (at: number, rule: Rule | undefined): Policy => {
    const changed = rules.flatMap((one, index) => (index !== at ? [one] : rule === undefined ? [] : [rule]));
    return { ...policy, rules: changed };
  };
  const kinds: readonly (readonly [string, (rule: Rule) => Rule | undefined | "none"])[] = [
    ["removed", () => undefined],
    ["effect changed to allow", (rule) => (rule.effect === "allow" ? "none" : withEffect(rule, "allow"))],
    ["effect changed to deny", (rule) => (rule.effect === "deny" ? "none" : withEffect(rule, "deny"))],
    ["effect changed to ask", (rule) => (rule.effect === "ask" ? "none" : withEffect(rule, "ask"))],
    ["widened to the tool", (rule) => (rule.pattern === undefined ? "none" : rewritten(rule, rule.tool))],
    ["pattern mistyped", (rule) => (rule.pattern === undefined ? "none" : rewritten(rule, mistyped(rule)))],
    ["narrowed", (rule) => (rule.pattern === undefined ? "none" : narrowed(rule))],
    ["tool mistyped", (rule) => rewritten(rule, rule.text.replace(rule.tool, `${rule.tool}x`))],
  ];
  const ofRules = kinds.flatMap(([kind, change]) =>
    rules.flatMap((rule, at): PolicyMutation[] => {
      const changed = change(rule);
      return changed === "none" ? [] : [{ name: `${rule.effect} ${rule.text}: ${kind}`, policy: swapped(at, changed) }];
    }),
  );
  return [
    ...ofRules,
    { name: "strict switched", policy: { ...policy, strict: !policy.strict } },
    { name: "a deny for every tool added", policy: { ...policy, rules: [...rules, parseRule("*", "deny", "new:1")] } },
    {
      name: "an allow for every tool added",
      policy: { ...policy, rules: [...rules, parseRule("*", "allow", "new:1")] },
    },
    { name: "the tool policies removed", policy: { ...policy, toolsPolicies: [] } },
    { name: "the rules for labels removed", policy: { ...policy, labelRules: [] } },
  ];
}

function withEffect({ text, source }: Rule, effect: RuleEffect): Rule {
  return parseRule(text, effect, source);
}

function rewritten({ effect, source }: Rule, text: string): Rule {
  return parseRule(text, effect, source);
}

/** One letter is missing, behind the `domain:` of a host. */
function mistyped({ tool, pattern = "" }: Rule): string {
  const at = pattern.search(/(?<=^(?:domain:)?[^:]*)[a-z]{2}(?!\w*:)/);
  return `${tool}(${pattern.slice(0, at)}${pattern.slice(at + 1)})`;
}

/** Holds for one thing where it held for many. */
function narrowed(rule: Rule): Rule | "none" {
  const { pattern = "", tool } = rule;
  if (!pattern.includes("*")) return "none";
  return rewritten(rule, `${tool}(${pattern.replace(/\*+/g, "only-this")})`);
}
