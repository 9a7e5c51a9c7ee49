/**
 * Decides which variable each name denotes and reports every static error. A name bound anywhere in a block is that binding
 * everywhere in it, so uses are resolved when all bindings are known.
 */

import { resolveArguments, resolveParameters } from "./argument-rules.ts";
import {
  type Comprehension,
  type Expr,
  type FunctionNode,
  type Ident,
  type LoadStmt,
  type Stmt,
  startOf,
  targetNames,
  unparen,
} from "./ast.ts";
import type { Binding, Environment, FunctionScope, Mention, Resolved, ScopeKind } from "./scope.ts";
import type { Source } from "./source.ts";
import { nearest } from "./spelling.ts";
import { decodeUtf8 } from "./utf8.ts";

interface Block {
  readonly parent: Block | null;
  readonly scope: FunctionScope;
  readonly isFunction: boolean;
  readonly bindings: Map<string, Binding>;
}

interface Use {
  readonly id: Ident;
  readonly block: Block;
  readonly attribute: string | null;
  /** Part of a call that the top level makes. */
  readonly called: boolean;
}

const unsupported = "this Starlark dialect does not support ";

export function resolveFile(stmts: readonly Stmt[], source: Source, env: Environment): Resolved {
  const r = new Resolver(source, env);
  r.stmts(stmts);
  return r.finish();
}

class Resolver {
  private readonly source: Source;
  private readonly env: Environment;
  private readonly file: Block;
  private block: Block;
  private readonly globals = new Map<string, Binding>();
  private readonly outside = new Map<string, Binding>();
  private readonly order: Binding[] = [];
  private readonly uses: Use[] = [];
  private readonly found: { offset: number; message: string }[] = [];
  private loops = 0;
  private conditionals = 0;
  private count = 0;
  private callsAround = 0;
  private readonly mentions: Mention[] = [];
  private callsAtTop = false;

  constructor(source: Source, env: Environment) {
    this.source = source;
    this.env = env;
    this.file = {
      parent: null,
      scope: { parent: null, locals: [], free: new Set() },
      isFunction: false,
      bindings: new Map(),
    };
    this.block = this.file;
  }

  finish(): Resolved {
    for (const use of this.uses) this.resolveUse(use);
    this.found.sort((a, b) => a.offset - b.offset);
    const issues = this.found.map((f) => ({
      position: this.source.position(f.offset),
      message: decodeUtf8(f.message),
    }));
    return {
      globals: this.order,
      top: this.file.scope,
      mentioned: new Set(this.outside.keys()),
      mentions: this.mentions,
      callsAtTop: this.callsAtTop,
      issues,
    };
  }

  error(offset: number, message: string): void {
    this.found.push({ offset, message });
  }

  private binding(scope: ScopeKind, id: Ident, owner: FunctionScope | null): Binding {
    return { scope, name: id.name, id: this.count++, first: id, owner, captured: false, bindCount: 0 };
  }

  private inFunction(): boolean {
    return this.block.scope !== this.file.scope;
  }

  /** Binds a name in the current block; true if the block already had it. */
  private bind(id: Ident): boolean {
    if (this.block !== this.file) return this.bindLocal(id);
    let b = this.file.bindings.get(id.name) ?? this.globals.get(id.name);
    const existed = b !== undefined;
    if (b === undefined) {
      b = this.binding("global", id, null);
      this.globals.set(id.name, b);
      this.order.push(b);
    } else if (!this.env.dialect.globalReassign) {
      const where = this.source.position(b.first.pos);
      this.error(
        id.pos,
        `cannot reassign ${b.scope === "file" ? "local" : "global"} ${id.name} declared at ${where.file}:${where.line}:${where.column}`,
      );
    }
    b.bindCount++;
    id.binding = b;
    return existed;
  }

  private bindLocal(id: Ident): boolean {
    let b = this.block.bindings.get(id.name);
    const existed = b !== undefined;
    if (b === undefined) {
      b = this.binding("local", id, this.block.scope);
      this.block.bindings.set(id.name, b);
      this.block.scope.locals.push(b);
    }
    b.bindCount++;
    id.binding = b;
    return existed;
  }

  private bindLoaded(id: Ident): void {
    let b = this.file.bindings.get(id.name);
    if (b === undefined) {
      b = this.binding("file", id, null);
      this.file.bindings.set(id.name, b);
      this.order.push(b);
    } else if (!this.env.dialect.globalReassign) this.error(id.pos, `cannot reassign top-level ${id.name}`);
    b.bindCount++;
    id.binding = b;
  }

  use(id: Ident, attribute: string | null = null): void {
    const use = { id, block: this.block, attribute, called: this.callsAround > 0 && !this.inFunction() };
    // With reassignment on, a name at top level means what it means at that point, as in Bazel's BUILD files.
    if (this.env.dialect.globalReassign && this.block === this.file) id.binding = this.topLevel(use);
    else this.uses.push(use);
  }

  private resolveUse(use: Use): void {
    const { name } = use.id;
    for (let b: Block | null = use.block; b !== null; b = b.parent) {
      if (b === this.file) break;
      const found = b.bindings.get(name);
      if (found === undefined) continue;
      use.id.binding = found;
      if (use.called) this.callsAtTop = true;
      for (let f: FunctionScope | null = use.block.scope; f !== null && f !== found.owner; f = f.parent) {
        found.captured = true;
        f.free.add(found);
      }
      return;
    }
    use.id.binding = this.topLevel(use);
  }

