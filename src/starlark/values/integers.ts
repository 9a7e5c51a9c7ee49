/** Integer arithmetic of any size on numbers that become bigints when they must. Big results are charged before they exist. */
import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Float, type Int, shrink, typeOf, type Value } from "./values.ts";

const INT32_MAX = 0x7fffffff;
const INT32_MIN = -0x80000000;
/** Bigints below this magnitude are too small to be worth measuring. */
const SMALL = 1e300;

export function isInt(x: Value): x is Int {
  return typeof x === "number" || typeof x === "bigint";
}

/** Sizes up to which a bigint is measured by comparison, which costs nothing; larger ones are written out. */
const sizes = [256, 512, 1024, 2048, 4096, 8192];
const powers = sizes.map((bytes) => 1n << BigInt(8 * bytes));

/** Approximate size of a bigint, at most twice too large. */
export function bigBytes(x: Int): number {
  if (typeof x === "number" || Math.abs(Number(x)) < SMALL) return 128;
  for (let i = 0; i < powers.length; i++) {
    const power = powers[i] ?? 0n;
    if (x < power && x > -power) return sizes[i] ?? 0;
  }
  return x.toString(16).length >> 1;
}

/** The engine multiplies in about n^1.5 steps; ours are coarser. */
function productSteps(a: number, b: number): number {
  return Math.floor((Math.max(a, b) * Math.sqrt(Math.min(a, b))) / 256);
}

function chargeSum(t: Thread, x: Int, y: Int): void {
  const bytes = Math.max(bigBytes(x), bigBytes(y));
  t.allocValue(bytes);
  if (bytes > 128) t.charge(bytes >> 6);
}

export function addInt(t: Thread, x: Int, y: Int): Int {
  if (typeof x === "number" && typeof y === "number") {
    const r = x + y;
    return Number.isSafeInteger(r) ? r : shrink(BigInt(x) + BigInt(y));
  }
  chargeSum(t, x, y);
  return shrink(BigInt(x) + BigInt(y));
}

export function subInt(t: Thread, x: Int, y: Int): Int {
  if (typeof x === "number" && typeof y === "number") {
    const r = x - y;
    return Number.isSafeInteger(r) ? r : shrink(BigInt(x) - BigInt(y));
  }
  chargeSum(t, x, y);
  return shrink(BigInt(x) - BigInt(y));
}

export function mulInt(t: Thread, x: Int, y: Int): Int {
  if (typeof x === "number" && typeof y === "number") {
    const r = x * y;
    // Adding 0 turns -0 into 0.
    return Number.isSafeInteger(r) ? r + 0 : shrink(BigInt(x) * BigInt(y));
  }
  const a = bigBytes(x);
  const b = bigBytes(y);
  t.allocValue(a + b);
  if (a + b > 256) t.charge(productSteps(a, b));
  return shrink(BigInt(x) * BigInt(y));
}

/** Floored division; the caller has excluded zero. */
export function floorDiv(t: Thread, x: Int, y: Int): Int {
  if (typeof x === "number" && typeof y === "number") {
    const r = x % y;
    const q = (x - r) / y;
    return (r !== 0 && r < 0 !== y < 0 ? q - 1 : q) + 0;
  }
  chargeQuotient(t, x, y);
  const [a, b] = [BigInt(x), BigInt(y)];
  const r = a % b;
  const q = a / b;
  return shrink(r !== 0n && r < 0n !== b < 0n ? q - 1n : q);
}

/** Floored remainder, with the sign of y; the caller has excluded zero. */
export function floorMod(t: Thread, x: Int, y: Int): Int {
  if (typeof x === "number" && typeof y === "number") {
    const r = x % y;
    return (r !== 0 && r < 0 !== y < 0 ? r + y : r) + 0;
  }
  chargeQuotient(t, x, y);
  const [a, b] = [BigInt(x), BigInt(y)];
  const r = a % b;
  return shrink(r !== 0n && r < 0n !== b < 0n ? r + b : r);
}

function chargeQuotient(t: Thread, x: Int, y: Int): void {
  const a = bigBytes(x);
  t.allocValue(a);
  if (a > 128) t.charge(productSteps(a, bigBytes(y)));
}

function fits32(x: Int, y: Int): boolean {
  return typeof x === "number" && typeof y === "number" && (x | 0) === x && (y | 0) === y;
}

export function andInt(t: Thread, x: Int, y: Int): Int {
  if (fits32(x, y)) return Number(x) & Number(y);
  chargeSum(t, x, y);
  return shrink(BigInt(x) & BigInt(y));
}

export function orInt(t: Thread, x: Int, y: Int): Int {
  if (fits32(x, y)) return Number(x) | Number(y);
  chargeSum(t, x, y);
  return shrink(BigInt(x) | BigInt(y));
}

export function xorInt(t: Thread, x: Int, y: Int): Int {
  if (fits32(x, y)) return Number(x) ^ Number(y);
  chargeSum(t, x, y);
  return shrink(BigInt(x) ^ BigInt(y));
}

const MAX_SHIFT = 512;

export function shiftInt(t: Thread, op: "<<" | ">>", x: Int, count: Value): Int {
  const n = asInt32(count);
  if (n < 0) throw fault(`negative shift count: ${n}`);
  if (op === ">>") {
    if (typeof x === "number") return n > 60 ? (x < 0 ? -1 : 0) : Math.floor(x / 2 ** n);
    return shrink(x >> BigInt(n));
  }
  if (n >= MAX_SHIFT) throw fault(`shift count too large: ${n}`);
  if (typeof x === "number") {
    const r = x * 2 ** n;
    if (Number.isSafeInteger(r)) return r;
  }
  t.allocValue(bigBytes(x) + (n >> 3));
  return shrink(BigInt(x) << BigInt(n));
}

/** An int that fits in 32 bits. The message is completed by the caller. */
export function asInt32(x: Value): number {
  if (!isInt(x)) throw fault(`got ${typeOf(x)}, want int`);
  if (typeof x === "bigint" || x > INT32_MAX || x < INT32_MIN) throw fault(`${x} out of range`);
  return x;
}

/** An int from an int or a float, which is truncated. */
export function numberToInt(x: Value): Int {
  if (isInt(x)) return x;
  if (!(x instanceof Float)) throw fault(`cannot convert ${typeOf(x)} to int`);
  if (Number.isNaN(x.v)) throw fault("cannot convert float NaN to integer");
  if (!Number.isFinite(x.v)) throw fault("cannot convert float infinity to integer");
  const whole = Math.trunc(x.v);
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole);
}

/** The float nearest to an int. */
export function toFloat(x: Int): number {
  const v = Number(x);
  if (!Number.isFinite(v)) throw fault("int too large to convert to float");
  return v;
}
