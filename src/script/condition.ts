/** `when:` and `condition:` expressions: compiled once, evaluated often, without any effect. */
import type { ScriptSource } from "#artifacts";
import { SessionId } from "#protocol";
import { compileExpression, type Expression, expressionLimits, type Value } from "#starlark";
import { noFiles, noWeb } from "./no-ports.ts";
import type { ContextValues, TurnValues } from "./run-state.ts";
import { ScriptCall } from "./script-call.ts";
import type { ScriptServices } from "./services.ts";

export interface CompiledCondition {
  readonly expression: Expression;
  /** Inputs: event and payload. Throws a StarlarkError when it cannot be told. */
  test(inputs: readonly [event: unknown, payload: unknown], call: ScriptCall): boolean;
}

/** Throws a StarlarkError that lists the static errors. */
export function compileCondition(
  source: ScriptSource,
  predeclared: Readonly<Record<string, Value>>,
): CompiledCondition {
  const { text, place } = source;
  const expression = compileExpression(text, place.file, {
    names: ["event", "payload"],
    dotted: ["payload"],
    predeclared,
    firstLine: place.line,
    firstColumn: place.column,
  });
  return { expression, test: (inputs, host) => expression.test(inputs, { ...expressionLimits, host }) };
}

/** No session stands behind a `condition:`; its values are handed in. */
const NO_SESSION = SessionId.from("00000000000000000000000000");

/** A call that sees fixed values and reaches nothing. */
export class ConditionCall extends ScriptCall {
  private readonly fixed: ContextValues;

  constructor(services: ScriptServices, values: ContextValues) {
    super({
      services,
      point: { session: NO_SESSION, depth: 0, nesting: 0 },
      source: "condition",
      files: noFiles,
      web: noWeb,
      annotate: () => undefined,
      callTool: () => Promise.reject(new Error("a condition cannot call tools")),
    });
    this.fixed = values;
  }

  override get values(): TurnValues {
    const { fixed } = this;
    const refuse = (): never => {
      throw new Error("a condition cannot change anything");
    };
    return {
      get: (key) => (Object.hasOwn(fixed, key) ? fixed[key] : undefined),
      has: (key) => Object.hasOwn(fixed, key),
      snapshot: () => ({ ...fixed }),
      set: refuse,
      delete: refuse,
      clear: refuse,
    };
  }
}
