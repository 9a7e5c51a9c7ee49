/** Generates expressions. */

import { assertNever } from "#base";
import { type BinaryExpr, type Comprehension, type Expr, type SliceExpr, unparen } from "../syntax/ast.ts";
import { keyOf } from "../values/dict.ts";
import { isInt } from "../values/integers.ts";
import { Float, Tuple, type Value } from "../values/values.ts";
import { CallEmitter } from "./call-emitter.ts";
import { constantValue } from "./emitter.ts";
import { Unit } from "./unit.ts";

const helpers: Readonly<Record<string, string>> = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "div",
  "//": "floordiv",
  "%": "mod",
  "|": "or",
  "&": "and",
  "^": "xor",
  "<<": "shl",
  ">>": "shr",
};

const comparisons: Readonly<Record<string, string>> = {
  "==": "eq",
  "!=": "!eq",
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
  in: "contains",
  "not in": "!contains",
};

/** Chains of operators longer than this are evaluated step by step instead of nested. */
const MAX_CHAIN = 40;

/** Comparing with a string constant of this length costs next to nothing. */
const SHORT_STRING = 100;

export abstract class ExpressionEmitter extends CallEmitter {
  expr(e: Expr): string {
    switch (e.kind) {
      case "ident":
        return this.ident(e);
      case "literal":
        return this.literalValue(constantValue(e) ?? null);
      case "paren":
        return this.expr(e.x);
      case "list":
        return `list(T,[${this.items(e.items)}])`;
      case "tuple":
        return this.tuple(e.items, constantValue(e));
      case "dict": {
        const first = this.positions.length;
        for (const entry of e.entries) this.position(entry.colon);
        const flat = e.entries.map((x) => `${this.expr(x.key)},${this.expr(x.value)}`).join(",");
        return `dict(T,[${flat}],${first})`;
      }
      case "cond":
        return `(${this.test(e.test)}?${this.expr(e.yes)}:${this.expr(e.no)})`;
      case "unary":
        return this.unaryExpr(e.op, e.x, e.pos);
      case "binary":
        return this.binaryExpr(e);
      case "dot":
        return `attr(T,${this.expr(e.x)},${this.string(e.name)},${this.mark(e.pos)})`;
      case "index":
        return `getIndex(T,${this.expr(e.x)},${this.expr(e.y)},${this.mark(e.pos)})`;
      case "slice":
        return this.sliceExpr(e);
      case "call":
        return this.callExpr(e);
      case "lambda":
        return this.fn(e.fn);
      case "comprehension":
        return this.comprehension(e);
      default:
        return assertNever(e);
    }
  }

  private items(items: readonly Expr[]): string {
    return items.map((x) => this.expr(x)).join(",");
  }

  private tuple(items: readonly Expr[], constant: Value | undefined): string {
    return constant === undefined ? `tuple(T,[${this.items(items)}])` : this.constant(constant);
  }

  private literalValue(v: Value): string {
    if (typeof v === "number") return v < 0 ? `(${v})` : String(v);
    return typeof v === "string" ? this.string(v) : this.constant(v);
  }

  private unaryExpr(op: "+" | "-" | "~" | "not", x: Expr, pos: number): string {
    if (op === "not") return `!${this.test(x)}`;
    const value = op === "-" ? constantValue(x) : undefined;
    if (typeof value === "number" && value !== 0) return `(${-value})`;
    if (value instanceof Float) return this.constant(new Float(-value.v));
    const helper = op === "-" ? "neg" : op === "+" ? "plus" : "invert";
    return `${helper}(T,${this.expr(x)},${this.mark(pos)})`;
  }

  private sliceExpr(e: SliceExpr): string {
    const part = (x: Expr | null): string => (x === null ? "null" : this.expr(x));
    return `slice(T,${this.expr(e.x)},${part(e.low)},${part(e.high)},${part(e.step)},${this.mark(e.pos)})`;
  }

  /** A condition: JS that is a boolean. */
  test(x: Expr): string {
    const e = unparen(x);
    if (e.kind === "binary") {
      if (e.op === "and" || e.op === "or") {
        const op = e.op === "and" ? "&&" : "||";
        return `(${logicalOperands(e)
          .map((y) => this.test(y))
          .join(op)})`;
      }
      if (Object.hasOwn(comparisons, e.op)) return this.expr(e);
    }
    if (e.kind === "unary" && e.op === "not") return `!${this.test(e.x)}`;
    const constant = constantValue(e);
    if (typeof constant === "boolean") return String(constant);
    return `truth(${this.expr(e)})`;
  }

  private binaryExpr(e: BinaryExpr): string {
    if (e.op === "and" || e.op === "or") return this.logical(e);
    const chain: BinaryExpr[] = [];
    let at: Expr = e;
    while (at.kind === "binary" && at.op !== "and" && at.op !== "or") {
      chain.push(at);
      at = at.x;
    }
    if (chain.length <= MAX_CHAIN) return this.operation(e, this.expr(e.x));
    chain.reverse();
    return this.unit.temp((t) => {
      const steps = chain.map((link) => `${t}=${this.operation(link, t)}`);
      return `(${t}=${this.expr(at)},${steps.join(",")})`;
    });
  }

