/** Matchers for tokens that are known by their own form, and for values that are known by the vendor named before them. */
import { charSet, codeAt, DIGIT, has } from "./char-set.ts";
import { isPlaceholder, judgedPart, makeup } from "./checks.ts";
import { ARMED, createRunEnds, found, isInWord, type Matcher, NOTHING, PENDING, type Probe } from "./probe.ts";
import type { ContextRow, TokenRow } from "./rule.ts";
import { headsOf, matchShape, mayHoldSpace, NEEDS_MORE, NO_MATCH, parseShape, type Shape, shapeEnds } from "./shape.ts";

/** How far behind the name of a vendor its key may stand. */
export const CONTEXT_CHARS = 64;

const CREDENTIAL_WORD = /key|token|secret|pass|pwd|auth|cred|pat\b|licen[cs]e|\bdsn\b|apikey|api[_ -]?id|webhook/i;
/** Letters and digits are looked at by `isInWord`, which knows escapes. */
const NAME_PART = charSet("_-");
/** What may stand right in front of a value. */
const VALUE_OPENS = charSet("=:\"'`\\s>(,[|\\\\{&?/");

/** A matcher and the text where it is to be tried. */
export interface KeywordMatcher {
  readonly keywords: readonly string[];
  /** Not tried at a keyword that begins in the middle of a word. */
  readonly atWordStart?: boolean;
  readonly match: Matcher;
}

export function createTokenMatcher(row: TokenRow): KeywordMatcher {
  const keywords = row.keyword === undefined ? headsOf(row.pattern) : [row.keyword];
  if (keywords.some(({ length }) => length < 2))
    throw new Error("its pattern begins with no plain text, and it has no keyword");
  const { lead = 0, keeps = 0, entropy = 0, check } = row;
  let parsed: Shape | undefined;
  // A short beginning is part of many names.
  const before = keywords.some((keyword) => /^\w.{0,2}$/.test(keyword)) ? NAME_PART : undefined;
  return {
    keywords,
    atWordStart: lead === 0,
    match(probe, at, after) {
      const start = at - lead;
      const { text, end, final } = probe;
      if (lead > 0 && (start < 0 || isInWord(text, start))) return NOTHING;
      if (before !== undefined && has(before, codeAt(text, start - 1))) return NOTHING;
      if (check === "after-digit" && !has(DIGIT, codeAt(text, start - 1))) return NOTHING;
      probe.from = start;
      parsed ??= parseShape(row.pattern);
      const shape = parsed;
      const to = matchShape(shape, probe, start);
      if (to === NO_MATCH) return NOTHING;
      if (to === NEEDS_MORE || (to === end && !final)) return ARMED;
      if (!shapeEnds(shape, probe, to)) return NOTHING;
      const body = Math.min(lead > 0 ? start : Math.max(after, start + keeps), to);
      const made = makeup(text, body, to);
      if (made.entropy < entropy || isPlaceholder(judgedPart(text, body, to), made)) return NOTHING;
      if ((check === "digit" || check === "mixed") && made.digits === 0) return NOTHING;
      if (check === "mixed" && (made.lower === 0 || made.upper === 0)) return NOTHING;
      if (check === "basic-auth" && !isBasicAuth(text, body, to)) return NOTHING;
      return found(probe, start + keeps, to, row.goesOn === undefined ? shape.openEnd : charSet(row.goesOn));
    },
  };
}

/** No value of a vendor is shorter. */
const LEAST_VALUE_CHARS = 12;

/** What the rules of all vendors learn about a stretch of text, because many look through the same one. */
export interface Stretches {
  /**
   * The first place at or behind `from` where a value of `leastChars` may begin: behind what opens one, and with as many characters
   * without white space. `limit` or more when there is none before it.
   */
  nextValue(probe: Probe, from: number, limit: number, leastChars: number): number;
  /** Where the line ends, or the text before it up to a marker: what is behind one belongs to another name. */
  lineEnd(probe: Probe, from: number): number;
}

