/** The values of string, bytes and number literals. Throws a plain message; the scanner adds the position. */
import { encodeRune, encodeUtf8 } from "../values/utf8.ts";

const simpleEscapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

/** A literal that cannot be read; the message is starlark-go's. */
export class LiteralError extends Error {}

/** Interprets the inside of a quoted literal (JS text) into a byte string. */
export function unquote(inner: string, kind: { raw: boolean; bytes: boolean }): string {
  if (kind.raw || !inner.includes("\\")) return encodeUtf8(inner);
  let out = "";
  let i = 0;
  for (;;) {
    const slash = inner.indexOf("\\", i);
    out += encodeUtf8(slash < 0 ? inner.slice(i) : inner.slice(i, slash));
    if (slash < 0) return out;
    const c = inner[slash + 1];
    if (c === undefined) throw new LiteralError("truncated escape sequence \\");
    i = slash + 2;
    const simple = Object.hasOwn(simpleEscapes, c) ? simpleEscapes[c] : undefined;
    if (simple !== undefined) out += simple;
    else if (c === "\n") continue;
    else if (c >= "0" && c <= "7") {
      const digits = /^[0-7]{1,3}/.exec(inner.slice(slash + 1, slash + 4))?.[0] ?? c;
      i = slash + 1 + digits.length;
      out += octalEscape(digits, kind.bytes);
    } else if (c === "x") {
      i = slash + 4;
      out += hexEscape(inner.slice(slash), kind.bytes);
    } else if (c === "u" || c === "U") {
      const size = c === "u" ? 6 : 10;
      i = slash + size;
      out += unicodeEscape(inner.slice(slash), size);
    } else throw new LiteralError(`invalid escape sequence \\${c}`);
  }
}

function octalEscape(digits: string, bytes: boolean): string {
  const n = Number.parseInt(digits, 8);
  if (!bytes && n > 127) throw new LiteralError(`non-ASCII octal escape \\${n.toString(8)} ${useUnicode(n)}`);
  if (n >= 256) throw new LiteralError(`invalid escape sequence \\${n.toString(8).padStart(3, "0")}`);
  return String.fromCharCode(n);
}

function hexEscape(rest: string, bytes: boolean): string {
  if (rest.length < 4) throw new LiteralError(`truncated escape sequence ${rest}`);
  const text = rest.slice(0, 4);
  if (!/^..[0-9a-fA-F]{2}$/.test(text)) throw new LiteralError(`invalid escape sequence ${text}`);
  const n = Number.parseInt(text.slice(2), 16);
  if (!bytes && n > 127) throw new LiteralError(`non-ASCII hex escape ${text} ${useUnicode(n)}`);
  return String.fromCharCode(n);
}

function unicodeEscape(rest: string, size: number): string {
  if (rest.length < size) throw new LiteralError(`truncated escape sequence ${rest}`);
  const text = rest.slice(0, size);
  if (!/^..[0-9a-fA-F]+$/.test(text)) throw new LiteralError(`invalid escape sequence ${text}`);
  const n = Number.parseInt(text.slice(2), 16);
  if (n > 0x10ffff) throw new LiteralError(`code point out of range: ${text} (max \\U0010ffff)`);
  if (n >= 0xd800 && n < 0xe000) throw new LiteralError(`invalid Unicode code point U+${hex4(n)}`);
  return encodeRune(n);
}

function useUnicode(n: number): string {
  return `(use \\u${hex4(n)} for the UTF-8 encoding of U+${hex4(n)})`;
}

function hex4(n: number): string {
  return n.toString(16).toUpperCase().padStart(4, "0");
}

/** A decimal, 0x, 0o or 0b literal as an int value: a number where it is exact, else a bigint. */
export function intLiteral(text: string): number | bigint {
  const n = Number(text);
  return Number.isSafeInteger(n) ? n : BigInt(text);
}
