/**
 * Splits source text into tokens, with exact indentation. It reads by char code and reports errors by throwing ScanError; it
 * knows nothing of grammar.
 */

import { encodeUtf8 } from "../values/utf8.ts";
import { intLiteral, LiteralError, unquote } from "./literals.ts";
import { keywords, operators, type Token } from "./tokens.ts";

const NEWLINE = 10;
const SPACE = 32;
const TAB = 9;
const HASH = 35;
const TAB_STOP = 8;

/** A syntax error at an offset. */
export class ScanError extends Error {
  readonly offset: number;
  /** False when scanning cannot sensibly go on after it. */
  readonly recoverable: boolean;
  constructor(offset: number, message: string, recoverable = true) {
    super(message);
    this.offset = offset;
    this.recoverable = recoverable;
  }
}

const operatorsByFirst = new Map<number, readonly Token[]>();
for (const op of operators) {
  const first = op.charCodeAt(0);
  operatorsByFirst.set(first, [...(operatorsByFirst.get(first) ?? []), op]);
}

const letter = /^\p{L}$/u;

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57;
}

function isAsciiNameStart(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
}

/** One token at a time: after `next`, `token`, `start`, `pos` (its end) and `value` describe it. */
export class Scanner {
  readonly text: string;
  token: Token = "illegal token";
  /** Offset where the token begins. */
  start = 0;
  /** Offset just after the token: where errors about the look-ahead are reported. */
  pos = 0;
  /** The name, string, bytes or number the token denotes. */
  value: string | number | bigint = "";
  private depth = 0;
  private indents = [0];
  private dents = 0;
  private lineStart = true;

  constructor(text: string) {
    this.text = text;
  }

  /** Starts anew at the beginning of a top-level line. */
  resume(offset: number): void {
    this.pos = offset;
    this.depth = 0;
    this.indents = [0];
    this.dents = 0;
    this.lineStart = true;
  }

  next(): void {
    this.value = "";
    this.token = this.scan();
  }

  private scan(): Token {
    for (;;) {
      const wasLineStart = this.lineStart;
      const blank = wasLineStart && this.indentation();
      if (this.dents !== 0) {
        this.start = this.pos;
        if (this.dents < 0) {
          this.dents++;
          return "outdent";
        }
        this.dents--;
        return "indent";
      }
      const text = this.text;
      let c = text.charCodeAt(this.pos);
      while (c === SPACE || c === TAB) c = text.charCodeAt(++this.pos);
      if (c === HASH) {
        const end = text.indexOf("\n", this.pos);
        this.pos = end < 0 ? text.length : end;
        c = text.charCodeAt(this.pos);
      }
      if (c === NEWLINE) {
        this.lineStart = true;
        this.start = this.pos++;
        if (this.depth > 0 || blank) continue;
        return "newline";
      }
      if (Number.isNaN(c) || c === 0) {
        this.start = this.pos;
        if (this.indents.length === 1) return "end of file";
        if (!wasLineStart) {
          this.lineStart = true;
          return "newline";
        }
        this.dents = 1 - this.indents.length;
        this.indents.length = 1;
        continue;
      }
      if (c === 92) {
        if (text.charCodeAt(++this.pos) !== NEWLINE) throw new ScanError(this.pos, "stray backslash in program");
        this.pos++;
        continue;
      }
      return this.proper(c);
    }
  }

  /** Reads the blanks of a new line and updates the indentation stack; true for a line without content. */
  private indentation(): boolean {
    this.lineStart = false;
    const text = this.text;
    let column = 0;
    let c = text.charCodeAt(this.pos);
    for (; c === SPACE || c === TAB; c = text.charCodeAt(++this.pos)) {
      column += c === SPACE ? 1 : TAB_STOP - (column % TAB_STOP);
    }
    if (c === HASH || c === NEWLINE || c === 0 || Number.isNaN(c)) return true;
    if (this.depth > 0) return false;
    const indents = this.indents;
    const current = indents.at(-1) ?? 0;
    if (column > current) {
      this.dents++;
      indents.push(column);
    } else if (column < current) {
      while (column < (indents.at(-1) ?? 0)) {
        this.dents--;
        indents.pop();
      }
      if (column !== indents.at(-1)) {
        this.dents = 0;
        throw new ScanError(this.pos, "unindent does not match any outer indentation level");
      }
    }
    return false;
  }

  private proper(c: number): Token {
    this.start = this.pos;
    if (c === 34 || c === 39) return this.string(this.pos, false, false);
    if (isAsciiNameStart(c) || (c > 127 && this.isLetterAt(this.pos))) return this.name(c);
    if (c === 40 || c === 91 || c === 123) {
      this.depth++;
      this.pos++;
      return c === 40 ? "(" : c === 91 ? "[" : "{";
    }
    if (c === 41 || c === 93 || c === 125) {
      const token = c === 41 ? ")" : c === 93 ? "]" : "}";
      if (this.depth === 0) throw new ScanError(this.pos, `unexpected '${token}'`);
      this.depth--;
      this.pos++;
      return token;
    }
    if (isDigit(c)) return this.number();
    if (c === 46) {
      if (isDigit(this.text.charCodeAt(this.pos + 1))) return this.number();
      this.pos++;
      return ".";
    }
    for (const op of operatorsByFirst.get(c) ?? []) {
      if (op.length === 1 || this.text.startsWith(op, this.pos)) {
        this.pos += op.length;
        return op;
      }
    }
    const shown = String.fromCodePoint(this.text.codePointAt(this.pos) ?? 0xfffd);
    if (shown === "!") throw new ScanError(this.pos, "unexpected input character '!'");
    throw new ScanError(this.pos, `unexpected input character ${shown === "\x60" ? "'\x60'" : `\x60${shown}\x60`}`);
  }

