/** Compiles programs and runs their top level. A Program holds no values of a run; an Instance is a module, run and frozen. */

import { asStarlarkError } from "./calls.ts";
import { generate } from "./compile/codegen.ts";
import { checkEmission } from "./compile/emission-check.ts";
import type { Emission, Mode } from "./compile/emitter.ts";
import { type Issue, type Position, staticError } from "./errors.ts";
import { mayBeAsync } from "./host-builtin.ts";
import { type Instance, init, initSync } from "./instance.ts";
import { toStarlark } from "./interop.ts";
import { universe } from "./library/universe.ts";
import { type Modules, runtime } from "./runtime.ts";
import type { Stmt } from "./syntax/ast.ts";
import { parseFile } from "./syntax/parser.ts";
import { resolveFile } from "./syntax/resolver.ts";
import { type Dialect, defaultDialect, type Resolved } from "./syntax/scope.ts";
import { makeSource, type Source, type SourceOptions } from "./syntax/source.ts";
import type { ThreadOptions } from "./thread.ts";
import { decodeUtf8, encodeUtf8 } from "./values/utf8.ts";
import { type Body, Module, type Value } from "./values/values.ts";

export interface CompileOptions extends SourceOptions {
  /** Names the program sees besides the universal ones. Host data is converted. */
  readonly predeclared?: Readonly<Record<string, unknown>>;
  /** More such names, with values of the language, as another module left them. */
  readonly values?: ReadonlyMap<string, Value>;
  readonly dialect?: Partial<Dialect>;
  /** Finds the program that `load(module, ...)` names. Without it, load fails. */
  readonly load?: (module: string, from: Program) => Program | Promise<Program>;
}

/** The result of running the factory: the top level and the current values of all module-level variables. */
export interface Linked {
  readonly top: Body;
  readonly all: () => readonly (Value | undefined)[];
}

/** One use of a name that comes from outside the program. */
export interface ProgramMention {
  readonly name: string;
  /** What follows its dot; null where the name stands alone, and so may be handed on. */
  readonly attribute: string | null;
  readonly position: Position;
}

/** A function of a program as its text declares it. */
export interface Definition {
  readonly position: Position;
  /** Arguments it cannot be called without, and how many it takes by position at most. */
  readonly required: number;
  readonly accepted: number;
}

/** For programs that load nothing. */
export const noModules: Modules = { run: () => null, get: () => undefined };

export class Program {
  readonly file: string;
  /** Modules the program loads, in order. */
  readonly loads: readonly string[];
  readonly load: CompileOptions["load"] | null;
  /** True if the program names an asynchronous built-in. */
  readonly isAsync: boolean;
  /** True if running the top level may call the host, so that one run cannot stand for another. */
  readonly callsAtTop: boolean;
  private readonly source: Source;
  private readonly tree: readonly Stmt[];
  private readonly resolved: Resolved;
  private readonly dialect: Dialect;
  private readonly predeclared: ReadonlyMap<string, Value>;
  private readonly factories = new Map<Mode, (modules: Modules) => Linked>();

  constructor(source: Source, tree: readonly Stmt[], resolved: Resolved, options: CompileOptions, dialect: Dialect) {
    this.file = source.file;
    this.source = source;
    this.tree = tree;
    this.resolved = resolved;
    this.dialect = dialect;
    this.load = options.load ?? null;
    this.loads = tree.flatMap((s) => (s.kind === "load" ? [s.module] : []));
    this.predeclared = new Map([
      ...Object.entries(options.predeclared ?? {}).map(([k, v]): [string, Value] => [encodeUtf8(k), toStarlark(v)]),
      ...(options.values ?? []),
    ]);
    this.isAsync = resolved.mentions.some(({ name, attribute }) => {
      const v = this.predeclared.get(name);
      if (v === undefined) return false;
      const member = attribute !== null && v instanceof Module ? v.members.get(attribute) : v;
      return member !== undefined && mayBeAsync(member);
    });
    this.callsAtTop = resolved.callsAtTop;
  }

  /** Every use of a predeclared or universal name. */
  get mentions(): readonly ProgramMention[] {
    return this.resolved.mentions.map(({ name, attribute, offset }) => ({
      name: decodeUtf8(name),
      attribute: attribute === null ? null : decodeUtf8(attribute),
      position: this.source.position(offset),
    }));
  }

