/** The unary and binary operators on values. `add(t, x, y)` is `x + y`; what has no meaning fails as "unknown binary op". */

import { fault, StarlarkError } from "../errors.ts";
import { interpolate } from "../library/percent-format.ts";
import type { Thread } from "../thread.ts";
import { eq } from "./compare.ts";
import { Dict, StarlarkSet } from "./dict.ts";
import {
  addInt,
  andInt,
  floorDiv,
  floorMod,
  isInt,
  mulInt,
  numberToInt,
  orInt,
  shiftInt,
  subInt,
  toFloat,
  xorInt,
} from "./integers.ts";
import { Bytes, Float, List, Opaque, Range, Struct, Tuple, typeOf, type Value } from "./values.ts";

/** Bytes an element of a list or tuple is charged. */
export const ELEMENT_BYTES = 16;
export const ENTRY_BYTES = 64;
const MAX_REPEAT = 2 ** 30;
/** Longer strings are joined lazily by the engine, so that appending costs little until the result is read. */
const SHORT_STRING = 256;

function unknown(x: Value, op: string, y: Value): Error {
  return fault(`unknown binary op: ${typeOf(x)} ${op} ${typeOf(y)}`);
}

/** The two operands as floats if at least one is a float and the other a number. */
function floats(x: Value, y: Value): [number, number] | null {
  if (x instanceof Float) {
    if (y instanceof Float) return [x.v, y.v];
    return isInt(y) ? [x.v, toFloat(y)] : null;
  }
  return y instanceof Float && isInt(x) ? [toFloat(x), y.v] : null;
}

function concat(t: Thread, x: string, y: string): string {
  const n = x.length + y.length;
  if (n > t.maxValueBytes) t.allocValue(n);
  t.alloc(n <= SHORT_STRING ? n : 32 + (n >> 3));
  return x + y;
}

export function add(t: Thread, x: Value, y: Value): Value {
  if (typeof x === "number" && typeof y === "number") {
    const r = x + y;
    return Number.isSafeInteger(r) ? r : addInt(t, x, y);
  }
  if (typeof x === "string" && typeof y === "string") return concat(t, x, y);
  if (isInt(x) && isInt(y)) return addInt(t, x, y);
  const f = floats(x, y);
  if (f !== null) return new Float(f[0] + f[1]);
  if (x instanceof List && y instanceof List) {
    t.allocValue(ELEMENT_BYTES * (x.a.length + y.a.length));
    return new List(x.a.concat(y.a));
  }
  if (x instanceof Tuple && y instanceof Tuple) {
    t.allocValue(ELEMENT_BYTES * (x.a.length + y.a.length));
    return new Tuple(x.a.concat(y.a));
  }
  if (x instanceof Bytes && y instanceof Bytes) return new Bytes(concat(t, x.s, y.s));
  if (x instanceof Struct && y instanceof Struct) return addStructs(t, x, y);
  if (x instanceof Opaque && x.joins && typeof y === "string") return x.around("", y);
  if (y instanceof Opaque && y.joins && typeof x === "string") return y.around(x, "");
  throw unknown(x, "+", y);
}

function addStructs(t: Thread, x: Struct, y: Struct): Struct {
  if (x.constructorName !== y.constructorName) {
    throw fault(`cannot add structs of different constructors: ${x.constructorName} + ${y.constructorName}`);
  }
  t.alloc(ENTRY_BYTES * (x.fields.size + y.fields.size));
  return new Struct(x.constructorName, new Map([...x.fields, ...y.fields]));
}

export function sub(t: Thread, x: Value, y: Value): Value {
  if (typeof x === "number" && typeof y === "number") {
    const r = x - y;
    return Number.isSafeInteger(r) ? r : subInt(t, x, y);
  }
  if (isInt(x) && isInt(y)) return subInt(t, x, y);
  const f = floats(x, y);
  if (f !== null) return new Float(f[0] - f[1]);
  if (x instanceof StarlarkSet && y instanceof StarlarkSet) {
    return newSet(
      t,
      x.elements().filter((e) => !y.has(e, t)),
    );
  }
  throw unknown(x, "-", y);
}

