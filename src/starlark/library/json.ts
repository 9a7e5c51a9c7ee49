/** The json module: encode, encode_indent, decode, indent. Decoding goes straight to values and keeps 1 and 1.0, big ints and key order. */

import { fault, overLimit, StarlarkError } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { attribute, attributeNames } from "../values/attributes.ts";
import { Dict } from "../values/dict.ts";
import { formatFloat } from "../values/float-text.ts";
import { intText, repr } from "../values/repr.ts";
import { elementsOf } from "../values/truth.ts";
import { decodeUtf8, encodeUtf8 } from "../values/utf8.ts";
import {
  Builtin,
  Bytes,
  Float,
  type Impl,
  type Keyword,
  Module,
  Opaque,
  Struct,
  typeOf,
  type Value,
} from "../values/values.ts";
import { named, naming, paramName, positional, wantString } from "./arguments.ts";
import { indentJson } from "./json-indent.ts";
import { JsonReader } from "./json-reader.ts";

const MAX_DEPTH = 200;

function encode(t: Thread, x: Value): string {
  const parts: string[] = [];
  let size = 0;
  const path: object[] = [];
  const write = (s: string): void => {
    t.alloc(s.length);
    size += s.length;
    if (size > t.maxValueBytes) t.allocValue(size);
    parts.push(s);
  };
  const inside = (where: () => string, y: Value): void => {
    try {
      emit(y);
    } catch (e) {
      if (e instanceof StarlarkError && e.kind === "runtime") throw fault(`${where()}: ${e.message}`);
      throw e;
    }
  };
  const emit = (y: Value): void => {
    if (--t.fuel < 0) t.refuel();
    if (y === null) {
      write("null");
      return;
    }
    if (typeof y === "boolean") {
      write(y ? "true" : "false");
      return;
    }
    if (typeof y === "number" || typeof y === "bigint") {
      write(intText(t, y));
      return;
    }
    if (typeof y === "string") {
      write(quoteJson(t, y));
      return;
    }
    if (y instanceof Float) {
      if (!Number.isFinite(y.v)) throw fault(`cannot encode non-finite float ${formatFloat(y.v, "g")}`);
      write(formatFloat(y.v, "g"));
      return;
    }
    if (y instanceof Opaque) {
      write(quoteJson(t, y.shown));
      return;
    }
    if (path.includes(y)) throw fault(`cycle in JSON structure`);
    if (path.length > MAX_DEPTH) throw overLimit("depth", "value is nested too deeply for JSON");
    path.push(y);
    if (y instanceof Dict) emitDict(y);
    else {
      const elements = elementsOf(t, y);
      if (elements !== null) emitList(y, elements);
      else if (hasFields(y)) emitFields(y);
      else throw fault(`cannot encode ${typeOf(y)} as JSON`);
    }
    path.pop();
  };
  const emitDict = (y: Dict): void => {
    const entries = y.entries();
    const bad = entries.find(([k]) => typeof k !== "string");
    if (bad !== undefined) throw fault(`dict has ${typeOf(bad[0])} key, want string`);
    entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    write("{");
    entries.forEach(([k, v], i) => {
      write(`${i > 0 ? "," : ""}${quoteJson(t, String(k))}:`);
      inside(() => `in dict key ${repr(t, k)}`, v);
    });
    write("}");
  };
  const emitList = (y: Value, elements: readonly Value[]): void => {
    write("[");
    elements.forEach((v, i) => {
      if (i > 0) write(",");
      inside(() => `at ${typeOf(y)} index ${i}`, v);
    });
    write("]");
  };
  const emitFields = (y: Value): void => {
    write("{");
    attributeNames(y).forEach((name, i) => {
      write(`${i > 0 ? "," : ""}${quoteJson(t, name)}:`);
      inside(() => `in field .${name}`, attribute(y, name) ?? null);
    });
    write("}");
  };
  emit(x);
  return parts.join("");
}

function hasFields(y: Value): boolean {
  return y instanceof Struct || y instanceof Module || y instanceof Bytes;
}

/** As Go writes JSON strings: HTML characters and line separators are escaped outside plain ASCII text. */
function quoteJson(t: Thread, s: string): string {
  t.charge(s.length >> 5);
  if (/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/.test(s)) return `"${s}"`;
  if (/^[\x20-\x7e]*$/.test(s)) return `"${s.replace(/["\\]/g, "\\$&")}"`;
  const text = JSON.stringify(decodeUtf8(s)).replace(/[<>&\u2028\u2029\u007f]/g, (c) =>
    c === "\u007f" ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return encodeUtf8(text);
}

function module(name: string, impl: Impl): [string, Value] {
  return [name, new Builtin({ name: `json.${name}`, impl })];
}

/** The keywords of the functions that write several lines. */
function layout(fn: string, kwargs: readonly Keyword[]): [prefix: string, indent: string] {
  const [prefix = "", indent = "\t"] = named(fn, [], kwargs, ["prefix?", "indent?"]);
  return [wantString(fn, '"prefix"', prefix), wantString(fn, '"indent"', indent)];
}

export const jsonModule: Module = new Module(
  "json",
  new Map<string, Value>([
    module("encode", (t, _self, args, kwargs) => {
      positional("json.encode", args, kwargs, 1, 1);
      return naming("json.encode", () => encode(t, args[0]!));
    }),
    module("encode_indent", (t, _self, args, kwargs) => {
      const [prefix, indent] = layout("json.encode_indent", kwargs);
      positional("json.encode_indent", args, [], 1, 1);
      const text = naming("json.encode_indent", () => encode(t, args[0]!));
      return indentJson(t, text, prefix, indent);
    }),
    module("decode", (t, _self, args, kwargs) => {
      const [x, fallback] = named("json.decode", args, kwargs, ["x", "default?"]);
      const text = wantString("json.decode", paramName("x", kwargs), x);
      if (args.length === 0) throw fault("json.decode: unexpected keyword argument x");
      try {
        return new JsonReader(t, text).read();
      } catch (e) {
        if (fallback !== undefined && e instanceof StarlarkError && e.kind === "runtime") return fallback;
        throw e;
      }
    }),
    module("indent", (t, _self, args, kwargs) => {
      const [prefix, indent] = layout("json.indent", kwargs);
      positional("json.indent", args, [], 1, 1);
      return indentJson(t, wantString("json.indent", 1, args[0]), prefix, indent);
    }),
  ]),
);
