/** What can be told about an expression without evaluating it: whether its truth is settled already. It errs on the side of not knowing. */
import { type Expr, unparen } from "../syntax/ast.ts";

/** The truth of an expression whatever its inputs are, or undefined. */
export function settledTruth(e: Expr): boolean | undefined {
  const x = unparen(e);
  switch (x.kind) {
    case "ident":
      if (x.name === "True") return true;
      return x.name === "False" || x.name === "None" ? false : undefined;
    case "literal":
      return x.token === "string literal" || x.token === "bytes literal" ? x.value !== "" : Number(x.value) !== 0;
    case "list":
    case "tuple":
      return x.items.length > 0;
    case "dict":
      return x.entries.length > 0;
    case "unary":
      return x.op === "not" ? negated(settledTruth(x.x)) : undefined;
    case "binary":
      return binaryTruth(x.op, x.x, x.y);
    default:
      return undefined;
  }
}

function negated(truth: boolean | undefined): boolean | undefined {
  return truth === undefined ? undefined : !truth;
}

function binaryTruth(op: string, left: Expr, right: Expr): boolean | undefined {
  if (op === "and") {
    const sides = [settledTruth(left), settledTruth(right)];
    if (sides.includes(false) || contradict([...conjuncts(left), ...conjuncts(right)])) return false;
    return sides.includes(undefined) ? undefined : true;
  }
  if (op === "or") {
    const sides = [settledTruth(left), settledTruth(right)];
    if (sides.includes(true)) return true;
    return sides.includes(undefined) ? undefined : false;
  }
  const [a, b] = [literalOf(left), literalOf(right)];
  if (op === "in" && unparen(right).kind === "list" && settledTruth(right) === false) return false;
  if (a === undefined || b === undefined) return undefined;
  if (op === "==") return a === b;
  return op === "!=" ? a !== b : undefined;
}

function conjuncts(e: Expr): Expr[] {
  const x = unparen(e);
  return x.kind === "binary" && x.op === "and" ? [...conjuncts(x.x), ...conjuncts(x.y)] : [x];
}

/** Two of them want the same thing to equal different literals. */
function contradict(parts: readonly Expr[]): boolean {
  const wanted = new Map<string, string>();
  for (const part of parts) {
    if (part.kind !== "binary" || part.op !== "==") continue;
    const [path, literal] = [pathOf(part.x) ?? pathOf(part.y), literalOf(part.y) ?? literalOf(part.x)];
    if (path === undefined || literal === undefined) continue;
    if ((wanted.get(path) ?? literal) !== literal) return true;
    wanted.set(path, literal);
  }
  return false;
}

/** A literal as text that is the same for equal literals of one kind; numbers and words only. */
function literalOf(e: Expr): string | undefined {
  const x = unparen(e);
  if (x.kind === "literal" && x.token !== "float literal") return `${x.token} ${String(x.value)}`;
  return x.kind === "ident" && (x.name === "True" || x.name === "False" || x.name === "None") ? x.name : undefined;
}

/** A name, or a name taken apart by literal keys and methods with literal arguments: what gives the same each time. */
function pathOf(e: Expr): string | undefined {
  const x = unparen(e);
  if (x.kind === "ident") return literalOf(x) === undefined ? x.name : undefined;
  if (x.kind === "dot") return joined(pathOf(x.x), `.${x.name}`);
  if (x.kind === "index") return joined(pathOf(x.x), bracketed(literalOf(x.y)));
  if (x.kind !== "call" || unparen(x.fn).kind !== "dot") return undefined;
  const args = x.args.map((a) => (a.kind === "positional" ? literalOf(a.value) : undefined));
  return args.includes(undefined) ? undefined : joined(pathOf(x.fn), `(${args.join(",")})`);
}

function bracketed(literal: string | undefined): string | undefined {
  return literal === undefined ? undefined : `[${literal}]`;
}

function joined(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}
