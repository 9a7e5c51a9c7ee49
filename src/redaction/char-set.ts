/** Sets of characters as tables, and how far a run of them goes. All scanning of the redactor is made of these two. */

/** 129 entries: one for each ASCII character, the last for all others. The quotes of a marker are in no set. */
export type CharSet = Uint8Array;

const ASCII = 128;
/** `«` opens a marker: nothing that is matched may reach into one. */
const MARKER_OPENS = 0xab;

/** From a regular expression's class without its brackets: `A-Za-z0-9_-`. `\s` is white space, `^` in front inverts. */
export function charSet(spec: string): CharSet {
  let set = known.get(spec);
  if (set === undefined) {
    set = parseSet(spec);
    known.set(spec, set);
  }
  return set;
}

/** As many as the rule table has; nobody changes a set. */
const known = new Map<string, CharSet>();

function parseSet(spec: string): CharSet {
  const set = new Uint8Array(ASCII + 1);
  const inverted = spec.startsWith("^");
  const chars = [...(inverted ? spec.slice(1) : spec)];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === "\\") {
      i += 1;
      for (const code of escaped(chars[i] ?? "\\")) set[code] = 1;
      continue;
    }
    const from = char.charCodeAt(0);
    const isRange = chars[i + 1] === "-" && i + 2 < chars.length;
    const to = isRange ? chars[i + 2]!.charCodeAt(0) : from;
    for (let code = from; code <= to; code++) set[code] = 1;
    if (isRange) i += 2;
  }
  if (inverted) for (let code = 0; code <= ASCII; code++) set[code] = 1 - set[code]!;
  return set;
}

function escaped(char: string): number[] {
  if (char === "s") return [9, 10, 11, 12, 13, 32];
  if (char === "n") return [10];
  if (char === "r") return [13];
  if (char === "t") return [9];
  if (char === "d") return [48, 49, 50, 51, 52, 53, 54, 55, 56, 57];
  return [char.charCodeAt(0)];
}

export function union(...sets: readonly CharSet[]): CharSet {
  const result = new Uint8Array(ASCII + 1);
  for (const set of sets) for (let code = 0; code <= ASCII; code++) result[code]! |= set[code]!;
  return result;
}

/** `code` may be NaN, as `charCodeAt` gives behind the end: in no set. */
export function has(set: CharSet, code: number): boolean {
  if (code < ASCII) return set[code] === 1;
  return code >= ASCII && code !== MARKER_OPENS && set[ASCII] === 1;
}

/** Where the run of characters of `set` that begins at `from` ends, at most `limit`. */
export function runEnd(set: CharSet, text: string, from: number, limit: number): number {
  const others = set[ASCII] === 1;
  let at = from;
  while (at < limit) {
    const code = text.charCodeAt(at);
    if (code < ASCII ? set[code] === 0 : !others || code === MARKER_OPENS) break;
    at += 1;
  }
  return at;
}

export const DIGIT = charSet("0-9");
export const ALNUM = charSet("A-Za-z0-9");
export const BASE64 = charSet("A-Za-z0-9+/=");
/** What names in code, keys and headers are made of. */
export const NAME = charSet("A-Za-z0-9_.-");
