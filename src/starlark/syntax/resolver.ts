/**
 * Walks a file, tells the table of names what is bound and used where, and reports every static error. A name bound anywhere in a
 * block is that binding everywhere in it.
 */

import { resolveArguments, resolveParameters } from "./argument-rules.ts";
import {
  type Comprehension,
  type Expr,
  type FunctionNode,
  type LoadStmt,
  type Stmt,
  startOf,
  targetNames,
  unparen,
} from "./ast.ts";
import { NameTable, unsupported } from "./name-table.ts";
import type { Environment, FunctionScope, Resolved } from "./scope.ts";
import type { Source } from "./source.ts";

export function resolveFile(stmts: readonly Stmt[], source: Source, env: Environment): Resolved {
  const names = new NameTable(source, env);
  new Resolver(names, env).stmts(stmts);
  return names.finish();
}

class Resolver {
  private readonly names: NameTable;
  private readonly env: Environment;
  private loops = 0;
  private conditionals = 0;

  constructor(names: NameTable, env: Environment) {
    this.names = names;
    this.env = env;
  }

  stmts(stmts: readonly Stmt[]): void {
    for (const s of stmts) this.stmt(s);
  }

  private stmt(s: Stmt): void {
    switch (s.kind) {
      case "expr":
        this.expr(s.x);
        return;
      case "branch":
        if (this.loops === 0 && s.token !== "pass") this.names.error(s.pos, `${s.token} not in a loop`);
        return;
      case "if":
        this.control(s.arms[0]?.pos ?? 0, "if statement");
        for (const arm of s.arms) this.expr(arm.test);
        this.conditionals++;
        for (const arm of s.arms) this.stmts(arm.body);
        this.stmts(s.otherwise);
        this.conditionals--;
        return;
      case "assign":
        this.expr(s.value);
        this.assign(s.target, s.op !== "=");
        return;
      case "def":
        this.names.bind(s.ident);
        this.fn(s.fn);
        return;
      case "forStmt":
        this.control(s.pos, "for loop");
        this.expr(s.x);
        this.assign(s.vars, false);
        this.loops++;
        this.stmts(s.body);
        this.loops--;
        return;
      case "while":
        if (!this.env.dialect.while) this.names.error(s.pos, `${unsupported}while loops`);
        this.control(s.pos, "while loop");
        this.expr(s.test);
        this.loops++;
        this.stmts(s.body);
        this.loops--;
        return;
      case "return":
        if (!this.names.inFunction()) this.names.error(s.pos, "return statement not within a function");
        if (s.x !== null) this.expr(s.x);
        return;
      case "load":
        this.load(s);
        return;
    }
  }

  private control(offset: number, what: string): void {
    if (!this.env.dialect.topLevelControl && !this.names.inFunction())
      this.names.error(offset, `${what} not within a function`);
  }

  private load(s: LoadStmt): void {
    if (this.names.inFunction()) this.names.error(s.pos, "load statement within a function");
    else if (this.loops > 0) this.names.error(s.pos, "load statement within a loop");
    else if (this.conditionals > 0) this.names.error(s.pos, "load statement within a conditional");
    for (const { from, fromPos, to } of s.names) {
      if (from === "") {
        this.names.error(fromPos, "load: empty identifier");
        continue;
      }
      if (from.startsWith("_")) {
        this.names.error(fromPos, `load: names with leading underscores are not exported: ${from}`);
      }
      if (this.env.dialect.loadBindsGlobally) this.names.bind(to);
      else this.names.bindLoaded(to);
    }
  }

  private assign(target: Expr, augmented: boolean): void {
    const x = unparen(target);
    switch (x.kind) {
      case "ident":
        this.names.bind(x);
        return;
      case "index":
        this.expr(x.x);
        this.expr(x.y);
        return;
      case "dot":
        this.expr(x.x);
        return;
      case "tuple":
      case "list":
        if (augmented) this.names.error(startOf(x), `can't use ${x.kind} expression in augmented assignment`);
        for (const item of x.items) this.assign(item, augmented);
        return;
      default:
        this.names.error(startOf(x), `can't assign to ${targetNames[x.kind]}`);
    }
  }

  expr(e: Expr): void {
    switch (e.kind) {
      case "ident":
        this.names.use(e);
        return;
      case "literal":
        return;
      case "list":
      case "tuple":
        for (const x of e.items) this.expr(x);
        return;
      case "dot": {
        const owner = unparen(e.x);
        if (owner.kind === "ident") this.names.use(owner, e.name);
        else this.expr(owner);
        return;
      }
      case "paren":
      case "unary":
        this.expr(e.x);
        return;
      case "binary":
        this.chain(e);
        return;
      case "cond":
        this.expr(e.test);
        this.expr(e.yes);
        this.expr(e.no);
        return;
      case "index":
        this.expr(e.x);
        this.expr(e.y);
        return;
      case "slice":
        for (const x of [e.x, e.low, e.high, e.step]) if (x !== null) this.expr(x);
        return;
      case "dict":
        for (const entry of e.entries) {
          this.expr(entry.key);
          this.expr(entry.value);
        }
        return;
      case "call":
        this.names.callsAround++;
        this.expr(e.fn);
        for (const arg of e.args) this.expr(arg.value);
        this.names.callsAround--;
        resolveArguments(e, (offset, message) => this.names.error(offset, message));
        return;
      case "lambda":
        if (this.names.callsAround > 0 && !this.names.inFunction()) this.names.callsAtTop = true;
        this.fn(e.fn);
        return;
      case "comprehension":
        this.comprehension(e);
        return;
    }
  }

  /** A left-leaning chain of operators, without recursion along it. */
  private chain(e: Expr): void {
    const right: Expr[] = [];
    let at = e;
    while (at.kind === "binary") {
      right.push(at.y);
      at = at.x;
    }
    this.expr(at);
    for (const y of right.reverse()) this.expr(y);
  }

  private comprehension(e: Comprehension): void {
    const [first, ...rest] = e.clauses;
    // The first operand belongs to the enclosing block: consider [x for x in x].
    if (first?.kind === "for") this.expr(first.x);
    const outer = this.names.block;
    this.names.block = { parent: outer, scope: outer.scope, isFunction: false, bindings: new Map() };
    e.scope = outer.scope;
    if (first?.kind === "for") this.assign(first.vars, false);
    for (const clause of rest) {
      if (clause.kind === "if") this.expr(clause.test);
      else {
        this.assign(clause.vars, false);
        this.expr(clause.x);
      }
    }
    if ("colon" in e.body) {
      this.expr(e.body.key);
      this.expr(e.body.value);
    } else this.expr(e.body);
    this.names.block = outer;
  }

  private fn(node: FunctionNode): void {
    for (const p of node.params) if (p.fallback !== null) this.expr(p.fallback);
    const outer = this.names.block;
    const scope: FunctionScope = { parent: outer.scope, locals: [], free: new Set() };
    node.scope = scope;
    this.names.block = { parent: outer, scope, isFunction: true, bindings: new Map() };
    const { loops } = this;
    const { callsAround } = this.names;
    this.loops = 0;
    this.names.callsAround = 0;
    resolveParameters(
      node,
      (id) => this.names.bind(id),
      (offset, message) => this.names.error(offset, message),
    );
    this.stmts(node.body);
    this.loops = loops;
    this.names.callsAround = callsAround;
    this.names.block = outer;
  }
}
