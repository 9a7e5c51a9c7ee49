/**
 * What all parts of code generation share: constants, positions, names of variables. Text of the program never becomes text of
 * the generated code; names and strings go through the constant pool.
 */
import type { Comprehension, Expr, FunctionNode, Ident } from "../syntax/ast.ts";
import type { Binding, Dialect, FunctionScope } from "../syntax/scope.ts";
import type { Source } from "../syntax/source.ts";
import { methodName } from "../values/attributes.ts";
import { Bytes, Float, type FunctionCode, Tuple, type Value } from "../values/values.ts";
import { Unit } from "./unit.ts";

export type Mode = "sync" | "generator";

/** Everything generated code needs from outside. */
export interface Emission {
  readonly code: string;
  readonly constants: readonly unknown[];
  /** Source offsets by position id. */
  readonly positions: readonly number[];
  readonly functions: readonly FunctionCode[];
  /** Predeclared and universal names in the order of their variables. */
  readonly outside: readonly string[];
}

/** A JS function that stands for a global. The parameters after the required ones have defaults. */
export interface DirectFunction {
  readonly name: string;
  readonly params: readonly string[];
  readonly required: number;
  /** Length of the code that a call runs, if that is so short that it takes no step; known once it is emitted. */
  short: number | null;
}

export abstract class Emitter {
  protected readonly mode: Mode;
  protected readonly dialect: Dialect;
  protected readonly source: Source;
  protected readonly constants: unknown[] = [];
  protected readonly positions: number[] = [];
  protected readonly functions: FunctionCode[] = [];
  protected readonly outside = new Map<string, string>();
  /** Functions that capture nothing, emitted side by side. */
  protected readonly hoisted: string[] = [];
  /** The JS function of each global that is bound once, by a plain `def`: calls may go straight to it. */
  protected readonly direct = new Map<Binding, DirectFunction>();
  protected unit: Unit;
  protected names = 0;
  private readonly strings = new Map<string, string>();
  private readonly methods = new Map<string, string>();

  constructor(source: Source, mode: Mode, dialect: Dialect, top: FunctionScope) {
    this.source = source;
    this.mode = mode;
    this.dialect = dialect;
    this.unit = new Unit(null, top, false, new Set());
  }

  abstract expr(e: Expr): string;
  abstract fn(node: FunctionNode): string;
  abstract comprehension(e: Comprehension): string;

  protected get isGenerator(): boolean {
    return this.mode === "generator";
  }

  /** The position id of an offset. */
  protected position(offset: number): number {
    return this.positions.push(offset) - 1;
  }

  /** Notes the position, as the last argument of a call that may fail. */
  protected mark(offset: number): string {
    return `p=${this.position(offset)}`;
  }

  protected constant(value: unknown): string {
    return `k${this.constants.push(value) - 1}`;
  }

  protected string(s: string): string {
    let k = this.strings.get(s);
    if (k === undefined) {
      k = this.constant(s);
      this.strings.set(s, k);
    }
    return k;
  }

  protected method(name: string): string {
    let k = this.methods.get(name);
    if (k === undefined) {
      k = this.constant(methodName(name));
      this.methods.set(name, k);
    }
    return k;
  }

  /** Counts a step, and in a generator lets the event loop run now and then. */
  protected step(): string {
    return this.isGenerator ? "if(--T.fuel<0&&T.refuel())yield null;" : "if(--T.fuel<0)T.refuel();";
  }

  /** The variable of a binding. Detached comprehensions are passed the locals they use. */
  protected variable(b: Binding): string {
    if (b.scope === "local") {
      for (let u: Unit | null = this.unit; u?.detached && !u.declared.has(`l${b.id}`); u = u.outer) u.borrowed.add(b);
      return `l${b.id}`;
    }
    if (b.scope === "global" || b.scope === "file") return `g${b.id}`;
    let name = this.outside.get(b.name);
    if (name === undefined) {
      name = `d${this.outside.size}`;
      this.outside.set(b.name, name);
    }
    return name;
  }

  protected ident(e: Ident): string {
    const b = e.binding;
    if (b === null || b.scope === "undefined") throw new Error("unresolved name");
    if (b.scope === "universal") {
      if (b.name === "None") return "null";
      if (b.name === "True") return "true";
      if (b.name === "False") return "false";
    }
    const v = this.variable(b);
    if (b.scope === "predeclared" || b.scope === "universal" || this.unit.assigned.has(b.id)) return v;
    const complain = b.scope === "global" ? "unboundGlobal" : "unbound";
    return `(${v}===undefined?${complain}(${this.string(b.name)},${this.mark(e.pos)}):${v})`;
  }

  /** Is it a name that certainly has a value? */
  protected isAssigned(e: Expr): boolean {
    if (e.kind !== "ident" || e.binding === null) return false;
    const { scope, id } = e.binding;
    return scope === "predeclared" || scope === "universal" || this.unit.assigned.has(id);
  }

  /** The name of a universal function if the expression denotes it and nothing shadows it. */
  protected universal(e: Expr): string | null {
    return e.kind === "ident" && e.binding?.scope === "universal" ? e.binding.name : null;
  }
}

/** The value of a constant expression, or undefined. Only immutable values count. */
export function constantValue(e: Expr): Value | undefined {
  switch (e.kind) {
    case "literal":
      if (e.token === "float literal") return new Float(Number(e.value));
      return e.token === "bytes literal" ? new Bytes(String(e.value)) : e.value;
    case "paren":
      return constantValue(e.x);
    case "ident":
      if (e.binding?.scope !== "universal") return undefined;
      return { None: null, True: true, False: false }[e.binding.name];
    case "unary": {
      const x = e.op === "-" ? constantValue(e.x) : undefined;
      return typeof x === "number" && x !== 0 ? -x : undefined;
    }
    case "tuple": {
      const items = e.items.map(constantValue);
      return items.every((x) => x !== undefined) ? new Tuple(items) : undefined;
    }
    default:
      return undefined;
  }
}