  /** Nested to the right, so that a long chain is a list of conditions and not a deep tree. */
  private logical(e: BinaryExpr): string {
    const operands = logicalOperands(e);
    const last = operands.pop();
    return this.unit.temp((t) => {
      const heads = operands.map((x) => `truth(${t}=${this.expr(x)})`);
      const tail = last === undefined ? "null" : this.expr(last);
      return e.op === "and" ? `(${heads.join("&&")}?${tail}:${t})` : `(${heads.join("||")}?${t}:${tail})`;
    });
  }

  private operation(e: BinaryExpr, x: string): string {
    const helper = helpers[e.op];
    if (helper !== undefined) return `${helper}(T,${x},${this.expr(e.y)},${this.mark(e.pos)})`;
    const special = this.constantComparison(e, x);
    if (special !== null) return special;
    return `${comparisons[e.op]}(T,${x},${this.expr(e.y)},${this.mark(e.pos)})`;
  }

  /** Comparisons with constants that need no helper: identity, and membership in a display of simple constants. */
  private constantComparison(e: BinaryExpr, x: string): string | null {
    const y = constantValue(e.y);
    if (e.op === "==" || e.op === "!=") {
      const simple = y === null || typeof y === "boolean" || (typeof y === "string" && y.length < SHORT_STRING);
      return simple ? `(${x}${e.op}=${this.expr(e.y)})` : null;
    }
    if (e.op !== "in" && e.op !== "not in") return null;
    const display = unparen(e.y);
    const items = y instanceof Tuple ? y.a : display.kind === "list" ? display.items.map(constantValue) : null;
    if (items === null || !items.every((v) => v !== undefined && isSimple(v))) return null;
    const set = new Set(items.map((v) => keyOf(v ?? null, null)));
    return `${e.op === "in" ? "" : "!"}inConst(${this.constant(set)},${x})`;
  }

  comprehension(e: Comprehension): string {
    const [first] = e.clauses;
    if (first?.kind !== "for") throw new Error("comprehension without for");
    const operand = this.expr(first.x);
    const attached = containsFunction(e);
    const outer = this.unit;
    const unit = new Unit(outer, outer.scope, !attached, new Set(outer.assigned));
    this.unit = unit;
    for (const clause of e.clauses) if (clause.kind === "for") this.declareTargets(clause.vars);
    const body = this.clauses(e, 0);
    this.unit = outer;
    outer.hasCalls ||= unit.hasCalls;
    outer.called += unit.called;
    const result = e.curly ? "new Dict()" : "list(T,[])";
    const releases = unit.iterated.map((s) => `release(${s});`).join("");
    const borrowed = [...unit.borrowed].map((b) => `l${b.id}`);
    const params = ["T", "x", ...borrowed].join(",");
    const text = `(${params}){let p=0;${unit.prologue()}const o=${result};try{${body}return o}catch(e){${releases}throw pin(e,p)}}`;
    const star = this.isGenerator ? "*" : "";
    const args = ["T", operand, ...borrowed].join(",");
    for (const b of unit.borrowed) this.variable(b);
    if (attached) return this.isGenerator ? `(yield* (function*${text})(${args}))` : `(function${text})(${args})`;
    const name = `h${this.names++}`;
    this.hoisted.push(`function${star} ${name}${text}`);
    return this.isGenerator ? `(yield* ${name}(${args}))` : `${name}(${args})`;
  }

  private declareTargets(target: Expr): void {
    const x = unparen(target);
    if (x.kind === "ident" && x.binding !== null) this.unit.declared.add(`l${x.binding.id}`);
    if (x.kind === "tuple" || x.kind === "list") for (const item of x.items) this.declareTargets(item);
  }

  private clauses(e: Comprehension, i: number): string {
    const clause = e.clauses[i];
    if (clause === undefined) {
      if (!("colon" in e.body)) return `T.alloc(16);o.a.push(${this.expr(e.body)});`;
      return `put(T,o,${this.expr(e.body.key)},${this.expr(e.body.value)},${this.mark(e.body.colon)});`;
    }
    if (clause.kind === "if") return `if(${this.test(clause.test)}){${this.clauses(e, i + 1)}}`;
    return this.loop(i === 0 ? null : clause.x, clause.vars, clause.pos, () => this.clauses(e, i + 1));
  }

  /** A `for` over an expression, or over the operand `x` of the comprehension if it is null. */
  protected abstract loop(x: Expr | null, vars: Expr, pos: number, body: () => string): string;
}

function isSimple(v: Value): boolean {
  return v === null || typeof v === "boolean" || typeof v === "string" || isInt(v);
}

/** The operands of a chain of one logical operator, left to right. */
function logicalOperands(e: BinaryExpr): Expr[] {
  const operands: Expr[] = [];
  let at: Expr = e;
  while (at.kind === "binary" && at.op === e.op) {
    operands.push(at.y);
    at = at.x;
  }
  operands.push(at);
  return operands.reverse();
}

/** Does a lambda occur in it? Then its variables must be shared, not passed. */
function containsFunction(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some(containsFunction);
  if ("kind" in node && node.kind === "lambda") return true;
  if ("kind" in node && node.kind === "ident") return false;
  return Object.entries(node).some(([key, v]) => key !== "scope" && containsFunction(v));
}
