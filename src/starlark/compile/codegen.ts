/** Generates the JS of a whole program: one function for each def, lambda and comprehension, and the top level. */

import { runtime } from "../runtime.ts";
import type { Expr, FunctionNode, Parameter, Stmt } from "../syntax/ast.ts";
import type { Dialect, FunctionScope, Resolved } from "../syntax/scope.ts";
import { emptyScope } from "../syntax/scope.ts";
import type { Source } from "../syntax/source.ts";
import { FunctionCode } from "../values/values.ts";
import { PROLOGUE } from "./emission-check.ts";
import type { DirectFunction, Emission, Mode } from "./emitter.ts";
import { StatementEmitter } from "./statement-emitter.ts";
import { Unit } from "./unit.ts";

/**
 * Code for `new Function("R", "K", "C", "D", "L", "P", code)`: runtime, constants, function codes, predeclared values, loaded
 * modules, positions. It returns `{top, all}`: the body of the top level and a function that lists the globals' values.
 */
export function generate(
  stmts: readonly Stmt[],
  resolved: Resolved,
  options: { source: Source; mode: Mode; dialect: Dialect },
): Emission {
  return new ProgramEmitter(options.source, options.mode, options.dialect, resolved.top).program(stmts, resolved);
}

/** Code up to this long may run without a step of its own. */
const FREE_LENGTH = 400;

class ProgramEmitter extends StatementEmitter {
  program(stmts: readonly Stmt[], resolved: Resolved): Emission {
    for (const s of stmts) if (s.kind === "def") this.registerDirect(s);
    const code = this.code({ name: "<toplevel>", params: [], body: stmts, pos: 0, scope: resolved.top });
    const body = this.body(code, [], stmts);
    const globals = resolved.globals.map((b) => `g${b.id}`);
    const parts = [
      PROLOGUE,
      `const {${Object.keys(runtime).join(",")}}=R;`,
      ...this.constants.map((_, i) => `const k${i}=K[${i}];`),
      ...this.functions.map((_, i) => `const c${i}=C[${i}];`),
      ...[...this.outside.values()].map((d, i) => `const ${d}=D[${i}];`),
      globals.length > 0 ? `let ${globals.join(",")};` : "",
      ...this.hoisted,
      `function${this.isGenerator ? "*" : ""} top(T)${body}`,
      `return {top,all:function(){return [${globals.join(",")}]}}`,
    ];
    return {
      code: parts.join("\n"),
      constants: this.constants,
      positions: this.positions,
      functions: this.functions,
      outside: [...this.outside.keys()],
    };
  }

  private code(node: FunctionNode): string {
    const named = (kind: Parameter["kind"][]): Parameter[] => node.params.filter((p) => kind.includes(p.kind));
    const star = node.params.findIndex((p) => p.kind === "star");
    const ordinary = named(["plain", "optional"]);
    const first = node.body[0];
    const doc = first?.kind === "expr" && first.x.kind === "literal" && first.x.token === "string literal";
    this.functions.push(
      new FunctionCode({
        name: node.name,
        entry: this.source.position(entryOffset(node)),
        params: ordinary.map((p) => p.ident?.name ?? ""),
        keywordOnly: star < 0 ? 0 : ordinary.filter((p) => node.params.indexOf(p) > star).length,
        varargs: star >= 0 && node.params[star]?.ident !== null,
        kwargs: named(["starstar"]).length > 0,
        doc: doc ? String(first.x.value) : null,
        generator: this.isGenerator,
      }),
    );
    return `c${this.functions.length - 1}`;
  }

  /** The braces of a function: accounting, the body, and the frame added to errors. */
  private body(code: string, params: readonly string[], stmts: readonly Stmt[]): string {
    const { unit } = this;
    const text = this.stmts(stmts);
    const tail = unit.dead ? "" : "return null;";
    for (const p of params) unit.declared.delete(p);
    const releases = unit.iterated.map((s) => `release(${s});`).join("");
    const caught = `catch(e){${releases}throw frameFailure(e,${code},P,p)}`;
    // A short body that calls nothing but such is a bounded part of the step that called it.
    const step = lengthIfShort(unit, text) === null ? this.step() : "";
    const head = `{let p=0;${unit.prologue()}${step}`;
    if (!unit.hasCalls) return `${head}try{${text}${tail}}${caught}}`;
    if (this.isGenerator) {
      const check = this.dialect.recursion ? "" : `if(T.active.has(${code}))deny(T,${code});`;
      const enter = `${check}if(++T.depth>T.maxDepth)deny(T,${code});`;
      const add = this.dialect.recursion ? "" : `T.active.add(${code});`;
      const leave = this.dialect.recursion ? "" : `T.active.delete(${code});`;
      return `${head}${enter}${add}try{${text}${tail}}${caught}finally{${leave}--T.depth}}`;
    }
    if (this.dialect.recursion) {
      return `${head}if(++T.depth>T.maxDepth)deny(T,${code});try{${text}${tail}}${caught}finally{--T.depth}}`;
    }
    const enter = `if(${code}.active===T||++T.depth>T.maxDepth)deny(T,${code});const q=${code}.active;${code}.active=T;`;
    return `${head}${enter}try{${text}${tail}}${caught}finally{${code}.active=q;--T.depth}}`;
  }

