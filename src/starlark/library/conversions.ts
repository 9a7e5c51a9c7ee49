/** Universal functions that make or measure one value: int, float, str, bytes, len and the like. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict } from "../values/dict.ts";
import { asInt32, isInt, numberToInt, subInt, toFloat } from "../values/integers.ts";
import { ELEMENT_BYTES, newSet } from "../values/operators.ts";
import { repr, str } from "../values/repr.ts";
import { elementsOf, lengthOf, truth } from "../values/truth.ts";
import { decodeRune, encodeRune, everyRune, runeCount, runeOf, sizeOf, validUtf8 } from "../values/utf8.ts";
import {
  Bytes,
  emptyTuple,
  Float,
  type Impl,
  List,
  Range,
  shrink,
  Tuple,
  typeOf,
  type Value,
} from "../values/values.ts";
import { named, naming, positional, wantInt, wantIterable } from "./arguments.ts";
import { updateDict } from "./dict-methods.ts";

/** `f` takes exactly one positional argument of any type; the wording of a wrong count is the function's own. */
function exactly(name: string, wording: string, f: (t: Thread, x: Value) => Value): Impl {
  return (t, _self, args, kwargs) => {
    if (kwargs.length > 0) throw fault(`${name} does not accept keyword arguments`);
    if (args.length !== 1) throw fault(`${name}: got ${args.length} arguments, want ${wording}1`);
    return f(t, args[0]!);
  };
}

const MAX_RUNE = 0x10ffff;

function chr(_t: Thread, x: Value): Value {
  const i = naming("chr", () => asInt32(x));
  if (i < 0) throw fault(`chr: Unicode code point ${i} out of range (<0)`);
  if (i > MAX_RUNE) throw fault(`chr: Unicode code point U+${i.toString(16).toUpperCase()} out of range (>0x10FFFF)`);
  return encodeRune(i);
}

function ord(_t: Thread, x: Value): Value {
  if (x instanceof Bytes) {
    if (x.s.length !== 1) throw fault(`ord: bytes has length ${x.s.length}, want 1`);
    return x.s.charCodeAt(0);
  }
  if (typeof x !== "string") throw fault(`ord: got ${typeOf(x)}, want string or bytes`);
  const d = x === "" ? 0 : decodeRune(x, 0);
  if (x === "" || sizeOf(d) !== x.length) {
    throw fault(`ord: string encodes ${runeCount(x)} Unicode code points, want 1`);
  }
  return runeOf(d);
}

const number = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const special: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  nan: Number.NaN,
};

function parseFloatText(s: string): number {
  if (s === "") throw fault("float: empty string");
  const word = s.replace(/^[+-]/, "").toLowerCase();
  const known = Object.hasOwn(special, word) ? special[word] : undefined;
  if (known !== undefined) return s.startsWith("-") ? -known : known;
  if (!number.test(s)) throw fault(`invalid float literal: ${s}`);
  const v = Number(s);
  if (!Number.isFinite(v)) throw fault("floating-point number too large");
  return v;
}

const float: Impl = (_t, _self, args, kwargs) => {
  if (kwargs.length > 0) throw fault("float does not accept keyword arguments");
  if (args.length === 0) return new Float(0);
  if (args.length !== 1) throw fault(`float got ${args.length} arguments, wants 1`);
  const x = args[0]!;
  if (typeof x === "boolean") return new Float(x ? 1 : 0);
  if (isInt(x)) return new Float(toFloat(x));
  if (x instanceof Float) return x;
  if (typeof x === "string") return new Float(parseFloatText(x));
  throw fault(`float got ${typeOf(x)}, want number or string`);
};

const prefixes: Readonly<Record<string, number>> = { "0x": 16, "0o": 8, "0b": 2 };

function parseIntText(t: Thread, text: string, base: number): Value {
  const negative = text.startsWith("-");
  let s = text.replace(/^[+-]/, "");
  let radix = base;
  const invalid = (): Error => fault(`int: invalid literal with base ${base}: ${text}`);
  const head = s.slice(0, 2).toLowerCase();
  const prefix = s.length > 2 && Object.hasOwn(prefixes, head) ? prefixes[head] : undefined;
  if (prefix !== undefined && (base === 0 || base === prefix)) {
    s = s.slice(2);
    radix = prefix;
  } else if (base === 0) {
    if (/^0+[^0]/.test(s)) throw invalid();
    radix = 10;
  } else if (prefix !== undefined && base <= 16 && !validDigits(s, base)) throw invalid();
  if (!validDigits(s, radix)) throw invalid();
  t.charge(s.length);
  t.alloc(s.length);
  const n = digitsToInt(t, s, radix);
  return negative ? subInt(t, 0, n) : n;
}

function validDigits(s: string, radix: number): boolean {
  if (s === "") return false;
  for (const c of s.toLowerCase()) {
    const code = c.charCodeAt(0);
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 122 ? code - 87 : 99;
    if (digit >= radix) return false;
  }
  return true;
}

function digitsToInt(t: Thread, s: string, radix: number): number | bigint {
  const small = Number.parseInt(s, radix);
  if (Number.isSafeInteger(small)) return small;
  if (radix === 10) return shrink(BigInt(s));
  const mark = Object.keys(prefixes).find((k) => prefixes[k] === radix);
  if (mark !== undefined) return shrink(BigInt(mark + s));
  t.charge(Math.floor((s.length * s.length) / 64));
  let n = 0n;
  for (const c of s) n = n * BigInt(radix) + BigInt(Number.parseInt(c, radix));
  return shrink(n);
}

