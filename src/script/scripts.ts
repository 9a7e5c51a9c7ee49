/** Artifacts with scripts, as the tools, hooks and predicates that the rest of the program works with. */
import type { HookArtifact, ScriptSource, ToolArtifact } from "#artifacts";
import type { Hook, Tool } from "#engine";
import { expressionLimits } from "#starlark";
import { builtinsFor } from "./builtins/table.ts";
import { ConditionCall, compileCondition } from "./condition.ts";
import { hookOf } from "./hook-script.ts";
import type { ContextValues } from "./run-state.ts";
import { placedError } from "./script-error.ts";
import type { ScriptServices } from "./services.ts";
import { toolOf } from "./tool-script.ts";

/** Whether a `condition:` holds for these values. Throws, with the place, when that cannot be told. */
export type Condition = (values: ContextValues) => boolean;

/** The text for these values. Throws, with the place, when there is none to be told. */
export type TextExpression = (values: ContextValues) => string;

export interface Scripts {
  /** Undefined for an artifact without a script, whose handler somebody else has. Throws when the script does not compile. */
  tool(artifact: ToolArtifact): Tool | undefined;
  /** An artifact without a script allows. Throws when the script or `when:` does not compile. */
  hook(artifact: HookArtifact): Hook;
  condition(source: ScriptSource): Condition;
  /** An expression like a condition whose value is a text; anything else but `None` is refused. Throws when it does not compile. */
  text(source: ScriptSource): TextExpression;
}

export function createScripts(services: ScriptServices): Scripts {
  const names = {
    tool: builtinsFor("tool", { effects: "real" }),
    hook: builtinsFor("hook", { effects: "real" }),
    condition: builtinsFor("condition", { effects: "real" }),
  };
  return {
    tool: (artifact) => toolOf(artifact, services, names.tool),
    hook: (artifact) => hookOf(artifact, services, names),
    condition(source) {
      const compiled = compileCondition(source, names.condition);
      return (values) => {
        try {
          return compiled.test(["", null], new ConditionCall(services, values));
        } catch (error) {
          throw placedError(error, `${source.place.file}:${source.place.line}`);
        }
      };
    },
    text(source) {
      const { expression } = compileCondition(source, names.condition);
      const place = `${source.place.file}:${source.place.line}`;
      return (values) => {
        let value: unknown;
        try {
          value = expression.evaluate(["", null], { ...expressionLimits, host: new ConditionCall(services, values) });
        } catch (error) {
          throw placedError(error, place);
        }
        if (value === null || value === undefined) return "";
        if (typeof value === "string") return value;
        throw new Error(`${place}: the expression gave something other than a text: use str(…) or json.encode(…)`);
      };
    },
  };
}
