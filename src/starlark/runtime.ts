/**
 * What generated code may use. The names here, and nothing else of this process, are in its scope; emission-check.ts enforces
 * that. Trailing position ids that generated code passes are ignored unless a helper names them.
 */

import {
  builtinFailure,
  call,
  callSpread,
  callSync,
  entryFailure,
  frameFailure,
  pin,
  settle,
  unfinished,
} from "./calls.ts";
import { fault, StarlarkError } from "./errors.ts";
import { rangeOf } from "./library/conversions.ts";
import { extend } from "./library/list-methods.ts";
import { nearest } from "./syntax/spelling.ts";
import type { Thread } from "./thread.ts";
import { findMethod, getAttribute, type MethodName, setAttribute } from "./values/attributes.ts";
import { eq, ge, gt, le, lt } from "./values/compare.ts";
import { Dict, keyOf, StarlarkSet } from "./values/dict.ts";
import {
  add,
  and,
  contains,
  div,
  ELEMENT_BYTES,
  ENTRY_BYTES,
  floordiv,
  mergeInto,
  mod,
  mul,
  or,
  shl,
  shr,
  sub,
  unary,
  xor,
} from "./values/operators.ts";
import { repr } from "./values/repr.ts";
import { checkMutable, getIndex, setIndex, slice } from "./values/subscript.ts";
import { elementsOf, lengthOf, lock, release, truth } from "./values/truth.ts";
import {
  type Body,
  emptyTuple,
  Float,
  Fn,
  type FunctionCode,
  List,
  type Method,
  Pending,
  Range,
  Tuple,
  typeOf,
  type Value,
} from "./values/values.ts";

/** Exports of a loaded module, or why there are none. */
export type Loaded = ReadonlyMap<string, Value> | StarlarkError;

/** The modules a program loads, each run when its first load statement is reached. */
export interface Modules {
  /** Runs the module unless that is done; pending in a generator program. */
  run(module: string): Pending | null;
  get(module: string): Loaded | undefined;
}

function neg(t: Thread, x: Value): Value {
  return unary(t, "-", x);
}
function plus(t: Thread, x: Value): Value {
  return unary(t, "+", x);
}
function invert(t: Thread, x: Value): Value {
  return unary(t, "~", x);
}

/** `x += y`: a list grows in place. */
function iadd(t: Thread, x: Value, y: Value): Value {
  if (x instanceof List) {
    const elements = elementsOf(t, y);
    if (elements !== null) {
      checkMutable(x, "apply += to");
      t.charge(elements.length >> 2);
      extend(t, x, elements);
      return x;
    }
  }
  return add(t, x, y);
}

/** `x |= y`: a dict is updated in place. */
function ior(t: Thread, x: Value, y: Value): Value {
  if (!(x instanceof Dict && y instanceof Dict)) return or(t, x, y);
  x.checkMutable("apply |= to");
  mergeInto(t, x, y);
  return x;
}

function list(t: Thread, a: Value[]): Value {
  t.alloc(ELEMENT_BYTES * (a.length + 2));
  return new List(a);
}

function tuple(t: Thread, a: Value[]): Value {
  t.alloc(ELEMENT_BYTES * (a.length + 1));
  return a.length === 0 ? emptyTuple : new Tuple(a);
}

/** A dict display. `first` is the position id of the first colon; those of the others follow it. */
function dict(t: Thread, flat: readonly Value[], first: number): Value {
  const d = new Dict();
  t.alloc(ENTRY_BYTES);
  for (let i = 0; i < flat.length; i += 2) {
    try {
      const cost = d.set(flat[i]!, flat[i + 1]!, t);
      t.alloc(cost);
      if (cost === 0) throw fault(`duplicate key: ${repr(t, flat[i]!)}`);
    } catch (e) {
      throw pin(e, first + i / 2);
    }
  }
  return d;
}

/** Adds an entry in a dict comprehension. */
function put(t: Thread, d: Dict, k: Value, v: Value): void {
  t.alloc(d.set(k, v, t));
}

/** Membership in a display of constants, which was turned into a set when the program was compiled. */
function inConst(set: ReadonlySet<Value>, x: Value): boolean {
  if (typeof x === "bigint" || x instanceof Float) return set.has(keyOf(x, null));
  return set.has(x);
}

/** Begins an iteration: the elements, with the container locked against change. A range gives none; see `at`. */
function iterate(t: Thread, x: Value): readonly Value[] {
  if (x instanceof List || x instanceof Dict || x instanceof StarlarkSet) {
    const elements = x instanceof List ? x.a : (elementsOf(t, x) ?? noElements);
    lock(x);
    return elements;
  }
  if (x instanceof Range) return noElements;
  const elements = elementsOf(t, x);
  if (elements === null) throw fault(`${typeOf(x)} value is not iterable`);
  return elements;
}
const noElements: readonly Value[] = [];

function count(x: Value, elements: readonly Value[]): number {
  return x instanceof Range ? x.length : elements.length;
}

function at(x: Value, i: number): Value {
  return x instanceof Range ? x.at(i) : null;
}

/** The number of rounds of `for x in range(n)`. */
function rounds(t: Thread, x: Value): number {
  if (typeof x === "number") return x;
  try {
    return rangeOf(t, [x]).length;
  } catch (e) {
    throw builtinFailure(e, "range");
  }
}

