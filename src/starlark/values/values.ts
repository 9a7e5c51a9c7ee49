/**
 * The values of the language. None is null, a bool a boolean, an int a number (or a bigint beyond 2^53-1), a string a byte
 * string; everything else is one of these classes. They hold state and its invariants; operators live elsewhere.
 */
import type { Position } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { decodeUtf8 } from "./utf8.ts";

export type Value = null | boolean | number | bigint | string | StarlarkObject;
export type Int = number | bigint;

/** Base of all values that are JS objects. No other object is ever a Value. */
export abstract class StarlarkObject {
  abstract get typeName(): string;
}

export class Float extends StarlarkObject {
  readonly v: number;
  constructor(v: number) {
    super();
    this.v = v;
  }
  get typeName(): string {
    return "float";
  }
}

/** `lock` of a container: 0 mutable, above 0 the number of iterators at work, -1 frozen. */
export const FROZEN = -1;

export class List extends StarlarkObject {
  a: Value[];
  lock = 0;
  constructor(a: Value[]) {
    super();
    this.a = a;
  }
  get typeName(): string {
    return "list";
  }
}

export class Tuple extends StarlarkObject {
  readonly a: readonly Value[];
  constructor(a: readonly Value[]) {
    super();
    this.a = a;
  }
  get typeName(): string {
    return "tuple";
  }
}

export const emptyTuple = new Tuple([]);

export class Bytes extends StarlarkObject {
  readonly s: string;
  constructor(s: string) {
    super();
    this.s = s;
  }
  get typeName(): string {
    return "bytes";
  }
}

/** What `elems` and its siblings return: a view of a string or bytes as a sequence. */
export class StringView extends StarlarkObject {
  readonly s: string;
  readonly ords: boolean;
  readonly unit: "elem" | "codepoint" | "byte";
  constructor(s: string, unit: "elem" | "codepoint" | "byte", ords: boolean) {
    super();
    this.s = s;
    this.unit = unit;
    this.ords = ords;
  }
  get typeName(): string {
    if (this.unit === "byte") return "bytes.elems";
    return this.unit === "elem" ? "string.elems" : "string.codepoints";
  }
}

/** An arithmetic sequence. Elements are computed, never stored. */
export class Range extends StarlarkObject {
  readonly start: Int;
  readonly stop: Int;
  readonly step: Int;
  readonly length: number;
  constructor(start: Int, stop: Int, step: Int) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.length = rangeLength(start, stop, step);
  }
  at(i: number): Int {
    const { start, step } = this;
    if (typeof start === "number" && typeof step === "number") {
      const x = start + i * step;
      if (Number.isSafeInteger(x)) return x;
    }
    return shrink(BigInt(start) + BigInt(i) * BigInt(step));
  }
  get typeName(): string {
    return "range";
  }
}

function rangeLength(start: Int, stop: Int, step: Int): number {
  if (typeof start === "number" && typeof stop === "number" && typeof step === "number") {
    if (step > 0) return stop > start ? Math.floor((stop - 1 - start) / step) + 1 : 0;
    return start > stop ? Math.floor((start - 1 - stop) / -step) + 1 : 0;
  }
  const [a, b, s] = [BigInt(start), BigInt(stop), BigInt(step)];
  if (s > 0n) return b > a ? Number((b - 1n - a) / s + 1n) : 0;
  return a > b ? Number((a - 1n - b) / -s + 1n) : 0;
}

/** A bigint in its canonical form. */
export function shrink(x: bigint): Int {
  return x >= -MAX_SAFE && x <= MAX_SAFE ? Number(x) : x;
}
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Static facts about a function, shared by all its closures. */
export class FunctionCode {
  readonly name: string;
  /** Where the body begins to run: the place of errors in entering it. */
  readonly entry: Position;
  /** Ordinary parameters first, then keyword-only ones; without *args and **kwargs. */
  readonly params: readonly string[];
  readonly keywordOnly: number;
  readonly varargs: boolean;
  readonly kwargs: boolean;
  readonly doc: string | null;
  readonly generator: boolean;
  /** The thread that is inside the function now; how synchronous code notices recursion. */
  active: Thread | null = null;
  constructor(init: {
    name: string;
    entry: Position;
    params: readonly string[];
    keywordOnly: number;
    varargs: boolean;
    kwargs: boolean;
    doc: string | null;
    generator: boolean;
  }) {
    this.name = init.name;
    this.entry = init.entry;
    this.params = init.params;
    this.keywordOnly = init.keywordOnly;
    this.varargs = init.varargs;
    this.kwargs = init.kwargs;
    this.doc = init.doc;
    this.generator = init.generator;
  }
}

/** The JS function of a body: it takes the thread and one value for each parameter, *args and **kwargs included. */
export type Body = (t: Thread, ...args: Value[]) => Value;