  private isLetterAt(i: number): boolean {
    return letter.test(String.fromCodePoint(this.text.codePointAt(i) ?? 0));
  }

  private name(first: number): Token {
    const text = this.text;
    if (first === 114 || first === 98) {
      const second = text.charCodeAt(this.pos + 1);
      if (second === 34 || second === 39) return this.string(this.pos + 1, first === 114, first === 98);
      const third = text.charCodeAt(this.pos + 2);
      if (first === 114 && second === 98 && (third === 34 || third === 39))
        return this.string(this.pos + 2, true, true);
    }
    let i = this.pos;
    let ascii = true;
    for (;;) {
      const c = text.charCodeAt(i);
      if (isAsciiNameStart(c) || isDigit(c)) i++;
      else if (c > 127 && this.isLetterAt(i)) {
        ascii = false;
        i += (text.codePointAt(i) ?? 0) > 0xffff ? 2 : 1;
      } else break;
    }
    const name = text.slice(this.pos, i);
    this.pos = i;
    const keyword = keywords.get(name);
    if (keyword !== undefined) return keyword;
    this.value = ascii ? name : encodeUtf8(name);
    return "identifier";
  }

  private string(quoteAt: number, raw: boolean, bytes: boolean): Token {
    const text = this.text;
    const quote = text.charCodeAt(quoteAt);
    const triple = text.charCodeAt(quoteAt + 1) === quote && text.charCodeAt(quoteAt + 2) === quote;
    const begin = quoteAt + (triple ? 3 : 1);
    let i = begin;
    let run = 0;
    for (; ; i++) {
      const c = text.charCodeAt(i);
      if (Number.isNaN(c)) throw new ScanError(this.start, "unexpected EOF in string", false);
      if (c === quote) {
        if (!triple || ++run === 3) break;
        continue;
      }
      run = 0;
      if (c === NEWLINE && !triple) throw new ScanError(this.start, "unexpected newline in string");
      if (c === 92 && ++i >= text.length) throw new ScanError(this.start, "unexpected EOF in string", false);
    }
    this.pos = i + 1;
    try {
      this.value = unquote(text.slice(begin, triple ? i - 2 : i), { raw, bytes });
    } catch (e) {
      if (e instanceof LiteralError) throw new ScanError(quoteAt, e.message);
      throw e;
    }
    return bytes ? "bytes literal" : "string literal";
  }

  private number(): Token {
    const { pos } = this;
    const token = this.numeral();
    // Go's message for this is about the name that would begin here; people come from languages that allow it.
    separated.lastIndex = pos;
    const all = separated.exec(this.text)?.[0];
    if (all !== undefined && this.text[this.pos] === "_") {
      throw new ScanError(this.pos, `Starlark has no digit separators: write ${all.replaceAll("_", "")}`);
    }
    return token;
  }

  private numeral(): Token {
    const text = this.text;
    const prefix = text.slice(this.pos, this.pos + 2).toLowerCase();
    for (const [mark, digits, what] of radixes) {
      if (prefix !== mark) continue;
      digits.lastIndex = this.pos + 2;
      const body = digits.exec(text)?.[0] ?? "";
      if (body === "") {
        throw new ScanError(what === "hex" ? this.pos : this.pos + 2, `invalid ${what} literal`);
      }
      this.pos += 2 + body.length;
      this.value = intLiteral(prefix + body);
      return "int literal";
    }
    numeral.lastIndex = this.pos;
    const all = numeral.exec(text)?.[0] ?? "";
    const end = this.pos + all.length;
    if (/[eE][+-]?$/.test(all)) throw new ScanError(end, "invalid float literal");
    if (/^[0-9]+$/.test(all)) {
      if (all.length > 1 && all.startsWith("0") && /[1-9]/.test(all)) {
        if (/[89]/.test(all)) throw new ScanError(this.pos, "invalid int literal");
        throw new ScanError(end, `obsolete form of octal literal; use 0o${all.slice(1)}`);
      }
      this.pos = end;
      this.value = intLiteral(all);
      return "int literal";
    }
    this.pos = end;
    this.value = Number(all);
    if (!Number.isFinite(this.value)) throw new ScanError(end, "invalid float literal");
    return "float literal";
  }
}

const radixes: readonly (readonly [string, RegExp, string])[] = [
  ["0x", /[0-9a-fA-F]+/y, "hex"],
  ["0o", /[0-7]+/y, "octal"],
  ["0b", /[01]+/y, "binary"],
];
/** A number as other languages write it, with `_` between digits. */
const separated = /(?:0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)+|[0-9.]+(?:_[0-9]+)+)\b/y;
const numeral = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]*)?/y;
