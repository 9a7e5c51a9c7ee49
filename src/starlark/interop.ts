/**
 * The border to the host: JS data to Starlark values and back, exactly. Ints keep their value at any size, text is transcoded,
 * cyclic and foreign objects are refused. No host object ever becomes a Value.
 */
import { Dict, type LazyEntries, StarlarkSet } from "./dict.ts";
import { fault } from "./errors.ts";
import { decodeUtf8, encodeUtf8 } from "./utf8.ts";
import { Bytes, Float, List, Range, StarlarkObject, Struct, shrink, Tuple, typeOf, type Value } from "./values.ts";

/** Nesting of data that crosses the border. */
const MAX_DEPTH = 200;

/**
 * Converts host data: null and undefined to None, integral numbers and bigints to int, other numbers to float, text to string,
 * Uint8Array to bytes, arrays to list, Set to set, Map and plain objects to dict. Values of the language pass unchanged.
 */
export function toStarlark(x: unknown): Value {
  return convert(x, [], false);
}

/** As toStarlark, but the entries of plain objects are converted when they are touched. The host must not change them meanwhile. */
export function toStarlarkLazily(x: unknown): Value {
  return convert(x, [], true);
}

function convert(x: unknown, path: readonly object[], lazy: boolean): Value {
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

function convertObject(x: object, path: readonly object[], lazy: boolean): Value {
  if (path.includes(x)) throw fault("cannot convert a cyclic host value");
  if (path.length >= MAX_DEPTH) throw fault("host value is nested too deeply");
  const inside = [...path, x];
  if (Array.isArray(x)) return new List(x.map((e) => convert(e, inside, lazy)));
  if (x instanceof Uint8Array) return new Bytes(Buffer.from(x).toString("latin1"));
  if (x instanceof Set) return StarlarkSet.of([...x].map((e) => convert(e, inside, lazy)));
  const d = new Dict();
  if (x instanceof Map) {
    for (const [k, v] of x) d.set(convert(k, inside, lazy), convert(v, inside, lazy));
    return d;
  }
  const proto: unknown = Object.getPrototypeOf(x);
  if (proto !== Object.prototype && proto !== null) throw fault("cannot convert a host object of a class");
  if (lazy) return new Dict(lazyEntries(x, inside));
  for (const [k, v] of Object.entries(x)) d.set(encodeUtf8(k), convert(v, inside, lazy));
  return d;
}

function lazyEntries(x: object, path: readonly object[]): LazyEntries {
  const read = (k: string): unknown => Reflect.get(x, k);
  return {
    get(key) {
      const name = decodeUtf8(key);
      return Object.prototype.propertyIsEnumerable.call(x, name) ? convert(read(name), path, true) : undefined;
    },
    entries(known) {
      return Object.keys(x).map((name): [string, Value] => {
        const key = encodeUtf8(name);
        const v = known.get(key);
        return [key, v === undefined ? convert(read(name), path, true) : v];
      });
    },
  };
}

/**
 * Converts a value for the host: ints to number or, beyond 2^53-1, to bigint; floats to number; bytes to Uint8Array; list, tuple
 * and range to array; set to Set; struct and dict to an object, or to a Map if a key is not a string. Functions are refused.
 */
export function toHost(x: Value): unknown {
  return unconvert(x, []);
}

function unconvert(x: Value, path: readonly object[]): unknown {
  if (typeof x === "string") return decodeUtf8(x);
  if (typeof x !== "object" || x === null) return x;
  if (x instanceof Float) return x.v;
  if (x instanceof Bytes) return new Uint8Array(Buffer.from(x.s, "latin1"));
  if (path.includes(x)) throw fault(`cannot convert a cyclic ${typeOf(x)} to a host value`);
  if (path.length >= MAX_DEPTH) throw fault("value is nested too deeply for the host");
  const inside = [...path, x];
  if (x instanceof List || x instanceof Tuple) return x.a.map((e) => unconvert(e, inside));
  if (x instanceof Range) return Array.from({ length: Math.min(x.length, MAX_RANGE) }, (_, i) => x.at(i));
  if (x instanceof StarlarkSet) return new Set(x.elements().map((e) => unconvert(e, inside)));
  if (x instanceof Struct) return record([...x.fields].map(([k, v]) => [k, unconvert(v, inside)]));
  if (x instanceof Dict) {
    const entries = x.entries().map(([k, v]) => [k, unconvert(v, inside)] as const);
    if (entries.every((e): e is [string, unknown] => typeof e[0] === "string")) return record(entries);
    return new Map(entries.map(([k, v]) => [unconvert(k, inside), v]));
  }
  throw fault(`cannot convert ${typeOf(x)} to a host value`);
}
/** Elements of a range that are worth an array. */
const MAX_RANGE = 1_000_000;

/** Own properties only, whatever the keys are called. */
function record(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [k, value] of entries) {
    Object.defineProperty(out, decodeUtf8(k), { value, enumerable: true, writable: true, configurable: true });
  }
  return out;
}