/** A def or lambda. In a generator program `j` returns a generator that in turn returns the value. */
export class Fn extends StarlarkObject {
  readonly code: FunctionCode;
  readonly j: Body;
  /** True in a generator program. */
  readonly g: boolean;
  /** Number of parameters if plain positional arguments can be passed straight on, else -1. */
  readonly n: number;
  /** One for each parameter from the first optional one; undefined marks a mandatory keyword-only one. */
  readonly defaults: readonly (Value | undefined)[];
  /** The captured variables, so that freezing reaches them. */
  readonly captured: (() => readonly (Value | undefined)[]) | null;
  frozen = false;
  constructor(
    code: FunctionCode,
    j: Body,
    defaults: readonly (Value | undefined)[],
    captured: (() => readonly (Value | undefined)[]) | null,
  ) {
    super();
    this.code = code;
    this.j = j;
    this.g = code.generator;
    this.n = code.varargs || code.kwargs || code.keywordOnly > 0 ? -1 : code.params.length;
    this.defaults = defaults;
    this.captured = captured;
  }
  get typeName(): string {
    return "function";
  }
}

export type Keyword = readonly [name: string, value: Value];
export const noKeywords: readonly Keyword[] = [];

/** A call that is not finished: a promise of the host, or a generator of a function or built-in. Never a Value. */
export class Pending {
  readonly promise: Promise<unknown> | null;
  readonly steps: Generator<unknown, Value, Value> | null;
  /** The built-in whose frame belongs to errors of the rest; "" if there is none to add. */
  readonly name: string;
  /** Makes a value of what the promise resolves to. */
  readonly finish: (x: unknown) => Value;
  constructor(steps: Generator<unknown, Value, Value>, name?: string);
  constructor(promise: Promise<unknown>, name: string, finish: (x: unknown) => Value);
  constructor(
    work: Promise<unknown> | Generator<unknown, Value, Value>,
    name = "",
    finish: (x: unknown) => Value = () => null,
  ) {
    const isPromise = work instanceof Promise;
    this.promise = isPromise ? work : null;
    this.steps = isPromise ? null : work;
    this.name = name;
    this.finish = finish;
  }
}

export type Impl = (t: Thread, self: Value, args: readonly Value[], kwargs: readonly Keyword[]) => Value | Pending;

/** A method or function of the host. `f1` takes exactly one positional argument and saves the argument list. */
export interface Method {
  readonly name: string;
  readonly impl: Impl;
  readonly f0?: (t: Thread, self: Value) => Value;
  readonly f1?: (t: Thread, self: Value, a: Value) => Value;
}

/** A built-in function, or a method bound to its receiver. */
export class Builtin extends StarlarkObject {
  readonly name: string;
  readonly method: Method;
  readonly self: Value | undefined;
  /** May return a promise: programs that mention it run as generators. */
  readonly async: boolean;
  constructor(method: Method, self?: Value, async = false) {
    super();
    this.name = method.name;
    this.method = method;
    this.self = self;
    this.async = async;
  }
  get typeName(): string {
    return "builtin_function_or_method";
  }
}

/** A struct: immutable named fields with a constructor symbol. */
export class Struct extends StarlarkObject {
  readonly constructorName: string;
  readonly fields: ReadonlyMap<string, Value>;
  constructor(constructorName: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.constructorName = constructorName;
    this.fields = new Map([...fields].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  get typeName(): string {
    return "struct";
  }
}

/**
 * A thing of the host that a script may hold and hand on but not look into: a credential. Whatever shows it, shows `shown`. Text
 * added to one that `joins` gives another such thing.
 */
export class Opaque extends StarlarkObject {
  readonly typeName: string;
  /** What print, str, repr and JSON say instead; a byte string. */
  readonly shown: string;
  readonly #hidden: string;
  readonly joins: boolean;
  constructor(typeName: string, shown: string, hidden: string, joins = false) {
    super();
    this.typeName = typeName;
    this.shown = shown;
    this.#hidden = hidden;
    this.joins = joins;
  }
  /** For the host alone. */
  reveal(): string {
    return this.#hidden;
  }
  /** With byte strings around what is hidden. */
  around(before: string, after: string): Opaque {
    return new Opaque(this.typeName, this.shown, before + this.#hidden + after, true);
  }
  toJSON(): string {
    return decodeUtf8(this.shown);
  }
  override toString(): string {
    return this.toJSON();
  }
}

/** A named collection of values, e.g. `json`. With `call`, it can be called as well. */
export class Module extends StarlarkObject {
  readonly name: string;
  readonly members: ReadonlyMap<string, Value>;
  readonly call: Builtin | null;
  constructor(name: string, members: ReadonlyMap<string, Value>, call: Builtin | null = null) {
    super();
    this.name = name;
    this.members = members;
    this.call = call;
  }
  get typeName(): string {
    return "module";
  }
}

/** The name `type(x)` gives. */
export function typeOf(x: Value): string {
  switch (typeof x) {
    case "string":
      return "string";
    case "number":
    case "bigint":
      return "int";
    case "boolean":
      return "bool";
    default:
      return x === null ? "NoneType" : x.typeName;
  }
}