function range(t: Thread, args: readonly Value[]): Value {
  try {
    return rangeOf(t, args);
  } catch (e) {
    throw builtinFailure(e, "range");
  }
}

function unpack(t: Thread, x: Value, n: number): readonly Value[] {
  const elements = elementsOf(t, x);
  if (elements === null) throw fault(`got ${typeOf(x)} in sequence assignment`);
  if (elements.length > n) throw fault(`too many values to unpack (got ${elements.length}, want ${n})`);
  if (elements.length < n) throw fault(`too few values to unpack (got ${elements.length}, want ${n})`);
  // The targets may be elements of the list itself.
  return x instanceof List ? elements.slice() : elements;
}

function unbound(name: string): never {
  throw fault(`local variable ${name} referenced before assignment`);
}

function unboundGlobal(name: string): never {
  throw fault(`global variable ${name} referenced before assignment`);
}

function fn(
  t: Thread,
  code: FunctionCode,
  body: Body,
  defaults: readonly (Value | undefined)[],
  captured: (() => readonly (Value | undefined)[]) | null,
): Value {
  t.alloc(128);
  return new Fn(code, body, defaults, captured);
}

/** Refuses to enter a function: it is active already, or the stack is too deep. */
function deny(t: Thread, code: FunctionCode): never {
  if (code.active === t || t.active.has(code)) {
    throw entryFailure(fault(`function ${code.name} called recursively`), code);
  }
  t.depth--;
  throw entryFailure(t.tooDeep(), code);
}

function len(t: Thread, builtin: Value, x: Value): Value {
  const n = lengthOf(x);
  return n >= 0 ? n : callSync(t, builtin, [x]);
}

/** The receiver of a method call whose arguments may fail or have effects: the method is looked up before them. */
function receiver(_t: Thread, x: Value, name: MethodName): Value {
  if (findMethod(x, name) === null) getAttribute(x, name.name);
  return x;
}

/** A method call without arguments. `p` is its position id; that of the dot comes just before. */
function method0(t: Thread, x: Value, name: MethodName, p: number): Value | Pending {
  const m = findMethod(x, name);
  if (m === null) return call(t, attributeAt(x, name.name, p - 1), []);
  try {
    return m.f0 === undefined ? m.impl(t, x, [], []) : m.f0(t, x);
  } catch (e) {
    throw builtinFailure(e, m.name);
  }
}

function method1(t: Thread, x: Value, name: MethodName, a: Value, p: number): Value | Pending {
  const m = findMethod(x, name);
  if (m === null) return call(t, attributeAt(x, name.name, p - 1), [a]);
  try {
    return m.f1 === undefined ? m.impl(t, x, [a], []) : m.f1(t, x, a);
  } catch (e) {
    throw builtinFailure(e, m.name);
  }
}

function methodN(t: Thread, x: Value, name: MethodName, args: readonly Value[], p: number): Value | Pending {
  const m: Method | null = findMethod(x, name);
  if (m === null) return call(t, attributeAt(x, name.name, p - 1), args);
  try {
    return m.impl(t, x, args, []);
  } catch (e) {
    throw builtinFailure(e, m.name);
  }
}

function attributeAt(x: Value, name: string, p: number): Value {
  try {
    return getAttribute(x, name);
  } catch (e) {
    throw pin(e, p);
  }
}

/** The result of a call in a synchronous program. */
function done(x: Value | Pending): Value {
  return x instanceof Pending ? unfinished() : x;
}

function attr(_t: Thread, x: Value, name: string): Value {
  return getAttribute(x, name);
}

function setattr(_t: Thread, x: Value, name: string): never {
  return setAttribute(x, name);
}

function runModule(modules: Modules, module: string): Pending | null {
  return modules.run(module);
}

/** A symbol of a loaded module. */
function loaded(modules: Modules, module: string, name: string): Value {
  const exports = modules.get(module);
  if (exports === undefined) throw fault("load not implemented by this application");
  if (exports instanceof StarlarkError) {
    const message = `cannot load ${module}: ${exports.message}`;
    throw new StarlarkError(exports.kind, message, { cause: exports, ...(exports.limit && { limit: exports.limit }) });
  }
  const v = exports.get(name);
  if (v !== undefined) return v;
  const guess = nearest(name, exports.keys());
  const hint = guess === "" ? "" : ` (did you mean ${guess}?)`;
  throw fault(`load: name ${name} not found in module ${module}${hint}`);
}

/** The scope of generated code. */
export const runtime = {
  add,
  sub,
  mul,
  div,
  floordiv,
  mod,
  or,
  and,
  xor,
  shl,
  shr,
  contains,
  iadd,
  ior,
  neg,
  plus,
  invert,
  eq,
  lt,
  le,
  gt,
  ge,
  truth,
  list,
  tuple,
  dict,
  put,
  inConst,
  iterate,
  count,
  at,
  release,
  rounds,
  range,
  unpack,
  unbound,
  unboundGlobal,
  fn,
  deny,
  len,
  receiver,
  method0,
  method1,
  methodN,
  done,
  attr,
  setattr,
  runModule,
  loaded,
  getIndex,
  setIndex,
  slice,
  call,
  callSpread,
  callSync,
  settle,
  frameFailure,
  pin,
  Fn,
  Dict,
  Pending,
} as const;
