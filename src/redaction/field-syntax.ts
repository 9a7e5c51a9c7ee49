/**
 * Where the value of a named field is, in any notation that assigns one: JSON (also escaped inside a string), YAML, environment
 * files, INI, code, XML, command-line flags, netrc, headers, query strings, and "the password is …".
 */
import { charSet, codeAt, has, runEnd } from "./char-set.ts";
import { isEnvironment, isFlag, isNetrc, nameStart } from "./field-before.ts";
import { createSuffixEnd, skipNumber } from "./field-name.ts";
import {
  behindCdata,
  behindTag,
  behindYaml,
  CUT_SEPARATOR,
  ESCAPE,
  LISTED,
  MAX_SPACE,
  NO_SEPARATOR,
  RETURN_SIGN,
  skipSpace,
} from "./field-opening.ts";
import {
  behindBracket,
  behindEncoded,
  behindFormPart,
  behindSpacing,
  isNameAttribute,
  skipEmphasis,
} from "./field-spacing.ts";
import { createRunEnds, type Probe } from "./probe.ts";

/**
 * `environment`: an upper case name at the start of a line, whose value goes to the next white space. `listed`: in quotes behind a
 * name in quotes or in brackets, where other names stand as well. `block`: alone on the line below the name.
 */
export type FieldStyle = "quoted" | "environment" | "unquoted" | "prose" | "listed" | "block";

export interface FieldSyntax {
  /**
   * `value`: from, to and style say where it is. `unfinished`: the text ends before the value begins. `growing`: the text ends
   * in the value.
   */
  state: "value" | "unfinished" | "growing" | "none";
  from: number;
  to: number;
  style: FieldStyle;
  /** The value is a call or an index, as in `password = read(…)`. */
  isCode: boolean;
  /** The name goes on behind what says that it is secret, as in `PASSWORD_PROD`. */
  isSuffixed: boolean;
}

const SPACE = charSet(" \\t");
const BLANK = charSet("\\s");
const WORD = charSet("A-Za-z0-9_");
const TYPE_NAME = charSet("A-Za-z&<>\\[\\].*?");
const MAX_TYPE_CHARS = 24;
const MAX_BLANK = 48;

const quotedSets: Readonly<Record<string, Uint8Array>> = {
  '"': charSet('^"\\n\\r'),
  "'": charSet("^'\\n\\r"),
  "`": charSet("^`\\n\\r"),
};
export const UNQUOTED = charSet("^\\s\"'`,;<>(){}\\[\\]|&\\\\\x1b");
export const TO_BLANK = charSet("^\\s\"'`\\\\\x1b");

export function quotedSet(quote: string): Uint8Array {
  return quotedSets[quote]!;
}

/** Reads the field whose name is `at` to `after` into `result`. */
export function createFieldSyntax(): (probe: Probe, at: number, after: number, result: FieldSyntax) => void {
  const unquotedEnd = createRunEnds(UNQUOTED);
  const toBlankEnd = createRunEnds(TO_BLANK);
  const suffixEnd = createSuffixEnd();

  return (probe, at, after, result) => {
    const { text, end, final } = probe;
    result.state = "none";
    // Of the field before: one whose value has not come yet is no code.
    result.isCode = false;
    const plainEnd = skipNumber(text, after, end);
    const nameEnd = has(WORD, codeAt(text, plainEnd)) ? suffixEnd(probe, at, after) : plainEnd;
    result.isSuffixed = nameEnd !== plainEnd;
    if (has(WORD, codeAt(text, nameEnd))) return;
    const separator = nameEnd === end ? CUT_SEPARATOR : findSeparator(probe, at, after, nameEnd);
    if (separator === NO_SEPARATOR) return;
    result.state = final ? "none" : "unfinished";
    if (separator === CUT_SEPARATOR) return;
    const isProse = separator < 0;
    const isBeside = separator >= LISTED;
    const assigned = isProse ? -separator : isBeside ? separator - LISTED : separator;
    const sameLine = skipSpace(text, assigned, end);
    if (sameLine === end) return;
    const first = codeAt(text, assigned - 1) === COLON ? behindYaml(probe, sameLine) : sameLine;
    const here = first < end && has(BRACKET, codeAt(text, first)) ? behindBracket(probe, first) : first;
    if (here === end) return;
    const isBlock = isBeside || (here > sameLine && hasBreak(text, sameLine, here));

    const opens = quoteAt(text, here);
    if (opens === end) return;
    const isAmongOthers = isBeside || here > first || isListed(text, assigned);
    if (opens >= 0) return readQuoted(probe, here, opens, isAmongOthers ? "listed" : "quoted", result);
    result.style = isProse
      ? "prose"
      : isBlock
        ? "block"
        : isEnvironment(text, at, nameEnd, here)
          ? "environment"
          : "unquoted";
    const to = result.style === "environment" ? toBlankEnd(probe, here) : unquotedEnd(probe, here);
    const next = codeAt(text, to);
    result.from = here;
    result.to = isProse ? trimSentence(text, here, to) : to;
    result.isCode = result.style !== "environment" && (next === 40 || next === 91);
    const isOpen = !final && (to === end || (result.style === "unquoted" && mayBeType(text, here, to, end)));
    result.state = isOpen ? "growing" : to === here ? "none" : "value";
  };
}