  /** The `def` of that name at top level. */
  definition(name: string): Definition | undefined {
    const wanted = encodeUtf8(name);
    for (const stmt of this.tree) {
      if (stmt.kind !== "def" || stmt.ident.name !== wanted) continue;
      const { params } = stmt.fn;
      const bare = params.findIndex((p) => p.kind === "star");
      const ordinary = (bare < 0 ? params : params.slice(0, bare)).filter((p) => p.kind !== "starstar");
      const keywordOnly = bare < 0 ? [] : params.slice(bare + 1).filter((p) => p.kind === "plain");
      return {
        position: this.source.position(stmt.ident.pos),
        required: ordinary.filter((p) => p.kind === "plain").length + keywordOnly.length,
        accepted: params.some((p) => p.kind === "star" && p.ident !== null) ? Infinity : ordinary.length,
      };
    }
    return undefined;
  }

  /** Loads what the program needs, runs its top level once and freezes the result. */
  init(options: ThreadOptions = {}): Promise<Instance> {
    return init(this, options);
  }

  /** As `init`, where neither the program nor its loader is asynchronous. */
  initSync(options: ThreadOptions = {}): Instance {
    return initSync(this, options);
  }

  /** Names of the module-level variables, and whether other modules see them. */
  get globals(): readonly { readonly name: string; readonly exported: boolean }[] {
    return this.resolved.globals.map((b) => ({ name: b.name, exported: b.scope === "global" }));
  }

  /** A fresh module, not yet run. Generates the code on first use in a mode. */
  link(mode: Mode, modules: Modules): Linked {
    let factory = this.factories.get(mode);
    if (factory === undefined) {
      factory = this.build(mode);
      this.factories.set(mode, factory);
    }
    return factory(modules);
  }

  private build(mode: Mode): (modules: Modules) => Linked {
    const { source } = this;
    const emission = generate(this.tree, this.resolved, { source, mode, dialect: this.dialect });
    checkEmission(emission.code);
    const outside = emission.outside.map(
      (name) => (this.predeclared.has(name) ? this.predeclared : universe).get(name) ?? null,
    );
    const positionOf = (id: number): Position => source.position(emission.positions[id] ?? 0);
    const factory = evaluate(emission, source);
    return (modules) => factory(runtime, emission.constants, emission.functions, outside, modules, positionOf);
  }
}

type Factory = (
  R: typeof runtime,
  K: readonly unknown[],
  C: Emission["functions"],
  D: readonly Value[],
  L: Modules,
  P: (id: number) => Position,
) => Linked;

function evaluate(emission: Emission, source: Source): Factory {
  try {
    // The code was checked to hold nothing but our own words; this is the one place where text becomes a function.
    return new Function("R", "K", "C", "D", "L", "P", emission.code) as Factory;
  } catch (e) {
    if (e instanceof SyntaxError || e instanceof RangeError) {
      throw staticError("resolve", [
        { position: source.position(0), message: `program is too complex (${e.message})` },
      ]);
    }
    throw asStarlarkError(e);
  }
}

/** Parses, resolves and compiles. Throws a StarlarkError that lists all static errors. */
export function compile(text: string, file: string, options: CompileOptions = {}): Program {
  const { program, issues, kind } = analyse(text, file, options);
  if (program === null) throw staticError(kind, issues);
  return program;
}

/** All static errors of a program, without throwing: syntax errors alone, or else those of names. */
export function check(text: string, file: string, options: CompileOptions = {}): readonly Issue[] {
  return analyse(text, file, options).issues;
}

/** Syntax errors only. */
export function checkSyntax(text: string, file: string, options: SourceOptions = {}): readonly Issue[] {
  return parseFile(makeSource(file, text, options)).issues;
}

function analyse(
  text: string,
  file: string,
  options: CompileOptions,
): { program: Program | null; issues: readonly Issue[]; kind: "syntax" | "resolve" } {
  const source = makeSource(file, text, options);
  const parsed = parseFile(source);
  if (parsed.issues.length > 0) return { program: null, issues: parsed.issues, kind: "syntax" };
  const dialect = { ...defaultDialect, ...options.dialect };
  const resolved = resolveFile(parsed.tree, source, {
    dialect,
    predeclared: new Set([
      ...Object.keys(options.predeclared ?? {}).map(encodeUtf8),
      ...(options.values?.keys() ?? []),
    ]),
    universal: new Set(universe.keys()),
  });
  if (resolved.issues.length > 0) return { program: null, issues: resolved.issues, kind: "resolve" };
  return { program: new Program(source, parsed.tree, resolved, options, dialect), issues: [], kind: "resolve" };
}
