/** A checker that compiles scripts and looks for nothing else: the least that every real one has to do. */
import type { ScriptChecker } from "#artifacts";
import { check } from "#starlark";

export function compilingChecker(): ScriptChecker {
  const compiled = (text: string | undefined): [] => {
    const issues = text === undefined ? [] : check(text, "script.star", { predeclared: { allow: null, block: null } });
    if (issues.length > 0) throw new Error(`the script of the benchmark is wrong: ${text}`);
    return [];
  };
  return {
    version: "bench",
    tool: ({ script }) => compiled(script?.text),
    hook: ({ script }) => compiled(script?.text),
    condition: () => [],
  };
}