export function newSet(t: Thread, elements: readonly Value[]): StarlarkSet {
  const set = new StarlarkSet();
  for (const x of elements) {
    if (--t.fuel < 0) t.refuel();
    t.alloc(set.add(x, t));
  }
  return set;
}

export function mul(t: Thread, x: Value, y: Value): Value {
  if (typeof x === "number" && typeof y === "number") {
    const r = x * y;
    return Number.isSafeInteger(r) ? r + 0 : mulInt(t, x, y);
  }
  if (isInt(x) && isInt(y)) return mulInt(t, x, y);
  const f = floats(x, y);
  if (f !== null) return new Float(f[0] * f[1]);
  const repeated = isInt(x) ? repeat(t, y, x) : isInt(y) ? repeat(t, x, y) : null;
  if (repeated === null) throw unknown(x, "*", y);
  return repeated;
}

/** A sequence n times over, or null if x is none. */
function repeat(t: Thread, x: Value, n: number | bigint): Value {
  if (typeof x === "string") return repeatString(t, x, n);
  if (x instanceof Bytes) return new Bytes(repeatString(t, x.s, n));
  if (!(x instanceof List || x instanceof Tuple)) return null;
  const times = repeatCount(n, x.a.length);
  t.allocValue(ELEMENT_BYTES * x.a.length * times);
  t.charge((x.a.length * times) >> 4);
  const out: Value[] = [];
  for (let i = 0; i < times; i++) for (const e of x.a) out.push(e);
  return x instanceof List ? new List(out) : new Tuple(out);
}

function repeatString(t: Thread, s: string, n: number | bigint): string {
  const times = repeatCount(n, s.length);
  t.allocValue(s.length * times);
  t.charge((s.length * times) >> 6);
  return s.repeat(times);
}

function repeatCount(n: number | bigint, length: number): number {
  if (length === 0) return 0;
  const count = Number(n);
  if (Math.abs(count) > 0x7fffffff) throw fault(`repeat count ${n} too large`);
  if (count < 1) return 0;
  if (length * count >= MAX_REPEAT) throw fault(`excessive repeat (${length} * ${count} elements)`);
  return count;
}

export function div(_t: Thread, x: Value, y: Value): Value {
  if (isInt(x) && isInt(y)) return quotient(toFloat(x), toFloat(y));
  const f = floats(x, y);
  if (f === null) throw unknown(x, "/", y);
  return quotient(f[0], f[1]);
}

function quotient(x: number, y: number): Float {
  if (y === 0) throw fault("floating-point division by zero");
  return new Float(x / y);
}

export function floordiv(t: Thread, x: Value, y: Value): Value {
  if (isInt(x) && isInt(y)) {
    if (y === 0) throw fault("floored division by zero");
    return floorDiv(t, x, y);
  }
  const f = floats(x, y);
  if (f === null) throw unknown(x, "//", y);
  if (f[1] === 0) throw fault("floored division by zero");
  return new Float(Math.floor(f[0] / f[1]));
}

export function mod(t: Thread, x: Value, y: Value): Value {
  if (isInt(x) && isInt(y)) {
    if (y === 0) throw fault("integer modulo by zero");
    return floorMod(t, x, y);
  }
  if (typeof x === "string") return interpolate(t, x, y);
  const f = floats(x, y);
  if (f === null) throw unknown(x, "%", y);
  if (f[1] === 0) throw fault("floating-point modulo by zero");
  const r = f[0] % f[1];
  return new Float(r !== 0 && f[0] < 0 !== f[1] < 0 ? r + f[1] : r);
}

export function or(t: Thread, x: Value, y: Value): Value {
  if (isInt(x) && isInt(y)) return orInt(t, x, y);
  if (x instanceof StarlarkSet && y instanceof StarlarkSet) return newSet(t, [...x.elements(), ...y.elements()]);
  if (x instanceof Dict && y instanceof Dict) {
    const z = new Dict();
    mergeInto(t, z, x);
    mergeInto(t, z, y);
    return z;
  }
  throw unknown(x, "|", y);
}

