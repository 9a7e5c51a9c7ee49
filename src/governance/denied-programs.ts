/** Which programs the rules deny as a whole: those that the sandbox can take away, so that nothing can start them either. */
import { argvPattern } from "./argv-patterns.ts";
import { namesKind, type Rule } from "./rules.ts";
import { programName } from "./shell/wrappers.ts";
import { hasGlob } from "./wildcard.ts";

/**
 * Names without a folder, each once, of the programs that a deny rule denies whatever their arguments are: `Bash(curl)`,
 * `Bash(curl *)`, `Bash(curl:*)`. Expects rules that are in force; a rule that names labels counts like any other.
 */
export function deniedPrograms(rules: readonly Rule[]): readonly string[] {
  const names = rules
    .filter((rule) => rule.effect === "deny" && namesKind(rule, "command"))
    .flatMap(({ pattern }) => {
      const [program = "", ...rest] = pattern === undefined ? [] : argvPattern(pattern);
      return rest.every((word) => /^\*+$/.test(word)) && !hasGlob(program) ? [programName([program])] : [];
    });
  return [...new Set(names)].filter((name) => name !== "").toSorted();
}
