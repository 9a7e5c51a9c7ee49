/** Equality and order. Nested values are compared to a fixed depth, so that cyclic ones end in an error. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict, StarlarkSet } from "./dict.ts";
import { Bytes, Float, List, Range, StringView, Struct, Tuple, typeOf, type Value } from "./values.ts";

const MAX_DEPTH = 10;
/** From this length on, comparing strings costs steps. */
const LONG_STRING = 1000;

type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

export function eq(t: Thread, x: Value, y: Value): boolean {
  if (typeof x !== "object" || x === null) {
    if (typeof x === "string" && x.length > LONG_STRING) t.charge(x.length >> 6);
    if (x === y) return true;
    return y instanceof Float && (typeof x === "number" || typeof x === "bigint") && sameNumber(x, y.v);
  }
  return equalDepth(t, x, y, MAX_DEPTH);
}

// An exact comparison: JS compares a bigint with a number by mathematical value.
function sameNumber(x: number | bigint, v: number): boolean {
  return typeof x === "number" ? x === v : x >= v && x <= v;
}

export function lt(t: Thread, x: Value, y: Value): boolean {
  if (typeof x === "number" && typeof y === "number") return x < y;
  if (typeof x === "string" && typeof y === "string" && x.length <= LONG_STRING) return x < y;
  return compareDepth(t, "<", x, y, MAX_DEPTH);
}

export function le(t: Thread, x: Value, y: Value): boolean {
  if (typeof x === "number" && typeof y === "number") return x <= y;
  return compareDepth(t, "<=", x, y, MAX_DEPTH);
}

export function gt(t: Thread, x: Value, y: Value): boolean {
  if (typeof x === "number" && typeof y === "number") return x > y;
  return compareDepth(t, ">", x, y, MAX_DEPTH);
}

export function ge(t: Thread, x: Value, y: Value): boolean {
  if (typeof x === "number" && typeof y === "number") return x >= y;
  return compareDepth(t, ">=", x, y, MAX_DEPTH);
}

function equalDepth(t: Thread, x: Value, y: Value, depth: number): boolean {
  if (typeof x !== "object" || x === null) return eq(t, x, y);
  if (x instanceof Float) {
    if (y instanceof Float) return x.v === y.v || (Number.isNaN(x.v) && Number.isNaN(y.v));
    return (typeof y === "number" || typeof y === "bigint") && sameNumber(y, x.v);
  }
  if (x instanceof Bytes) return y instanceof Bytes && x.s === y.s;
  if (depth < 1) throw fault("comparison exceeded maximum recursion depth");
  if ((x instanceof List && y instanceof List) || (x instanceof Tuple && y instanceof Tuple)) {
    if (x.a.length !== y.a.length) return false;
    return firstDifference(t, x.a, y.a, depth) < 0;
  }
  if (x instanceof Dict && y instanceof Dict) {
    if (x.size !== y.size) return false;
    for (const [k, v] of x.entries()) {
      t.charge(1);
      const w = y.get(k, t);
      if (w === undefined || !equalDepth(t, v, w, depth - 1)) return false;
    }
    return true;
  }
  if (x instanceof StarlarkSet && y instanceof StarlarkSet) return x.size === y.size && isSubset(t, x, y);
  if (x instanceof Range && y instanceof Range) {
    if (x.length !== y.length) return false;
    return x.length === 0 || (x.start === y.start && (x.length === 1 || x.step === y.step));
  }
  if (x instanceof StringView && y instanceof StringView) {
    return x.s === y.s && x.unit === y.unit && x.ords === y.ords;
  }
  if (x instanceof Struct && y instanceof Struct) return structsEqual(t, x, y, depth);
  return x === y;
}

function structsEqual(t: Thread, x: Struct, y: Struct, depth: number): boolean {
  if (x.constructorName !== y.constructorName || x.fields.size !== y.fields.size) return false;
  for (const [k, v] of x.fields) {
    const w = y.fields.get(k);
    if (w === undefined || !equalDepth(t, v, w, depth - 1)) return false;
  }
  return true;
}

/** Index of the first pair that differs within the shorter length, or -1. */
function firstDifference(t: Thread, x: readonly Value[], y: readonly Value[], depth: number): number {
  const n = Math.min(x.length, y.length);
  for (let i = 0; i < n; i++) {
    if (--t.fuel < 0) t.refuel();
    if (!equalDepth(t, x[i]!, y[i]!, depth - 1)) return i;
  }
  return -1;
}

function isSubset(t: Thread, x: StarlarkSet, y: StarlarkSet): boolean {
  t.charge(x.size);
  return x.elements().every((e) => y.has(e, t));
}

function compareDepth(t: Thread, op: Comparison, x: Value, y: Value, depth: number): boolean {
  if (depth < 1) throw fault("comparison exceeded maximum recursion depth");
  const nx = numeric(x);
  const ny = numeric(y);
  if (nx !== null && ny !== null) return threeWay(op, compareNumbers(nx, ny));
  if (typeof x === "string" && typeof y === "string") {
    t.charge(Math.min(x.length, y.length) >> 6);
    return threeWay(op, x < y ? -1 : x > y ? 1 : 0);
  }
  if (typeof x === "boolean" && typeof y === "boolean") return threeWay(op, Number(x) - Number(y));
  if (x instanceof Bytes && y instanceof Bytes) return threeWay(op, x.s < y.s ? -1 : x.s > y.s ? 1 : 0);
  if ((x instanceof List && y instanceof List) || (x instanceof Tuple && y instanceof Tuple)) {
    const i = firstDifference(t, x.a, y.a, depth);
    return i < 0 ? threeWay(op, x.a.length - y.a.length) : compareDepth(t, op, x.a[i]!, y.a[i]!, depth - 1);
  }
  if (x instanceof StarlarkSet && y instanceof StarlarkSet) {
    if (op === "<=") return x.size <= y.size && isSubset(t, x, y);
    if (op === "<") return x.size < y.size && isSubset(t, x, y);
    if (op === ">=") return y.size <= x.size && isSubset(t, y, x);
    if (op === ">") return y.size < x.size && isSubset(t, y, x);
  }
  throw fault(`${typeOf(x)} ${op} ${typeOf(y)} not implemented`);
}

function numeric(x: Value): number | bigint | null {
  if (typeof x === "number" || typeof x === "bigint") return x;
  return x instanceof Float ? x.v : null;
}

/** Total order with NaN above everything. */
function compareNumbers(x: number | bigint, y: number | bigint): number {
  if (x < y) return -1;
  if (x > y) return 1;
  const xNan = Number.isNaN(x);
  const yNan = Number.isNaN(y);
  return xNan === yNan ? 0 : xNan ? 1 : -1;
}

function threeWay(op: Comparison, c: number): boolean {
  switch (op) {
    case "==":
      return c === 0;
    case "!=":
      return c !== 0;
    case "<":
      return c < 0;
    case "<=":
      return c <= 0;
    case ">":
      return c > 0;
    case ">=":
      return c >= 0;
  }
}
