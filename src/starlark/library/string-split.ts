/** Cutting strings up: split, strip and partition. Plain functions on byte strings. */
import { isSpace } from "../values/letters.ts";
import { decodeRune, isAscii, runeOf, runesOf, sizeOf } from "../values/utf8.ts";

/** Fields between runs of white space. At most `max` cuts are made if max is not negative. */
export function splitSpace(s: string, max: number): string[] {
  const fields: string[] = [];
  let start = -1;
  for (let i = 0; i < s.length; ) {
    const d = decodeRune(s, i);
    if (isSpace(runeOf(d))) {
      if (start >= 0) {
        if (fields.length === max) break;
        fields.push(s.slice(start, i));
        start = -1;
      }
    } else if (start < 0) start = i;
    i += sizeOf(d);
  }
  if (start >= 0) fields.push(s.slice(start));
  return fields;
}

/** As splitSpace, cutting from the right. */
export function rsplitSpace(s: string, max: number): string[] {
  const fields: string[] = [];
  let end = -1;
  for (let i = s.length; i > 0; ) {
    const at = lastRuneStart(s, i);
    if (isSpace(runeOf(decodeRune(s, at)))) {
      if (end >= 0) {
        if (fields.length === max) break;
        fields.push(s.slice(i, end));
        end = -1;
      }
    } else if (end < 0) end = i;
    i = at;
  }
  if (end >= 0) fields.push(s.slice(0, end));
  return fields.reverse();
}

/** Where the rune that ends at `end` begins. */
function lastRuneStart(s: string, end: number): number {
  for (let at = end - 1; at >= Math.max(0, end - 4); at--) {
    if ((s.charCodeAt(at) & 0xc0) !== 0x80) return at + sizeOf(decodeRune(s, at)) === end ? at : end - 1;
  }
  return end - 1;
}

export function splitOn(s: string, separator: string, max: number, fromRight: boolean): string[] {
  const parts = s.split(separator);
  if (max < 0 || parts.length <= max + 1) return parts;
  if (!fromRight) return [...parts.slice(0, max), parts.slice(max).join(separator)];
  const excess = parts.length - max;
  return [parts.slice(0, excess).join(separator), ...parts.slice(excess)];
}

/** So few that looking through them is quicker than a set. */
const FEW_CHARS = 32;

/** Removes runes of the set (white space if empty) from the chosen ends. */
export function strip(s: string, chars: string, left: boolean, right: boolean): string {
  let start = 0;
  let end = s.length;
  if (chars !== "" && chars.length <= FEW_CHARS && isAscii(chars)) {
    // No byte of a longer rune is an ASCII one, so that bytes will do.
    while (left && start < end && chars.includes(s[start]!)) start++;
    while (right && end > start && chars.includes(s[end - 1]!)) end--;
    return s.slice(start, end);
  }
  const set = new Set(runesOf(chars));
  const drop = chars === "" ? isSpace : (rune: number) => set.has(rune);
  if (left) {
    while (start < end) {
      const d = decodeRune(s, start);
      if (!drop(runeOf(d))) break;
      start += sizeOf(d);
    }
  }
  if (right) {
    while (end > start) {
      const at = lastRuneStart(s, end);
      if (!drop(runeOf(decodeRune(s, at)))) break;
      end = at;
    }
  }
  return s.slice(start, end);
}

/** Occurrences without overlap; the empty string occurs around each rune. */
export function countOf(s: string, sub: string): number {
  if (sub === "") return (isAscii(s) ? s.length : runesOf(s).length) + 1;
  let n = 0;
  for (let i = s.indexOf(sub); i >= 0; i = s.indexOf(sub, i + sub.length)) n++;
  return n;
}

/** Replaces the first `max` occurrences, or all if max is negative. */
export function replace(s: string, old: string, by: string, max: number): string {
  if (max < 0 && old !== "") return s.split(old).join(by);
  let out = "";
  let from = 0;
  let left = max < 0 ? Number.POSITIVE_INFINITY : max;
  if (old === "") {
    for (; left > 0; left--) {
      out += by;
      if (from >= s.length) return out;
      const size = sizeOf(decodeRune(s, from));
      out += s.slice(from, from + size);
      from += size;
    }
    return out + s.slice(from);
  }
  for (let at = s.indexOf(old); at >= 0 && left > 0; at = s.indexOf(old, from), left--) {
    out += s.slice(from, at) + by;
    from = at + old.length;
  }
  return out + s.slice(from);
}