/** Puts all entries of `from` into `into`. */
export function mergeInto(t: Thread, into: Dict, from: Dict): void {
  t.charge(from.size);
  for (const [k, v] of from.entries()) t.alloc(into.set(k, v, t));
}

export function and(t: Thread, x: Value, y: Value): Value {
  if (isInt(x) && isInt(y)) return andInt(t, x, y);
  if (x instanceof StarlarkSet && y instanceof StarlarkSet) {
    return newSet(
      t,
      y.elements().filter((e) => x.has(e, t)),
    );
  }
  throw unknown(x, "&", y);
}

export function xor(t: Thread, x: Value, y: Value): Value {
  if (isInt(x) && isInt(y)) return xorInt(t, x, y);
  if (x instanceof StarlarkSet && y instanceof StarlarkSet) {
    return newSet(t, [...x.elements().filter((e) => !y.has(e, t)), ...y.elements().filter((e) => !x.has(e, t))]);
  }
  throw unknown(x, "^", y);
}

export function shl(t: Thread, x: Value, y: Value): Value {
  if (!isInt(x)) throw unknown(x, "<<", y);
  return shiftInt(t, "<<", x, y);
}

export function shr(t: Thread, x: Value, y: Value): Value {
  if (!isInt(x)) throw unknown(x, ">>", y);
  return shiftInt(t, ">>", x, y);
}

/** As in starlark-go, what cannot be a key is not an error here: it is simply not in the dict. */
function hasKey(t: Thread, x: Value, dict: Dict): boolean {
  if (typeof x !== "object") return dict.get(x, t) !== undefined;
  try {
    return dict.get(x, t) !== undefined;
  } catch (e) {
    if (e instanceof StarlarkError && e.kind === "runtime") return false;
    throw e;
  }
}

/** `x in y`. */
export function contains(t: Thread, x: Value, y: Value): boolean {
  if (y instanceof Dict) return hasKey(t, x, y);
  if (y instanceof List || y instanceof Tuple) {
    for (const e of y.a) {
      if (--t.fuel < 0) t.refuel();
      if (eq(t, e, x)) return true;
    }
    return false;
  }
  if (typeof y === "string") {
    if (typeof x !== "string") throw fault(`'in <string>' requires string as left operand, not ${typeOf(x)}`);
    t.charge(y.length >> 6);
    return y.includes(x);
  }
  if (y instanceof StarlarkSet) return y.has(x, t);
  if (y instanceof Range) return rangeHas(y, x);
  if (y instanceof Bytes) return bytesHas(t, y.s, x);
  throw unknown(x, "in", y);
}

function rangeHas(range: Range, x: Value): boolean {
  if (!isInt(x) && !(x instanceof Float)) {
    throw fault(`'in <range>' requires integer as left operand, not ${typeOf(x)}`);
  }
  const delta = BigInt(numberToInt(x)) - BigInt(range.start);
  const step = BigInt(range.step);
  const at = delta / step;
  return delta % step === 0n && at >= 0n && at < BigInt(range.length);
}

function bytesHas(t: Thread, s: string, x: Value): boolean {
  t.charge(s.length >> 6);
  if (x instanceof Bytes) return s.includes(x.s);
  if (!isInt(x)) throw fault(`'in bytes' requires bytes or int as left operand, not ${typeOf(x)}`);
  if (x < 0 || x > 255) {
    throw fault(`int in bytes: ${x} out of range (want value in unsigned 8-bit range)`);
  }
  return s.includes(String.fromCharCode(Number(x)));
}

export function unary(t: Thread, op: "+" | "-" | "~", x: Value): Value {
  if (isInt(x)) {
    if (op === "+") return x;
    return op === "-" ? subInt(t, 0, x) : subInt(t, -1, x);
  }
  if (x instanceof Float && op !== "~") return op === "+" ? x : new Float(-x.v);
  throw fault(`unknown unary op: ${op} ${typeOf(x)}`);
}
