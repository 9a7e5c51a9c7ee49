/**
 * Starlark strings are JS strings whose code units are UTF-8 bytes, so that len, indexing, slicing and order are byte-exact and
 * native. This file is the border between them and ordinary JS text, plus rune decoding in Go's manner.
 */

/** The replacement character, which stands for each undecodable byte. */
export const RUNE_ERROR = 0xfffd;

/** Up to this length a loop is faster than asking the engine. */
const SHORT = 40;

/** JS text to a byte string. ASCII text is returned as it is. */
export function encodeUtf8(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** A byte string to JS text; undecodable bytes become U+FFFD. */
export function decodeUtf8(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}

/** True when no unit is above 0x7f. Only then is the length in UTF-8 the same. */
export function isAscii(s: string): boolean {
  if (s.length > SHORT) return Buffer.byteLength(s) === s.length;
  for (let i = 0; i < s.length; i++) if (s.charCodeAt(i) > 0x7f) return false;
  return true;
}

const RUNE_BITS = 21;
const RUNE_MASK = (1 << RUNE_BITS) - 1;
const INVALID = RUNE_ERROR | (1 << RUNE_BITS);

/** The code point of a `decodeRune` result. */
export function runeOf(decoded: number): number {
  return decoded & RUNE_MASK;
}

/** The size in bytes of a `decodeRune` result. */
export function sizeOf(decoded: number): number {
  return decoded >> RUNE_BITS;
}

/** Decodes the rune at byte index i, packed with its size. An invalid or truncated sequence gives RUNE_ERROR of size 1. */
export function decodeRune(s: string, i: number): number {
  const b0 = s.charCodeAt(i);
  if (b0 < 0x80) return b0 | (1 << RUNE_BITS);
  if (b0 < 0xc2 || b0 > 0xf4) return INVALID;
  const size = b0 < 0xe0 ? 2 : b0 < 0xf0 ? 3 : 4;
  if (i + size > s.length) return INVALID;
  let rune = b0 & (0xff >> (size + 1));
  for (let k = 1; k < size; k++) {
    const b = s.charCodeAt(i + k);
    if ((b & 0xc0) !== 0x80) return INVALID;
    rune = (rune << 6) | (b & 0x3f);
  }
  if ((size === 3 && rune < 0x800) || (size === 4 && (rune < 0x10000 || rune > 0x10ffff))) return INVALID;
  if (rune >= 0xd800 && rune <= 0xdfff) return INVALID;
  return rune | (size << RUNE_BITS);
}

/** The byte string of one code point; a surrogate or an out-of-range value becomes U+FFFD. */
export function encodeRune(rune: number): string {
  if (rune < 0x80) return String.fromCharCode(rune);
  if (rune < 0x800) return String.fromCharCode(0xc0 | (rune >> 6), 0x80 | (rune & 0x3f));
  if (rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff)) return "\xef\xbf\xbd";
  if (rune < 0x10000) {
    return String.fromCharCode(0xe0 | (rune >> 12), 0x80 | ((rune >> 6) & 0x3f), 0x80 | (rune & 0x3f));
  }
  return String.fromCharCode(
    0xf0 | (rune >> 18),
    0x80 | ((rune >> 12) & 0x3f),
    0x80 | ((rune >> 6) & 0x3f),
    0x80 | (rune & 0x3f),
  );
}

/** All runes of a byte string. */
export function runesOf(s: string): number[] {
  const runes: number[] = [];
  for (let i = 0; i < s.length; ) {
    const d = decodeRune(s, i);
    runes.push(runeOf(d));
    i += sizeOf(d);
  }
  return runes;
}

/** Are all runes so? Stops at the first that is not. */
export function everyRune(s: string, test: (rune: number) => boolean): boolean {
  for (let i = 0; i < s.length; ) {
    const d = decodeRune(s, i);
    if (!test(runeOf(d))) return false;
    i += sizeOf(d);
  }
  return true;
}

/** Number of runes. */
export function runeCount(s: string): number {
  if (isAscii(s)) return s.length;
  let n = 0;
  for (let i = 0; i < s.length; n++) i += sizeOf(decodeRune(s, i));
  return n;
}

/** Replaces every undecodable byte by U+FFFD. */
export function validUtf8(s: string): string {
  return isAscii(s) ? s : runesOf(s).map(encodeRune).join("");
}
