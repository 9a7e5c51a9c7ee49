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

/**
 * The character at `at`, or one that is in no set where there is none. As fast as `charCodeAt` inside of a text; that one becomes several
 * times slower, for good, at any place in a program where it was once asked about what is outside.
 */
export function codeAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : MARKER_OPENS;
}

export function has(set: CharSet, code: number): boolean {
  if (code < ASCII) return set[code] === 1;
  return code !== MARKER_OPENS && set[ASCII] === 1;
}

/** Where the run of characters of `set` that begins at `from` ends, at most `limit`. */
export function runEnd(set: CharSet, text: string, from: number, limit: number): number {
  const others = set[ASCII] === 1;
  // Only to the end of the text: an expression knows no other limit, and would look behind one again and again.
  const isLong = limit === text.length && limit - from > SHORT_RUN;
  const near = isLong ? from + SHORT_RUN : limit;
  let at = from;
  while (at < near) {
    const code = text.charCodeAt(at);
    if (code < ASCII ? set[code] === 0 : !others || code === MARKER_OPENS) return at;
    at += 1;
  }
  return isLong ? longRunEnd(set, text, at) : at;
}

/** Most runs are shorter. For longer ones an expression is several times as fast as a look at each character. */
const SHORT_RUN = 64;

function longRunEnd(set: CharSet, text: string, from: number): number {
  const outside = outsideOf(set);
  outside.lastIndex = from;
  return outside.test(text) ? outside.lastIndex - 1 : text.length;
}

function outsideOf(set: CharSet): RegExp {
  let outside = expressions.get(set);
  if (outside === undefined) {
    outside = new RegExp(`[^${classOf(set)}]`, "g");
    expressions.set(set, outside);
  }
  return outside;
}

/** As many as there are sets; each finds the next character that is not in its set. */
const expressions = new WeakMap<CharSet, RegExp>();

/** What stands in the brackets of a regular expression for a set. */
function classOf(set: CharSet): string {
  const ascii = [...set.subarray(0, ASCII).entries()].flatMap(([code, isIn]) => (isIn === 1 ? [escapeOf(code)] : []));
  const others = [ASCII, MARKER_OPENS - 1, MARKER_OPENS + 1, MAX_CODE].map(escapeOf);
  return ascii.join("") + (set[ASCII] === 1 ? `${others[0]}-${others[1]}${others[2]}-${others[3]}` : "");
}

const MAX_CODE = 0xffff;

function escapeOf(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

export const DIGIT = charSet("0-9");
export const ALNUM = charSet("A-Za-z0-9");
export const BASE64 = charSet("A-Za-z0-9+/=");
/** What names in code, keys and headers are made of. */
export const NAME = charSet("A-Za-z0-9_.-");
