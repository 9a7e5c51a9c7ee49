/**
 * The names of a file: what each block binds, what each use means. Uses are resolved when all bindings are known, except where
 * the dialect says that a name means what it means at that point.
 */

import { decodeUtf8 } from "../values/utf8.ts";
import type { Ident } from "./ast.ts";
import type { Binding, Environment, FunctionScope, Mention, Resolved, ScopeKind } from "./scope.ts";
import type { Source } from "./source.ts";
import { nearest } from "./spelling.ts";

export interface Block {
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

export const unsupported = "this Starlark dialect does not support ";

export class NameTable {
  readonly file: Block;
  /** Where names are bound and used now. */
  block: Block;
  /** How many calls are around the expression that is looked at. */
  callsAround = 0;
  callsAtTop = false;
  private readonly source: Source;
  private readonly env: Environment;
  private readonly globals = new Map<string, Binding>();
  private readonly outside = new Map<string, Binding>();
  private readonly order: Binding[] = [];
  private readonly uses: Use[] = [];
  private readonly found: { offset: number; message: string }[] = [];
  private readonly mentions: Mention[] = [];
  private count = 0;

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

  inFunction(): boolean {
    return this.block.scope !== this.file.scope;
  }

  /** Binds a name in the current block; true if the block already had it. */
  bind(id: Ident): boolean {
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

  bindLoaded(id: Ident): void {
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
}
