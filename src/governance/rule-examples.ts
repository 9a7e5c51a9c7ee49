/** Permission rules of a project, held against what is written beside them: a rule that does not do what it says does not load. */
import type { PermissionExample, PermissionRule, Problem, SourceLocation } from "#artifacts";
import { ReasonError } from "#protocol";
import { canonicalName, kindOf } from "./known-tools.ts";
import { evaluateRules, parseRule, type RuleCall } from "./rules.ts";

/** Wrong rules first, then examples that a rule does not keep. */
export function checkRules(rules: readonly PermissionRule[], examples: readonly PermissionExample[]): Problem[] {
  const wrong = rules.flatMap(({ rule, effect, source }): Problem[] => {
    try {
      parseRule(rule, effect, source);
      return [];
    } catch (error) {
      if (!(error instanceof ReasonError)) throw error;
      return [{ severity: "error", code: "bad-rule", place: placeOf(source), message: error.message }];
    }
  });
  if (wrong.length > 0) return wrong;
  return examples.flatMap(({ rule, effect, example, matches, place }): Problem[] => {
    const call = exampleCall(example);
    if (call === undefined) {
      const message = `"${example}" is not a call.`;
      return [{ severity: "error", code: "bad-example", place, message, expected: "a call such as Bash(git push)" }];
    }
    const { trail } = evaluateRules([parseRule(rule, effect, "example")], call);
    if (trail.length > 0 === matches) return [];
    const message = `The ${effect} rule ${rule} ${matches ? "does not match" : "matches"} ${example}.`;
    return [{ severity: "error", code: "example-broken", place, message }];
  });
}

/** `Bash(git push)` or a tool alone. */
function exampleCall(text: string): RuleCall | undefined {
  const [, written = "", subject = ""] = /^([A-Za-z_][\w.-]*)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (written === "") return undefined;
  const tool = canonicalName(written);
  const kind = kindOf(tool);
  const args = kind === "command" ? { command: subject } : kind === "fetch" ? { url: subject } : { path: subject };
  return { tool, label: written, class: "mutating", args, subject };
}

/** `file:line`, as rules have it. */
function placeOf(source: string): SourceLocation {
  const [, file = source, line = "1"] = /^(.*):(\d+)$/.exec(source) ?? [];
  return { file, line: Number(line), column: 1 };
}
