/** Single expressions, as in `when:`: compiled once to a function of named inputs, evaluated often and synchronously. */

import { asStarlarkError, callSync } from "./calls.ts";
import { withDottedFields } from "./compile/dotted-fields.ts";
import { settledTruth } from "./compile/expression-facts.ts";
import { fault, staticError } from "./errors.ts";
import { toHost, toStarlarkLazily } from "./interop.ts";
import { universe } from "./library/universe.ts";
import { noModules, Program } from "./program.ts";
import type { FunctionNode } from "./syntax/ast.ts";
import { parseExpression } from "./syntax/parser.ts";
import { resolveFile } from "./syntax/resolver.ts";
import { defaultDialect } from "./syntax/scope.ts";
import { makeSource, type SourceOptions } from "./syntax/source.ts";
import { Thread, type ThreadOptions } from "./thread.ts";
import { truth } from "./values/truth.ts";
import { encodeUtf8 } from "./values/utf8.ts";
import { Fn, type Value } from "./values/values.ts";

/** A guard that needs more than this is no guard. */
export const expressionLimits = { maxSteps: 10_000, maxAllocBytes: 1_000_000, timeoutMs: 5 } as const;

export interface ExpressionOptions extends SourceOptions {
  /** Names the expression may use besides the universal ones, whose values each evaluation supplies in this order. */
  readonly names: readonly string[];
  /** Those of them whose keys can also be read with a dot: `payload.name`. */
  readonly dotted?: readonly string[];
  /** Constant names and their values. */
  readonly predeclared?: Readonly<Record<string, unknown>>;
}

export interface Expression {
  /** Its truth if that is the same for all inputs and known beforehand. */
  readonly settled: boolean | undefined;
  /** The value as host data. */
  evaluate(inputs: readonly unknown[], options?: ThreadOptions): unknown;
  /** Whether the value counts as true. */
  test(inputs: readonly unknown[], options?: ThreadOptions): boolean;
}

/** Names with effects, which an expression may not use. */
const effects: ReadonlySet<string> = new Set(["print", "fail"]);

/** Compiles an expression. Throws a StarlarkError for syntax errors and for names that are neither given nor universal. */
export function compileExpression(text: string, file: string, options: ExpressionOptions): Expression {
  const source = makeSource(file, text, options);
  const parsed = parseExpression(source);
  if (parsed.tree === null) throw staticError("syntax", parsed.issues);
  const expression = withDottedFields(parsed.tree, new Set((options.dotted ?? []).map(encodeUtf8)));
  const fn: FunctionNode = {
    name: "<expr>",
    params: options.names.map((name) => ({
      kind: "plain",
      ident: { kind: "ident", name: encodeUtf8(name), pos: 0, binding: null },
      fallback: null,
      pos: 0,
    })),
    body: [{ kind: "return", x: expression, pos: 0 }],
    pos: 0,
    scope: null,
  };
  const tree = [{ kind: "def", ident: { kind: "ident", name: "<expr>", pos: 0, binding: null }, fn }] as const;
  const resolved = resolveFile(tree, source, {
    dialect: defaultDialect,
    predeclared: new Set(Object.keys(options.predeclared ?? {}).map(encodeUtf8)),
    universal: new Set([...universe.keys()].filter((n) => !effects.has(n))),
  });
  if (resolved.issues.length > 0) throw staticError("resolve", resolved.issues);
  const program = new Program(source, tree, resolved, { predeclared: options.predeclared ?? {} }, defaultDialect);
  const linked = program.link("sync", noModules);
  linked.top(new Thread(expressionLimits));
  const [value = null] = linked.all();
  return { settled: settledTruth(expression), ...evaluation(value) };
}

function evaluation(f: Value): Pick<Expression, "evaluate" | "test"> {
  if (!(f instanceof Fn)) throw new TypeError("expression did not compile to a function");
  const run = (inputs: readonly unknown[], options: ThreadOptions): Value => {
    if (inputs.length !== f.n) throw fault(`expression takes ${f.n} inputs (${inputs.length} given)`);
    return callSync(new Thread(options), f, inputs.map(toStarlarkLazily));
  };
  return {
    evaluate(inputs, options = expressionLimits) {
      try {
        return toHost(run(inputs, options));
      } catch (e) {
        throw asStarlarkError(e).seal();
      }
    },
    test(inputs, options = expressionLimits) {
      try {
        return truth(run(inputs, options));
      } catch (e) {
        throw asStarlarkError(e).seal();
      }
    },
  };
}