const int: Impl = (t, _self, args, kwargs) => {
  const [x = 0, base] = named("int", args, kwargs, ["x", "base?"]);
  if (typeof x === "string") {
    let radix = 10;
    if (base !== undefined) {
      if (!isInt(base)) throw fault(`int: for base, got ${typeOf(base)}, want int`);
      radix = typeof base === "number" ? base : -1;
      if (radix !== 0 && (radix < 2 || radix > 36)) throw fault("int: base must be an integer >= 2 && <= 36");
    }
    return parseIntText(t, x, radix);
  }
  if (base !== undefined) throw fault("int: can't convert non-string with explicit base");
  if (typeof x === "boolean") return x ? 1 : 0;
  return naming("int", () => numberToInt(x));
};

function bytesFrom(t: Thread, x: Value): Value {
  if (x instanceof Bytes) return x;
  if (typeof x === "string") {
    t.alloc(x.length);
    return new Bytes(validUtf8(x));
  }
  const elements = elementsOf(t, x);
  if (elements === null) throw fault(`bytes: got ${typeOf(x)}, want string, bytes, or iterable of ints`);
  t.alloc(elements.length);
  t.charge(elements.length);
  const out = elements.map((e, i) => {
    if (!isInt(e)) throw fault(`bytes: at index ${i}, got ${typeOf(e)}, want int`);
    if (e < 0 || e > 255) throw fault(`bytes: at index ${i}, ${e} out of range (want value in unsigned 8-bit range)`);
    return String.fromCharCode(Number(e));
  });
  return new Bytes(out.join(""));
}

function hash(t: Thread, x: Value): Value {
  if (x instanceof Bytes) {
    t.charge(x.s.length >> 3);
    let h = 0x811c9dc5;
    for (let i = 0; i < x.s.length; i++) h = Math.imul(h ^ x.s.charCodeAt(i), 0x01000193);
    return h >>> 0;
  }
  if (typeof x !== "string") throw fault(`hash: got ${typeOf(x)}, want string or bytes`);
  t.charge(x.length >> 3);
  let h = 0;
  everyRune(x, (r) => {
    h = (Math.imul(h, 31) + r) | 0;
    return true;
  });
  return h;
}

/** A function of one optional iterable. */
function fromIterable(name: string, make: (t: Thread, elements: readonly Value[]) => Value): Impl {
  return (t, _self, args, kwargs) => {
    positional(name, args, kwargs, 0, 1);
    const elements = args.length === 0 ? [] : wantIterable(t, name, 1, args[0]);
    t.allocValue(ELEMENT_BYTES * elements.length);
    return make(t, elements);
  };
}

export function rangeOf(t: Thread, args: readonly Value[]): Range {
  const [a, b, c] = args;
  const start = wantInt("range", 1, a);
  const stop = b === undefined ? start : wantInt("range", 2, b);
  const step = c === undefined ? 1 : wantInt("range", 3, c);
  if (step === 0) throw fault("range: step argument must not be zero");
  t.alloc(64);
  return b === undefined ? new Range(0, start, 1) : new Range(start, stop, step);
}

export const conversions: Readonly<Record<string, Impl>> = {
  abs(t, _self, args, kwargs) {
    positional("abs", args, kwargs, 1, 1);
    const x = args[0]!;
    if (isInt(x)) return x < 0 ? subInt(t, 0, x) : x;
    if (x instanceof Float) return new Float(Math.abs(x.v));
    throw fault(`got ${typeOf(x)}, want int or float`);
  },
  bool(_t, _self, args, kwargs) {
    positional("bool", args, kwargs, 0, 1);
    return args[0] === undefined ? false : truth(args[0]);
  },
  bytes(t, _self, args, kwargs) {
    if (kwargs.length > 0) throw fault("bytes does not accept keyword arguments");
    if (args.length !== 1) throw fault(`bytes: got ${args.length} arguments, want exactly 1`);
    return bytesFrom(t, args[0]!);
  },
  chr: exactly("chr", "", chr),
  dict(t, _self, args, kwargs) {
    if (args.length > 1) throw fault(`dict: got ${args.length} arguments, want at most 1`);
    const dict = new Dict();
    naming("dict", () => updateDict(t, dict, args, kwargs));
    return dict;
  },
  float,
  hash(t, _self, args, kwargs) {
    positional("hash", args, kwargs, 1, 1);
    return hash(t, args[0]!);
  },
  int,
  len(_t, _self, args, kwargs) {
    positional("len", args, kwargs, 1, 1);
    const n = lengthOf(args[0]!);
    if (n < 0) throw fault(`len: value of type ${typeOf(args[0]!)} has no len`);
    return n;
  },
  list: fromIterable("list", (_t, elements) => new List([...elements])),
  ord: exactly("ord", "", ord),
  range(t, _self, args, kwargs) {
    positional("range", args, kwargs, 1, 3);
    return rangeOf(t, args);
  },
  repr(t, _self, args, kwargs) {
    positional("repr", args, kwargs, 1, 1);
    return repr(t, args[0]!);
  },
  set: fromIterable("set", (t, elements) => naming("set", () => newSet(t, elements))),
  str: exactly("str", "exactly ", str),
  tuple(t, _self, args, kwargs) {
    positional("tuple", args, kwargs, 0, 1);
    if (args[0] instanceof Tuple) return args[0];
    if (args.length === 0) return emptyTuple;
    const elements = wantIterable(t, "tuple", 1, args[0]);
    t.allocValue(ELEMENT_BYTES * elements.length);
    return new Tuple([...elements]);
  },
  type: exactly("type", "exactly ", (_t, x) => typeOf(x)),
};