export function createStretches(): Stretches {
  let generation = -1;
  /** Those that were met so far, in order, and where each ends. */
  let values: number[] = [];
  let ends: number[] = [];
  /** Among them the one that was asked for last: the next question is about its neighbours. */
  let index = 0;
  let searched = 0;
  const solidEnd = createRunEnds(charSet("^\\s"));

  /** False when there is no other one. */
  function findNext(probe: Probe): boolean {
    const { text, end, final } = probe;
    for (let at = searched + 1; at < end; at++) {
      if (!has(VALUE_OPENS, text.charCodeAt(at - 1))) continue;
      const to = solidEnd(probe, at);
      // What the end of the text cuts off may still grow.
      const isCut = to === end && !final;
      if (to - at < LEAST_VALUE_CHARS && !isCut) continue;
      searched = at;
      values.push(at);
      ends.push(isCut ? UNKNOWN_END : to);
      return true;
    }
    searched = end;
    return false;
  }

  return {
    nextValue(probe, from, limit, leastChars) {
      if (generation !== probe.generation) {
        generation = probe.generation;
        values = [];
        ends = [];
        index = 0;
        // Names are met in order: nobody asks about what is before the first.
        searched = from - 1;
      }
      while (index > 0 && values[index - 1]! >= from) index -= 1;
      for (let at = index; ; at++) {
        if (at === values.length && (searched === probe.end || !findNext(probe))) return probe.end;
        const value = values[at]!;
        if (value < from) index = at + 1;
        else if (value >= limit || ends[at]! - value >= leastChars) return value;
      }
    },
    lineEnd: createRunEnds(charSet("^\\n")),
  };
}

/** Behind the end of any text. */
const UNKNOWN_END = 2 ** 30 - 1;

export function createContextMatcher(row: ContextRow, stretches: Stretches): KeywordMatcher {
  const { entropy = 0, plainly = false } = row;
  let parsed: Shape | undefined;
  /** Up to here the text of this generation holds no such value: names that stand close together need not look again. */
  let generation = -1;
  let without = 0;
  return {
    keywords: row.near,
    atWordStart: true,
    match(probe, at, after) {
      const { text, end, final } = probe;
      if (generation !== probe.generation) {
        generation = probe.generation;
        without = 0;
      }
      parsed ??= parseValue(row.pattern);
      const shape = parsed;
      const limit = Math.min(stretches.lineEnd(probe, after), after + CONTEXT_CHARS);
      let here = Math.max(after, without);
      let isWithout = true;
      for (;;) {
        here = stretches.nextValue(probe, here, limit, shape.minChars);
        if (isWithout) without = Math.min(here, limit);
        if (here >= limit) break;
        const to = matchShape(shape, probe, here);
        if (to === NEEDS_MORE || (to === end && !final)) return ARMED;
        if (to !== NO_MATCH && isValue(shape, probe, here, to)) {
          if (plainly || CREDENTIAL_WORD.test(text.slice(at, here))) return found(probe, here, to, shape.openEnd);
          // Another name may stand in front of the word that is missing here.
          isWithout = false;
        }
        here += 1;
      }
      return limit === end && !final ? PENDING : NOTHING;
    },
  };

  /** Whoever is named before it. */
  function isValue(shape: Shape, probe: Probe, from: number, to: number): boolean {
    const { text } = probe;
    if (!shapeEnds(shape, probe, to)) return false;
    if (row.check === "basic-auth" && !isBasicAuth(text, from, to)) return false;
    const made = makeup(text, from, to);
    return made.entropy >= entropy && !isPlaceholder(judgedPart(text, from, to), made);
  }
}

function parseValue(pattern: string): Shape {
  const shape = parseShape(pattern);
  if (shape.minChars < LEAST_VALUE_CHARS) throw new Error(`its value is shorter than ${LEAST_VALUE_CHARS} characters`);
  if (mayHoldSpace(shape)) throw new Error("its value may hold white space");
  return shape;
}

const BASE64_ORDER = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_VALUES = Int8Array.from({ length: 128 }, (_, code) => BASE64_ORDER.indexOf(String.fromCharCode(code)));
const DECODED_CHARS = 256;
const COLON = 58;

/**
 * Base64 of `user:password`. A value cut in its middle decodes as far as it goes. Most values are none by their first letter, and it
 * is asked about many.
 */
function isBasicAuth(text: string, from: number, to: number): boolean {
  const end = Math.min(to, from + DECODED_CHARS);
  let bits = 0;
  let width = 0;
  let decoded = 0;
  let hasColon = false;
  for (let at = from; at < end; at++) {
    const value = BASE64_VALUES[text.charCodeAt(at)] ?? -1;
    // Spaces in front of it.
    if (value < 0) continue;
    bits = ((bits << 6) | value) & 0xffff;
    width += 6;
    if (width < 8) continue;
    width -= 8;
    const code = (bits >> width) & 0xff;
    if (code < 0x20 || code > 0x7e) return false;
    if (code === COLON) hasColon = true;
    decoded += 1;
  }
  return decoded >= 3 && hasColon;
}
