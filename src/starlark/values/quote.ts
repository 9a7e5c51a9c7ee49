/** The quoted form of a byte string, as Go's strconv.Quote would print it. */
import { decodeRune, RUNE_ERROR, runeOf, sizeOf } from "./utf8.ts";

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** Letters, marks, numbers, punctuation and symbols; of the spaces only U+0020. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

const escapes: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

export function quote(s: string): string {
  if (plain.test(s)) return `"${s}"`;
  let out = '"';
  for (let i = 0; i < s.length; ) {
    const d = decodeRune(s, i);
    const size = sizeOf(d);
    const rune = runeOf(d);
    const bytes = s.slice(i, i + size);
    i += size;
    const escaped = escapes[rune];
    if (rune === RUNE_ERROR && size === 1) out += `\\x${hex(bytes.charCodeAt(0), 2)}`;
    else if (escaped !== undefined) out += escaped;
    else if (rune < 0x80 ? rune >= 0x20 && rune < 0x7f : printable.test(String.fromCodePoint(rune))) out += bytes;
    else if (rune < 0x80) out += `\\x${hex(rune, 2)}`;
    else out += rune < 0x10000 ? `\\u${hex(rune, 4)}` : `\\U${hex(rune, 8)}`;
  }
  return `${out}"`;
}

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, "0");
}