/** Reads up to the same quote, to the end of the line, or to the end of the text. */
function readQuoted(
  { text, end, final }: Probe,
  at: number,
  opens: number,
  style: "quoted" | "listed",
  result: FieldSyntax,
): void {
  const quote = text.charAt(opens);
  const set = quotedSet(quote);
  const isEscaped = opens > at && codeAt(text, opens - 1) === BACKSLASH;
  // Three quotes open a string of several lines; two are an empty one, unless the third has not come yet.
  const quotes = text.charAt(opens + 1) === quote && text.charAt(opens + 2) === quote ? 3 : 1;
  if (!final && opens + 2 >= end && text.charAt(opens + 1) === quote) {
    result.state = "unfinished";
    return;
  }
  const from = opens + quotes;
  let to = runEnd(set, text, from, end);
  // Inside a plain string, `\"` is part of the value.
  while (!isEscaped && to < end && to > from && text.charAt(to) === quote && codeAt(text, to - 1) === BACKSLASH) {
    to = runEnd(set, text, to + 1, end);
  }
  result.from = from;
  result.to = isEscaped && text.charAt(to) === quote ? skipBack(text, from, to) : to;
  result.style = style;
  result.isCode = false;
  result.state = to === end && !final ? "growing" : result.to === from ? "none" : "value";
}

const BACKSLASH = 92;
/** In front of a quote in JSON that is a string of JSON that is a string of JSON. */
const MAX_ESCAPES = 7;
const EQUALS = 61;
const COLON = 58;
const GREATER = 62;

/** The quote, escaped or not, and the bracket that end a name. */
function skipClosing(text: string, at: number): number {
  let here = at;
  while (here < at + MAX_ESCAPES && codeAt(text, here) === BACKSLASH) here += 1;
  if (here === text.length) return here;
  if (isQuote(codeAt(text, here))) here += 1;
  else if (here > at) return at;
  return codeAt(text, here) === 93 ? here + 1 : here;
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96;
}

/**
 * The position behind what assigns, negative for prose, NO_SEPARATOR, or CUT_SEPARATOR when the text ends too early to say.
 */
function findSeparator(probe: Probe, at: number, after: number, nameEnd: number): number {
  const { text, end, final } = probe;
  const cut = (place: number): boolean => place >= end && !final;
  const plainEnd = skipEmphasis(text, skipColours(text, nameEnd, end));
  const from = skipClosing(text, plainEnd);
  let here = skipSpace(text, from, end);
  if (cut(here)) return CUT_SEPARATOR;
  const spaced = here > from;
  if (codeAt(text, here) === 63 && codeAt(text, here + 1) !== 63) here += 1;
  const code = codeAt(text, here);
  if (code === WIDE_EQUALS || code === WIDE_COLON) return here + 1;
  if (code === EQUALS || code === COLON) {
    here += 1;
    if (cut(here)) return CUT_SEPARATOR;
    while (here < end && (text.charCodeAt(here) === EQUALS || text.charCodeAt(here) === GREATER)) here += 1;
    here = skipEmphasis(text, here);
    if (cut(here)) return CUT_SEPARATOR;
    return code === COLON ? behindType(probe, here) : here;
  }
  if (code === PERCENT && here === from) return behindEncoded(probe, here);
  if (code === GREATER) {
    const start = nameStart(text, at);
    if (codeAt(text, start - 1) === LESS) return behindCdata(probe, here + 1);
    return from > plainEnd && isNameAttribute(text, start) ? LISTED + here + 1 : NO_SEPARATOR;
  }
  if (code === LESS) return behindTag(probe, here);
  if ((code === COMMA && from > plainEnd) || (code === OPENS_CALL && here === nameEnd))
    return behindOpening(probe, here + 1);
  const isQuoted = from > plainEnd;
  if (!spaced && !isQuoted && !has(BESIDE, code)) return behindValueName(probe, after, here);
  const start = nameStart(text, at);
  if (spaced && (isFlag(text, at, start) || isNetrc(text, at))) return here;
  if (spaced && (code === 105 || code === 119 || code === 102)) {
    const told = text.slice(here, Math.min(end, here + MAX_VERB_CHARS));
    if (!final && end - here < MAX_VERB_CHARS && CUT_VERB.test(told)) return CUT_SEPARATOR;
    const verb = VERB.exec(told);
    if (verb !== null) return -(here + verb[0].length);
  }
  const inForm = isQuoted ? behindFormPart(probe, start, from, here) : NO_SEPARATOR;
  if (inForm !== NO_SEPARATOR) return inForm;
  const named = behindValueName(probe, after, here);
  if (named !== NO_SEPARATOR || !(spaced || has(BESIDE, code))) return named;
  return behindSpacing(probe, start, from, here);
}