  private topLevel(use: Use): Binding {
    const { id } = use;
    const own = this.file.bindings.get(id.name) ?? this.globals.get(id.name);
    if (own !== undefined) {
      if (use.called) this.callsAtTop = true;
      return own;
    }
    if (this.env.predeclared.has(id.name) && use.block.scope === this.file.scope) this.callsAtTop = true;
    const known = this.outside.get(id.name);
    if (known !== undefined || this.env.predeclared.has(id.name) || this.env.universal.has(id.name)) {
      this.mentions.push({ name: id.name, attribute: use.attribute, offset: id.pos });
    }
    if (known !== undefined) return known;
    let scope: ScopeKind = "undefined";
    if (this.env.predeclared.has(id.name)) scope = "predeclared";
    else if (this.env.universal.has(id.name)) {
      scope = "universal";
      if (id.name === "set" && !this.env.dialect.set) this.error(id.pos, `${unsupported}sets`);
    }
    const b = this.binding(scope, id, null);
    if (scope !== "undefined") {
      this.outside.set(id.name, b);
      return b;
    }
    const guess = this.spellcheck(use);
    this.error(id.pos, `undefined: ${id.name}${guess === "" ? "" : ` (did you mean ${guess}?)`}`);
    return b;
  }

  private spellcheck(use: Use): string {
    const names: string[] = [];
    for (let b: Block | null = use.block; b !== null; b = b.parent) names.push(...b.bindings.keys());
    names.push(...this.globals.keys());
    return (
      nearest(use.id.name, names.sort()) ||
      nearest(use.id.name, [...this.env.predeclared, ...this.env.universal].sort())
    );
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
        if (this.loops === 0 && s.token !== "pass") this.error(s.pos, `${s.token} not in a loop`);
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
        this.bind(s.ident);
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
        if (!this.env.dialect.while) this.error(s.pos, `${unsupported}while loops`);
        this.control(s.pos, "while loop");
        this.expr(s.test);
        this.loops++;
        this.stmts(s.body);
        this.loops--;
        return;
      case "return":
        if (!this.inFunction()) this.error(s.pos, "return statement not within a function");
        if (s.x !== null) this.expr(s.x);
        return;
      case "load":
        this.load(s);
        return;
    }
  }

  private control(offset: number, what: string): void {
    if (!this.env.dialect.topLevelControl && !this.inFunction()) this.error(offset, `${what} not within a function`);
  }

  private load(s: LoadStmt): void {
    if (this.inFunction()) this.error(s.pos, "load statement within a function");
    else if (this.loops > 0) this.error(s.pos, "load statement within a loop");
    else if (this.conditionals > 0) this.error(s.pos, "load statement within a conditional");
    for (const { from, fromPos, to } of s.names) {
      if (from === "") {
        this.error(fromPos, "load: empty identifier");
        continue;
      }
      if (from.startsWith("_")) {
        this.error(fromPos, `load: names with leading underscores are not exported: ${from}`);
      }
      if (this.env.dialect.loadBindsGlobally) this.bind(to);
      else this.bindLoaded(to);
    }
  }

  private assign(target: Expr, augmented: boolean): void {
    const x = unparen(target);
    switch (x.kind) {
      case "ident":
        this.bind(x);
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
        if (augmented) this.error(startOf(x), `can't use ${x.kind} expression in augmented assignment`);
        for (const item of x.items) this.assign(item, augmented);
        return;
      default:
        this.error(startOf(x), `can't assign to ${targetNames[x.kind]}`);
    }
  }

  expr(e: Expr): void {
    switch (e.kind) {
      case "ident":
        this.use(e);
        return;
      case "literal":
        return;
      case "list":
      case "tuple":
        for (const x of e.items) this.expr(x);
        return;
      case "dot": {
        const owner = unparen(e.x);
        if (owner.kind === "ident") this.use(owner, e.name);
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
        this.callsAround++;
        this.expr(e.fn);
        for (const arg of e.args) this.expr(arg.value);
        this.callsAround--;
        resolveArguments(e, (offset, message) => this.error(offset, message));
        return;
      case "lambda":
        if (this.callsAround > 0 && !this.inFunction()) this.callsAtTop = true;
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
    const outer = this.block;
    this.block = { parent: outer, scope: outer.scope, isFunction: false, bindings: new Map() };
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
    this.block = outer;
  }

  private fn(node: FunctionNode): void {
    for (const p of node.params) if (p.fallback !== null) this.expr(p.fallback);
    const outer = this.block;
    const scope: FunctionScope = { parent: outer.scope, locals: [], free: new Set() };
    node.scope = scope;
    this.block = { parent: outer, scope, isFunction: true, bindings: new Map() };
    const { loops, callsAround } = this;
    this.loops = 0;
    this.callsAround = 0;
    resolveParameters(
      node,
      (id) => this.bind(id),
      (offset, message) => this.error(offset, message),
    );
    this.stmts(node.body);
    this.loops = loops;
    this.callsAround = callsAround;
    this.block = outer;
  }
}
