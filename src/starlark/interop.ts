/**
 * The border to the host: JS data to Starlark values and back, exactly. Ints keep their value at any size, text is transcoded,
 * cyclic and foreign objects are refused. No host object ever becomes a Value.
 */

import { fault } from "./errors.ts";
import { Dict, type LazyEntries, StarlarkSet } from "./values/dict.ts";
import { lengthOf } from "./values/truth.ts";
import { decodeUtf8, encodeUtf8 } from "./values/utf8.ts";
import {
  Bytes,
  Float,
  List,
  Opaque,
  Range,
  StarlarkObject,
  Struct,
  shrink,
  Tuple,
  typeOf,
  type Value,
} from "./values/values.ts";

/** Nesting of data that crosses the border. */
const MAX_DEPTH = 200;

/**
 * Converts host data: null and undefined to None, integral numbers and bigints to int, other numbers to float, text to string,
 * Uint8Array to bytes, arrays to list, Set to set, Map and plain objects to dict. Values of the language pass unchanged.
 */
export function toStarlark(x: unknown): Value {
  return convert(x, null, false);
}

/** As toStarlark, but the entries of plain objects are converted when they are touched. The host must not change them meanwhile. */
export function toStarlarkLazily(x: unknown): Value {
  return convert(x, null, true);
}

/** The objects around the one being converted. */
interface Path {
  readonly x: object;
  readonly up: Path | null;
  readonly depth: number;
}

function enter(x: object, up: Path | null): Path {
  for (let p = up; p !== null; p = p.up) if (p.x === x) throw fault("cannot convert a cyclic value");
  const depth = up === null ? 1 : up.depth + 1;
  if (depth > MAX_DEPTH) throw fault("value is nested too deeply to convert");
  return { x, up, depth };
}

function convert(x: unknown, path: Path | null, lazy: boolean): Value {
  switch (typeof x) {
    case "string":
      return encodeUtf8(x);
    case "number":
      if (!Number.isInteger(x)) return new Float(x);
      return Number.isSafeInteger(x) ? x + 0 : BigInt(x);
    case "bigint":
      return shrink(x);
    case "boolean":
      return x;
    case "undefined":
      return null;
    case "object":
      return x === null || x instanceof StarlarkObject ? x : convertObject(x, path, lazy);
    default:
      throw fault(`cannot convert a host ${typeof x} to a Starlark value`);
  }
}

function convertObject(x: object, path: Path | null, lazy: boolean): Value {
  const inside = enter(x, path);
  if (Array.isArray(x)) return new List(x.map((e) => convert(e, inside, lazy)));
  const proto: unknown = Object.getPrototypeOf(x);
  if (proto === Object.prototype || proto === null) {
    if (lazy) return new Dict(new LazyObject(x, inside));
    const d = new Dict();
    for (const [k, v] of Object.entries(x)) d.set(encodeUtf8(k), convert(v, inside, lazy), null);
    return d;
  }
  if (x instanceof Uint8Array) return new Bytes(Buffer.from(x).toString("latin1"));
  if (x instanceof Set) return StarlarkSet.of([...x].map((e) => convert(e, inside, lazy)));
  if (!(x instanceof Map)) throw fault("cannot convert a host object of a class");
  const d = new Dict();
  for (const [k, v] of x) d.set(convert(k, inside, lazy), convert(v, inside, lazy), null);
  return d;
}

/** The entries of a plain object: own enumerable properties, whatever they are called. */
class LazyObject implements LazyEntries {
  private readonly x: object;
  private readonly path: Path;

  constructor(x: object, path: Path) {
    this.x = x;
    this.path = path;
  }

  private read(name: string): Value {
    return convert(Reflect.get(this.x, name), this.path, true);
  }

  get(key: string): Value | undefined {
    const name = decodeUtf8(key);
    return Object.hasOwn(this.x, name) ? this.read(name) : undefined;
  }

  entries(known: ReadonlyMap<Value, Value>): Iterable<readonly [string, Value]> {
    return Object.keys(this.x).map((name): [string, Value] => {
      const key = encodeUtf8(name);
      const v = known.get(key);
      return [key, v === undefined ? this.read(name) : v];
    });
  }
}

/**
 * Converts a value for the host: ints to number or, beyond 2^53-1, to bigint; floats to number; bytes to Uint8Array; list, tuple
 * and range to array; set to Set; struct and dict to an object, or to a Map if a key is not a string. Opaque things pass
 * unchanged. Functions are refused, and so is what would unfold to too many parts.
 */
export function toHost(x: Value): unknown {
  if (typeof x === "string") return decodeUtf8(x);
  if (typeof x !== "object" || x === null) return x;
  return unconvert(x, null, { parts: MAX_PARTS });
}

/** A value whose parts are shared can be small and unfold to billions. */
const MAX_PARTS = 2_000_000;
/** A container takes longer than what is in it. */
const CONTAINER_PARTS = 8;

interface Allowance {
  parts: number;
}

function unconvert(x: Value, path: Path | null, left: Allowance): unknown {
  if (typeof x === "string") return decodeUtf8(x);
  if (typeof x !== "object" || x === null) return x;
  if (x instanceof Float) return x.v;
  if (x instanceof Bytes) return new Uint8Array(Buffer.from(x.s, "latin1"));
  if (x instanceof Opaque) return x;
  const inside = enter(x, path);
  left.parts -= CONTAINER_PARTS + Math.max(0, lengthOf(x));
  if (left.parts < 0) throw fault(`value has more than ${MAX_PARTS} parts`);
  if (x instanceof Dict) return unconvertDict(x, inside, left);
  if (x instanceof List || x instanceof Tuple) return x.a.map((e) => unconvert(e, inside, left));
  if (x instanceof Range) {
    if (x.length > MAX_RANGE) throw fault("range is too long to convert");
    return Array.from({ length: x.length }, (_, i) => x.at(i));
  }
  if (x instanceof StarlarkSet) return new Set(x.elements().map((e) => unconvert(e, inside, left)));
  if (x instanceof Struct) {
    const out: Record<string, unknown> = {};
    for (const [k, v] of x.fields) define(out, k, unconvert(v, inside, left));
    return out;
  }
  throw fault(`cannot convert ${typeOf(x)} to a host value`);
}

function unconvertDict(x: Dict, inside: Path, left: Allowance): unknown {
  const out: Record<string, unknown> = {};
  let allStrings = true;
  x.each((k, v) => {
    if (typeof k !== "string") allStrings = false;
    else if (allStrings) define(out, k, unconvert(v, inside, left));
  });
  if (allStrings) return out;
  return new Map(x.entries().map(([k, v]) => [unconvert(k, inside, left), unconvert(v, inside, left)]));
}

/** Elements of a range that are worth an array. */
const MAX_RANGE = 1_000_000;

/** Makes an own property, even of the one name that would set the prototype. */
function define(out: Record<string, unknown>, key: string, value: unknown): void {
  const name = decodeUtf8(key);
  if (name !== "__proto__") out[name] = value;
  else Object.defineProperty(out, name, { value, enumerable: true, writable: true, configurable: true });
}
