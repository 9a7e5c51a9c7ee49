/** A checker that knows no Starlark: it finds three planted mistakes, at the place where the contract says they are. */

import type { Problem, ScriptChecker, ScriptSource, SourceLocation } from "#artifacts";
import { defined } from "#base";

/** `SYNTAX` in a script, a script without its entry point, and an expression that is `False`. */
export function createFakeScriptChecker(version?: string): ScriptChecker & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    ...defined({ version }),
    tool(tool) {
      asked.push(tool.name);
      return checkScript(tool.script, "run");
    },
    hook(hook) {
      asked.push(hook.name);
      return [...checkScript(hook.script, "handle"), ...checkExpression(hook.when)];
    },
    condition(_, condition) {
      asked.push(condition.text);
      return checkExpression(condition);
    },
  };
}

function checkScript(script: ScriptSource | undefined, entryPoint: string): Problem[] {
  if (script === undefined) return [];
  const wrong = script.text.indexOf("SYNTAX");
  if (wrong >= 0) return [problem("script-syntax", placeIn(script, wrong))];
  return script.text.includes(`def ${entryPoint}(`) ? [] : [problem("script-entry-point", script.place)];
}

function checkExpression(expression: ScriptSource | undefined): Problem[] {
  return expression?.text.trim() === "False" ? [problem("never-true", expression.place)] : [];
}

function placeIn({ text, place }: ScriptSource, offset: number): SourceLocation {
  const before = text.slice(0, offset).split("\n");
  return { ...place, line: place.line + before.length - 1, column: place.column + (before.at(-1)?.length ?? 0) };
}

function problem(code: string, place: SourceLocation): Problem {
  return { severity: "error", code, place, message: code };
}
