/** `"..." % value`. */

import { fault } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict } from "../values/dict.ts";
import { type FloatVerb, formatFloat } from "../values/float-text.ts";
import { bigBytes, isInt, numberToInt, toFloat } from "../values/integers.ts";
import { intText, repr } from "../values/repr.ts";
import { decodeRune, encodeRune, sizeOf } from "../values/utf8.ts";
import { Float, Tuple, typeOf, type Value } from "../values/values.ts";

export function interpolate(t: Thread, format: string, x: Value): string {
  const args = x instanceof Tuple ? x.a : [x];
  let out = "";
  let next = 0;
  let i = 0;
  for (;;) {
    const percent = format.indexOf("%", i);
    const literal = percent < 0 ? format.slice(i) : format.slice(i, percent);
    t.alloc(literal.length);
    out += literal;
    if (percent < 0) break;
    if (--t.fuel < 0) t.refuel();
    i = percent + 1;
    if (format[i] === "%") {
      out += "%";
      i++;
      continue;
    }
    let arg: Value | undefined;
    if (format[i] === "(") {
      const close = format.indexOf(")", i);
      if (close < 0) throw fault("incomplete format key");
      const key = format.slice(i + 1, close);
      if (!(x instanceof Dict)) throw fault("format requires a mapping");
      arg = x.get(key, t);
      if (arg === undefined) throw fault(`key not found: ${key}`);
      i = close + 1;
    } else {
      arg = args[next];
      if (arg === undefined) throw fault("not enough arguments for format string");
    }
    const verb = format[i];
    if (verb === undefined) throw fault("incomplete format");
    const text = convert(t, verb, arg);
    if (out.length + text.length > t.maxValueBytes) t.allocValue(out.length + text.length);
    out += text;
    i++;
    next++;
  }
  // A mapping may hold more than the format uses.
  if (next < args.length && !(x instanceof Dict)) throw fault("too many arguments for format string");
  return out;
}

function convert(t: Thread, verb: string, arg: Value): string {
  switch (verb) {
    case "s":
      if (typeof arg === "string") {
        t.alloc(arg.length);
        return arg;
      }
      return repr(t, arg);
    case "r":
      return repr(t, arg);
    case "d":
    case "i":
    case "o":
    case "x":
    case "X":
      return integer(t, verb, arg);
    case "e":
    case "f":
    case "g":
    case "E":
    case "F":
    case "G":
      return float(t, verb, arg);
    case "c":
      return character(arg);
    case "%":
      return "%";
    default:
      throw fault(`unknown conversion %${verb}`);
  }
}

function integer(t: Thread, verb: string, arg: Value): string {
  if (!isInt(arg) && !(arg instanceof Float)) {
    throw fault(`%${verb} format requires integer: cannot convert ${typeOf(arg)} to int`);
  }
  let n: number | bigint;
  try {
    n = numberToInt(arg);
  } catch (e) {
    throw fault(`%${verb} format requires integer: ${e instanceof Error ? e.message : ""}`);
  }
  if (verb === "d" || verb === "i") return intText(t, n);
  t.alloc(3 * bigBytes(n));
  const text = n.toString(verb === "o" ? 8 : 16);
  return verb === "X" ? text.toUpperCase() : text;
}

function float(t: Thread, verb: FloatVerb, arg: Value): string {
  t.alloc(400);
  if (arg instanceof Float) return formatFloat(arg.v, verb);
  if (isInt(arg)) return formatFloat(toFloat(arg), verb);
  throw fault(`%${verb} format requires float, not ${typeOf(arg)}`);
}

function character(arg: Value): string {
  if (isInt(arg)) {
    if (arg < 0 || arg > 0x10ffff) throw fault(`%c format requires a valid Unicode code point, got ${arg}`);
    return encodeRune(Number(arg));
  }
  if (typeof arg !== "string") throw fault(`%c format requires int or single-character string, not ${typeOf(arg)}`);
  if (arg === "" || sizeOf(decodeRune(arg, 0)) !== arg.length) {
    throw fault("%c format requires a single-character string");
  }
  return arg;
}