  fn(node: FunctionNode): string {
    return this.closure(node, null);
  }

  /** A global that only this def binds has one value for ever, so that calls need not look it up. */
  private registerDirect(s: Extract<Stmt, { kind: "def" }>): void {
    const b = s.ident.binding;
    const once = b !== null && b.scope === "global" && b.bindCount === 1 && !this.dialect.globalReassign;
    const plain = s.fn.params.every((p) => p.kind === "plain" || p.kind === "optional");
    if (once && plain && s.fn.scope?.free.size === 0) {
      const params = s.fn.params.map((p) => p.ident?.name ?? "");
      const required = s.fn.params.filter((p) => p.kind === "plain").length;
      this.direct.set(b, { name: `f${this.names++}`, params, required, short: null });
    }
  }

  protected define(s: Extract<Stmt, { kind: "def" }>): string {
    const direct = s.ident.binding === null ? undefined : this.direct.get(s.ident.binding);
    return this.closure(s.fn, direct ?? null);
  }

  /** The JS of a function value. Without captured variables its body is hoisted. */
  private closure(node: FunctionNode, direct: DirectFunction | null): string {
    const defaults = this.defaults(node.params);
    const code = this.code(node);
    const scope: FunctionScope = node.scope ?? emptyScope();
    const outer = this.unit;
    const unit = new Unit(outer, scope, false, new Set(outer.assigned));
    const params = parameterOrder(node.params).map((p) => {
      const id = p.ident?.binding?.id ?? -1;
      unit.assigned.add(id);
      unit.declared.add(`l${id}`);
      return `l${id}`;
    });
    this.unit = unit;
    const body = this.body(code, params, node.body);
    this.unit = outer;
    if (direct !== null) direct.short = lengthIfShort(unit, body);
    const star = this.isGenerator ? "*" : "";
    const signature = `(${["T", ...params].join(",")})`;
    if (scope.free.size === 0) {
      const name = direct?.name ?? `f${this.names++}`;
      this.hoisted.push(`function${star} ${name}${signature}${body}`);
      return `fn(T,${code},${name},[${defaults}],null)`;
    }
    const captured = [...scope.free].map((b) => this.variable(b)).join(",");
    return `fn(T,${code},function${star}${signature}${body},[${defaults}],function(){return [${captured}]})`;
  }

  /** Values from the first optional parameter on; a mandatory one among them has none. */
  private defaults(params: readonly Parameter[]): string {
    const ordinary = params.filter((p) => p.kind === "plain" || p.kind === "optional");
    const star = params.findIndex((p) => p.kind === "star");
    const first = ordinary.findIndex((p) => p.kind === "optional" || (star >= 0 && params.indexOf(p) > star));
    if (first < 0) return "";
    return ordinary
      .slice(first)
      .map((p) => (p.fallback === null ? "undefined" : this.expr(p.fallback)))
      .join(",");
  }
}

/** How much code a call runs at most, loops aside, or null if that is much or unknown. */
function lengthIfShort(unit: Unit, text: string): number | null {
  const length = text.length + unit.called;
  return unit.hasCalls || length > FREE_LENGTH ? null : length;
}

/** The first name that the body evaluates, as far as that is easily said, or else the def itself. */
function entryOffset(node: FunctionNode): number {
  const [first] = node.body;
  let x: Expr | null = null;
  if (first?.kind === "assign") x = first.value;
  else if (first?.kind === "if") x = first.arms[0]?.test ?? null;
  else if (first?.kind === "return" || first?.kind === "expr" || first?.kind === "forStmt") x = first.x;
  for (;;) {
    if (x === null) return node.pos;
    if (x.kind === "ident") return x.pos;
    if (x.kind === "call") x = x.fn;
    else if (x.kind === "cond") x = x.test;
    else if (x.kind === "binary" || x.kind === "dot" || x.kind === "index" || x.kind === "slice") x = x.x;
    else return node.pos;
  }
}

/** As the body takes them: ordinary and keyword-only parameters, then *args, then **kwargs. */
function parameterOrder(params: readonly Parameter[]): Parameter[] {
  const of = (kind: Parameter["kind"]): Parameter[] => params.filter((p) => p.kind === kind && p.ident !== null);
  return [...params.filter((p) => p.kind === "plain" || p.kind === "optional"), ...of("star"), ...of("starstar")];
}
