/** Reads JSON text into values. */

import { fault, overLimit, type StarlarkError } from "../errors.ts";
import type { Thread } from "../thread.ts";
import { Dict } from "../values/dict.ts";
import { ELEMENT_BYTES } from "../values/operators.ts";
import { quote } from "../values/quote.ts";
import { decodeUtf8, encodeUtf8 } from "../values/utf8.ts";
import { Float, List, shrink, typeOf, type Value } from "../values/values.ts";

const MAX_DEPTH = 500;

export class JsonReader {
  private readonly t: Thread;
  private readonly s: string;
  private i = 0;

  constructor(t: Thread, s: string) {
    this.t = t;
    this.s = s;
  }

  read(): Value {
    const x = this.value(0);
    if (this.skipSpace()) throw this.fail(`unexpected character ${this.shown()} after value`);
    return x;
  }

  private fail(message: string): StarlarkError {
    return fault(`json.decode: at offset ${this.i}, ${message}`);
  }

  private shown(): string {
    const c = this.s[this.i] ?? "";
    return c === "'" ? `'\\''` : `'${quote(c).slice(1, -1).replace('\\"', '"')}'`;
  }

  private skipSpace(): boolean {
    while (this.i < this.s.length && /[ \t\n\r]/.test(this.s[this.i] ?? "")) this.i++;
    return this.i < this.s.length;
  }

  private next(): string {
    if (!this.skipSpace()) throw this.fail("unexpected end of file");
    return this.s[this.i] ?? "";
  }

  private value(depth: number): Value {
    const { t } = this;
    if (--t.fuel < 0) t.refuel();
    if (depth > MAX_DEPTH) throw overLimit("depth", "json.decode: nesting depth limit exceeded");
    const c = this.next();
    switch (c) {
      case '"':
        return this.string();
      case "[":
        return this.array(depth);
      case "{":
        return this.object(depth);
      default:
        if (c === "-" || (c >= "0" && c <= "9")) return this.number();
        if (this.word("null")) return null;
        if (this.word("true")) return true;
        if (this.word("false")) return false;
        throw this.fail(`unexpected character ${this.shown()}`);
    }
  }

  private word(text: string): boolean {
    if (!this.s.startsWith(text, this.i)) return false;
    this.i += text.length;
    return true;
  }

  private string(): string {
    const { s, t } = this;
    let j = this.i + 1;
    for (; j < s.length && s[j] !== '"'; j++) if (s[j] === "\\") j++;
    if (j >= s.length) throw this.fail("unclosed string literal");
    const inner = s.slice(this.i + 1, j);
    t.alloc(inner.length);
    t.charge(inner.length >> 4);
    this.i = j + 1;
    // As in starlark-go, control characters pass where nothing has to be unescaped.
    if (/^[^\\\x80-\xff]*$/.test(inner)) return inner;
    try {
      // The inside of a JSON string is valid text or JSON.parse refuses it.
      return encodeUtf8(JSON.parse(`"${decodeUtf8(inner)}"`) as string);
    } catch {
      throw this.fail(badString(inner));
    }
  }

  private array(depth: number): Value {
    const out: Value[] = [];
    this.i++;
    if (this.next() !== "]") {
      for (;;) {
        this.t.alloc(ELEMENT_BYTES);
        out.push(this.value(depth + 1));
        const c = this.next();
        if (c === "]") break;
        if (c !== ",") throw this.fail(`got ${this.shown()}, want ',' or ']'`);
        this.i++;
      }
    }
    this.i++;
    return new List(out);
  }

  private object(depth: number): Value {
    const out = new Dict();
    this.i++;
    if (this.next() !== "}") {
      for (;;) {
        const key = this.value(depth + 1);
        if (typeof key !== "string") throw this.fail(`got ${typeOf(key)} for object key, want string`);
        if (this.next() !== ":") throw this.fail(`after object key, got ${this.shown()}, want ':' `);
        this.i++;
        this.t.alloc(out.set(key, this.value(depth + 1), this.t));
        const c = this.next();
        if (c === "}") break;
        if (c !== ",") throw this.fail(`in object, got ${this.shown()}, want ',' or '}'`);
        this.i++;
      }
    }
    this.i++;
    return out;
  }

  private number(): Value {
    const text = /^-?[0-9]*[0-9.eE+-]*/.exec(this.s.slice(this.i, this.i + MAX_DIGITS))?.[0] ?? "";
    if (text.length >= MAX_DIGITS) throw overLimit("size", "json.decode: number too long");
    this.i += text.length;
    const digits = text.replace(/^-/, "");
    const float = /[.eE+-]/.test(digits);
    if (digits === "" || /^0[0-9]/.test(digits)) throw this.fail(`invalid number: ${text}`);
    if (!float) {
      const n = Number(text);
      return Number.isSafeInteger(n) ? n + 0 : shrink(BigInt(text));
    }
    const v = Number(text);
    if (!/^[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?$/.test(digits) || !Number.isFinite(v)) {
      throw this.fail(`invalid number: ${text}`);
    }
    return new Float(v);
  }
}

/** Go's words for what is wrong inside a JSON string. */
function badString(inner: string): string {
  const show = (c: string | undefined): string => `'${quote(c ?? "").slice(1, -1)}'`;
  const escaped = /^(?:[^\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*\\(u[0-9a-fA-F]{0,3})?(.)/s.exec(inner);
  if (escaped?.[1] !== undefined) return `invalid character ${show(escaped[2])} in \\u hexadecimal character escape`;
  if (escaped !== null) return `invalid character ${show(escaped[2])} in string escape code`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these.
  const control = /[\x00-\x1f]/.exec(inner)?.[0];
  return `invalid character ${show(control)} in string literal`;
}

/** Digits of one number. */
const MAX_DIGITS = 100_000;
