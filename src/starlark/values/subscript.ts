/** `x[i]`, `x[i] = v` and slices. */

import { fault, StarlarkError } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict } from "./dict.ts";
import { asInt32 } from "./integers.ts";
import { ELEMENT_BYTES } from "./operators.ts";
import { repr } from "./repr.ts";
import { lengthOf } from "./truth.ts";
import { Bytes, FROZEN, List, Range, StringView, Tuple, typeOf, type Value } from "./values.ts";

export function getIndex(t: Thread, x: Value, y: Value): Value {
  if (x instanceof List || x instanceof Tuple) {
    if (typeof y === "number") {
      const v = x.a[y < 0 ? y + x.a.length : y];
      if (v !== undefined) return v;
    }
    return elementAt(x, y, x.a.length);
  }
  if (x instanceof Dict) {
    const v = x.get(y, t);
    if (v === undefined) throw fault(`key ${repr(t, y)} not in dict`);
    return v;
  }
  const n = indexable(x) ? lengthOf(x) : -1;
  if (n < 0) throw fault(`unhandled index operation ${typeOf(x)}[${typeOf(y)}]`);
  return elementAt(x, y, n);
}

function indexable(x: Value): boolean {
  return (
    typeof x === "string" || x instanceof Bytes || x instanceof Range || (x instanceof StringView && x.unit === "elem")
  );
}

function elementAt(x: Value, y: Value, n: number): Value {
  const i = prefixed(`${typeOf(x)} index: `, () => asInt32(y));
  const at = i < 0 ? i + n : i;
  if (at < 0 || at >= n) throw outOfRange(i, n, x);
  if (typeof x === "string") return x[at] ?? "";
  if (x instanceof List || x instanceof Tuple) return x.a[at] ?? null;
  if (x instanceof Range) return x.at(at);
  if (x instanceof Bytes) return new Bytes(x.s[at] ?? "");
  if (x instanceof StringView) return x.ords ? x.s.charCodeAt(at) : (x.s[at] ?? "");
  throw fault(`unhandled index operation ${typeOf(x)}[int]`);
}

export function outOfRange(i: number | bigint, n: number, x: Value): StarlarkError {
  return n === 0
    ? fault(`index ${i} out of range: empty ${typeOf(x)}`)
    : fault(`${typeOf(x)} index ${i} out of range [${-n}:${n - 1}]`);
}

/** Runs a conversion and puts words before the message of its failure. */
export function prefixed<R>(prefix: string, convert: () => R): R {
  try {
    return convert();
  } catch (e) {
    if (e instanceof StarlarkError && e.kind === "runtime" && e.trail.length === 0) {
      throw fault(prefix + e.message);
    }
    throw e;
  }
}

/** Fails when the list is frozen or iterated over. */
export function checkMutable(list: List, verb: string): void {
  if (list.lock === 0) return;
  throw fault(list.lock === FROZEN ? `cannot ${verb} frozen list` : `cannot ${verb} list during iteration`);
}

export function setIndex(t: Thread, x: Value, y: Value, z: Value): void {
  if (x instanceof Dict) {
    t.alloc(x.set(y, z, t));
    return;
  }
  if (!(x instanceof List)) throw fault(`${typeOf(x)} value does not support item assignment`);
  const i = asInt32(y);
  const n = x.a.length;
  const at = i < 0 ? i + n : i;
  if (at < 0 || at >= n) throw outOfRange(i, n, x);
  if (x.lock !== 0) checkMutable(x, "assign to element of");
  x.a[at] = z;
}

export function slice(t: Thread, x: Value, low: Value, high: Value, stepValue: Value): Value {
  const n = x instanceof List || x instanceof Tuple || (indexable(x) && !(x instanceof StringView)) ? lengthOf(x) : -1;
  if (n < 0) throw fault(`invalid slice operand ${typeOf(x)}`);
  const step = stepValue === null ? 1 : prefixed("invalid slice step: ", () => asInt32(stepValue));
  if (step === 0) throw fault("zero is not a valid slice step");
  let start: number;
  let end: number;
  if (step > 0) {
    [start, end] = indices(low, high, n);
    if (end < start) end = start;
  } else {
    start = Math.min(asIndex(low, n, n - 1, "start"), n - 1);
    end = Math.max(asIndex(high, n, -1, "end"), -1);
    if (start < end) start = end;
  }
  return sliceOf(t, x, start, end, step);
}

/** Start and end clamped to [0, n], for a positive stride. */
export function indices(low: Value | undefined, high: Value | undefined, n: number): [number, number] {
  return [clamp(asIndex(low ?? null, n, 0, "start"), n), clamp(asIndex(high ?? null, n, n, "end"), n)];
}

function clamp(i: number, n: number): number {
  return i < 0 ? 0 : i > n ? n : i;
}

function asIndex(v: Value, n: number, absent: number, what: string): number {
  if (v === null) return absent;
  const i = prefixed(`invalid ${what} index: `, () => asInt32(v));
  return i < 0 ? i + n : i;
}

function sliceOf(t: Thread, x: Value, start: number, end: number, step: number): Value {
  if (x instanceof Range) return sliceRange(x, start, end, step);
  const count = step > 0 ? Math.ceil((end - start) / step) : Math.ceil((start - end) / -step);
  if (typeof x === "string") return sliceString(t, x, start, end, step);
  if (x instanceof Bytes) return new Bytes(sliceString(t, x.s, start, end, step));
  t.allocValue(ELEMENT_BYTES * count);
  t.charge(count >> 4);
  const from = x instanceof List || x instanceof Tuple ? x.a : [];
  const out: Value[] = step === 1 ? from.slice(start, end) : [];
  if (step !== 1) for (let i = start; step > 0 ? i < end : i > end; i += step) out.push(from[i] ?? null);
  return x instanceof List ? new List(out) : new Tuple(out);
}

function sliceString(t: Thread, s: string, start: number, end: number, step: number): string {
  if (step === 1) {
    t.alloc(Math.min(end - start, 32));
    return s.slice(start, end);
  }
  t.allocValue(Math.ceil(Math.abs(end - start) / Math.abs(step)));
  t.charge(Math.abs(end - start) >> 4);
  let out = "";
  for (let i = start; step > 0 ? i < end : i > end; i += step) out += s[i];
  return out;
}

function sliceRange(x: Range, start: number, end: number, step: number): Range {
  const first = BigInt(x.start);
  const by = BigInt(x.step);
  const num = (v: bigint): number | bigint => (Number.isSafeInteger(Number(v)) ? Number(v) : v);
  return new Range(num(first + by * BigInt(start)), num(first + by * BigInt(end)), num(by * BigInt(step)));
}