const LESS = 60;
const COMMA = 44;
const PERCENT = 37;
const BRACKET = charSet("[{");
/** Of a table, a default, an escaped tab. */
const BESIDE = charSet("|?\\\\");
const OPENS_CALL = 40;
const WIDE_EQUALS = 0xff1d;
const WIDE_COLON = 0xff1a;
const MAX_VERB_CHARS = 48;
/** `is`, `was`, `ist:`, and `for ada@db:` as programs ask for one. */
const VERB = /^(?:(?:is|was|ist):? |for ['"]?[\w.@/-]{1,32}['"]?: )/;
/** May still become one. */
const CUT_VERB = /^(?:i|is|ist|w|wa|was|f|fo|for)$|^(?:(?:is|was|ist):?|for ['"]?[\w.@/-]{0,32}['"]?:?)$/;

function skipColours(text: string, from: number, end: number): number {
  return codeAt(text, from) === ESCAPE ? skipSpace(text, from, end) : from;
}

/** `"--password", "…"` and `password("…")`: a value in quotes, and nothing else. */
function behindOpening({ text, end, final }: Probe, from: number): number {
  const first = runEnd(BLANK, text, from, Math.min(end, from + MAX_BLANK));
  const code = codeAt(text, first);
  const here = has(OPENS_PAIR, code) || code === RETURN_SIGN ? behindPair(text.slice(0, end), first, final) : first;
  if (here === CUT_SEPARATOR) return here;
  const opens = here >= end ? end : quoteAt(text, here);
  if (opens === end) return final ? NO_SEPARATOR : CUT_SEPARATOR;
  return opens < 0 ? NO_SEPARATOR : here;
}

const MAX_PAIR_CHARS = 36;
/** A quote, escaped or not, an escaped line break, and the number or the place that is put in front of a line. */
const OPENS_PAIR = charSet('"\\\\0-9A-Za-z._/');
/** `"name": "x-api-key", "value": …` */
const PAIR = /^\\{0,7}"value\\{0,7}"\s{0,4}:\s{0,4}/i;
const CUT_PAIR = /^(?:\\{0,7}"value\\{0,7}"\s{0,4}:?\s{0,4}|\\{1,7})$/i;

/** From the place behind the comma: behind `"value":`, also on the next line of a listing; `first` when there is none. */
function behindPair(text: string, first: number, final: boolean): number {
  const place = LINE_START.exec(text.slice(first, first + MAX_PLACE_CHARS))?.[0].length ?? 0;
  const pair = text.slice(first + place, first + place + MAX_PAIR_CHARS);
  const isCut = !final && first + place + pair.length === text.length;
  if (isCut && (pair === "" || CUT_PAIR.test(pair) || (codeAt(text, first) !== QUOTE && CUT_PLACE.test(pair))))
    return CUT_SEPARATOR;
  const value = PAIR.exec(pair);
  return value === null ? first : first + place + value[0].length;
}

const QUOTE = 34;

/** Whether what was assigned stands behind a comma or a bracket. */
function isListed(text: string, assigned: number): boolean {
  let at = assigned - 1;
  while (at > 0 && has(BLANK, codeAt(text, at))) at -= 1;
  const code = codeAt(text, at);
  return code === COMMA || code === OPENS_CALL;
}

/** `name: DB_PASSWORD` and, after a line break or a space, `value: …`: the value belongs to the name. */
function behindValueName({ text, end, final }: Probe, after: number, from: number): number {
  const blank = runEnd(BLANK, text, from, Math.min(end, after + MAX_BLANK));
  if (blank === end && !final) return CUT_SEPARATOR;
  const here = behindLineStart(text, from, blank, end);
  if (here === end && !final) return CUT_SEPARATOR;
  const isNewLine = here > blank || codeAt(text, blank) === BACKSLASH || hasBreak(text, from, blank);
  if (!final && isNewLine && end - here < MAX_PLACE_CHARS && CUT_PLACE.test(text.slice(here, end)))
    return CUT_SEPARATOR;
  const first = codeAt(text, here) | 32;
  if (here < end && first !== 118 && first !== 99 && first !== 34) return NO_SEPARATOR;
  const word = text.slice(here, here + 8);
  const match = /^(?:"?value"?[:=]|content=)/i.exec(word);
  if (match !== null) return here + match[0].length;
  const isCut = !final && end - here < 8 && /^(?:"?v?a?l?u?e?"?|c?o?n?t?e?n?t?)$/i.test(word);
  return isCut ? CUT_SEPARATOR : NO_SEPARATOR;
}

/** From `blank` on, behind an escaped line break and what a listing or a search puts in front of a line. */
function behindLineStart(text: string, from: number, blank: number, end: number): number {
  const code = codeAt(text, blank);
  if (code !== BACKSLASH && !hasBreak(text, from, blank)) return blank;
  // A quote that is escaped ends no line.
  if (code === BACKSLASH && !has(BREAK_LETTER, codeAt(text, blank + 1))) return blank;
  const start = LINE_START.exec(text.slice(blank, Math.min(end, blank + MAX_PLACE_CHARS)));
  return start === null ? blank : blank + start[0].length;
}

function hasBreak(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === 10) return true;
  return false;
}

const BREAK_LETTER = charSet("nrt");
const MAX_PLACE_CHARS = 140;
/** Line breaks, `12:` or a tab behind the number, `src/a.yaml:12:`. */
const LINE_START =
  /^(?:\\[nrt]|[\s⏎])*(?:(?:\d{1,6}(?:[\t|:→-]|\\t)|(?=[^\s:]*[./])[^\s:"'\\]{1,100}:(?:\d{1,6}[:-])?)(?:\\[nrt]|\s)*)?/;
/** May still become such a place. */
const CUT_PLACE = /^[^\s:"'\\]*(?::\d{0,6})?\\?$/;

/** `password: string = "…"`: the type is not the value. */
function behindType({ text, end }: Probe, from: number): number {
  const type = runEnd(SPACE, text, from, Math.min(end, from + MAX_SPACE));
  const typeEnd = runEnd(TYPE_NAME, text, type, Math.min(end, type + MAX_TYPE_CHARS));
  if (typeEnd === type || !has(SPACE, codeAt(text, typeEnd))) return from;
  const equals = runEnd(SPACE, text, typeEnd, Math.min(end, typeEnd + MAX_SPACE));
  return codeAt(text, equals) === EQUALS && codeAt(text, equals + 1) !== EQUALS ? equals + 1 : from;
}

/** The text ends behind what may be a type: then the value is still to come. */
function mayBeType(text: string, from: number, to: number, end: number): boolean {
  return end - to <= MAX_SPACE && runEnd(SPACE, text, to, end) === end && runEnd(TYPE_NAME, text, from, to) === to;
}

/**
 * Where the quote is that opens a value at `at`: behind backslashes when it is inside another string, or behind the letter that
 * some languages put before one. -1 when there is none, the end of the text when that cannot be said yet.
 */
function quoteAt(text: string, at: number): number {
  let here = at;
  if (has(STRING_PREFIX, codeAt(text, here)) && isQuote(codeAt(text, here + 1))) here += 1;
  const first = here;
  while (here < first + MAX_ESCAPES && codeAt(text, here) === BACKSLASH) here += 1;
  if (here === text.length || isQuote(codeAt(text, here))) return here;
  return -1;
}

const STRING_PREFIX = charSet("bBrRfFuUNL@$");

function trimSentence(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && /[.,;:!?]/.test(text.charAt(end - 1))) end -= 1;
  return end;
}

function skipBack(text: string, from: number, to: number): number {
  let end = to;
  while (end > from && text.charCodeAt(end - 1) === 92) end -= 1;
  return end;
}
