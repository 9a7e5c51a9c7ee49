/** Compiles programs and runs their top level. A Program holds no values of a run; an Instance is a module, run and frozen. */
import type { Stmt } from "./ast.ts";
import { asStarlarkError } from "./calls.ts";
import { generate } from "./codegen.ts";
import { checkEmission } from "./emission-check.ts";
import type { Emission, Mode } from "./emitter.ts";
import { type Issue, type Position, staticError } from "./errors.ts";
import { mayBeAsync } from "./host-builtin.ts";
import { type Instance, init, initSync } from "./instance.ts";
import { toStarlark } from "./interop.ts";
import { parseFile } from "./parser.ts";
import { resolveFile } from "./resolver.ts";
import { type Modules, runtime } from "./runtime.ts";
import { type Dialect, defaultDialect, type Resolved } from "./scope.ts";
import { makeSource, type Source, type SourceOptions } from "./source.ts";
import type { ThreadOptions } from "./thread.ts";
import { universe } from "./universe.ts";
import { encodeUtf8 } from "./utf8.ts";
import type { Body, Value } from "./values.ts";

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

/** For programs that load nothing. */
export const noModules: Modules = { run: () => null, get: () => undefined };

export class Program {
  readonly file: string;
  /** Modules the program loads, in order. */
  readonly loads: readonly string[];
  readonly load: CompileOptions["load"] | null;
  /** True if the program names an asynchronous built-in. */
  readonly isAsync: boolean;
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
    this.isAsync = [...resolved.mentioned].some((name) => {
      const v = this.predeclared.get(name);
      return v !== undefined && mayBeAsync(v);
    });
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
