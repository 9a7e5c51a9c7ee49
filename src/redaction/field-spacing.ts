/**
 * Where a value stands beside its name although nothing assigns it: in quotes, in the next cell of a table, alone on the line behind
 * the name, in a tag with attributes, as the default of a variable, in a part of a form.
 */
import { charSet, codeAt, has, runEnd } from "./char-set.ts";
import { LEAST_LETTERS_ONLY_CHARS } from "./checks.ts";
import { CUT_SEPARATOR, LISTED, MAX_SPACE, NO_SEPARATOR, RETURN_SIGN, skipSpace } from "./field-opening.ts";
import type { Probe } from "./probe.ts";

const PIPE = 124;
const QUESTION = 63;
const LESS = 60;
const TAB = 9;
const COLON = 58;
const BACKSLASH = 92;
const NAME_QUOTE = charSet("\"'`");

/** `start` to `from` is the name with the quote that closes it, `here` what follows it behind spaces. */
export function behindSpacing(probe: Probe, start: number, from: number, here: number): number {
  const { text, end, final } = probe;
  const code = codeAt(text, here);
  if (code === PIPE || code === QUESTION) {
    if (here + 1 >= end) return final ? NO_SEPARATOR : CUT_SEPARATOR;
    if (codeAt(text, here + 1) === code) return behindOr(probe, here + 2);
    return code === PIPE && here > from ? behindBar(probe, here + 1) : NO_SEPARATOR;
  }
  if (here === from) return code === BACKSLASH && text.charAt(here + 1) === "t" ? LISTED + here + 2 : NO_SEPARATOR;
  if (has(NAME_QUOTE, code) || code === BACKSLASH) return LISTED + here;
  const opens = codeAt(text, start - 1);
  if (opens === LESS || (opens === COLON && TAG_PREFIX.test(text.slice(Math.max(0, start - MAX_PREFIX_CHARS), start))))
    return behindAttributes(probe, here);
  return codeAt(text, from) === TAB ? LISTED + here : isAloneOnLine(probe, start, from, here);
}

const MAX_PREFIX_CHARS = 24;
const TAG_PREFIX = /<[A-Za-z][\w-]*:$/;

/** `env.TOKEN || "…"`: what holds where the variable is not set. */
function behindOr(probe: Probe, from: number): number {
  const { text, end, final } = probe;
  const here = skipSpace(text, from, end);
  if (here >= end) return final ? NO_SEPARATOR : CUT_SEPARATOR;
  return opensText(text, here) ? LISTED + here : NO_SEPARATOR;
}

/** A quote, or what escapes one. */
function opensText(text: string, at: number): boolean {
  return (
    has(NAME_QUOTE, codeAt(text, at)) || (codeAt(text, at) === BACKSLASH && !has(BREAK_LETTER, codeAt(text, at + 1)))
  );
}

/** `| password | … |` */
function behindBar(probe: Probe, from: number): number {
  const { text, end, final } = probe;
  const here = skipSpace(text, from, end);
  if (here >= end) return final ? NO_SEPARATOR : CUT_SEPARATOR;
  return LISTED + here;
}

const MAX_ATTRIBUTES_CHARS = 96;
const ATTRIBUTES = /^[^<>\n]*[^<>\n/]>/;

/** `<Password Type="…">…` */
function behindAttributes({ text, end, final }: Probe, from: number): number {
  const part = text.slice(from, Math.min(end, from + MAX_ATTRIBUTES_CHARS));
  const attributes = ATTRIBUTES.exec(part);
  if (attributes !== null) return from + attributes[0].length;
  return !final && part.length < MAX_ATTRIBUTES_CHARS && !/[<>\n]/.test(part) ? CUT_SEPARATOR : NO_SEPARATOR;
}

/** Whether the name at `start` is in the attribute that says what a tag is for. */
export function isNameAttribute(text: string, start: number): boolean {
  return (
    has(OPENS_NAME, codeAt(text, start - 1)) &&
    NAME_ATTRIBUTE.test(text.slice(Math.max(0, start - MAX_ATTRIBUTE_CHARS), start))
  );
}

const OPENS_NAME = charSet("\"'\\\\");
const MAX_ATTRIBUTE_CHARS = 10;
const NAME_ATTRIBUTE = /name=\\{0,3}["']$/;

const STAR = 42;
const STARS = charSet("*");
const MAX_STARS = 3;

/** `**Password:** …`, as Markdown has it. */
export function skipEmphasis(text: string, at: number): number {
  return codeAt(text, at) === STAR ? runEnd(STARS, text, at, Math.min(text.length, at + MAX_STARS)) : at;
}

const MAX_ENCODED_CHARS = 12;
const ENCODED = /^(?:%22)?%3[ad](?:%2[02])?/i;
const CUT_ENCODED = /^%(?:2|22|22%|22%3)?3?$/;

/** `access_token%3D…`: an address inside another. */
export function behindEncoded({ text, end, final }: Probe, here: number): number {
  const part = text.slice(here, Math.min(end, here + MAX_ENCODED_CHARS));
  const encoded = ENCODED.exec(part);
  if (encoded !== null)
    return !final && here + part.length === end && part.length < MAX_ENCODED_CHARS && ENDS_ENCODED.test(part)
      ? CUT_SEPARATOR
      : here + encoded[0].length;
  return !final && CUT_ENCODED.test(part) ? CUT_SEPARATOR : NO_SEPARATOR;
}

const ENDS_ENCODED = /^(?:%22)?%3[ad](?:%2?)?$/i;

const BLANK = charSet("\\s");
const MAX_BLANK_CHARS = 48;
const MAX_OBJECT_CHARS = 160;
const VALUE_OF_OBJECT = /^\{[^{}]{0,140}?"value\\{0,3}"\s{0,4}:\s{0,4}(?=\\{0,3}")/;

/**
 * `["…"]` and `{ …, "value": "…" }`: the place of the first value inside, `here` when there is none, the end of the text when it is
 * too early to say.
 */
export function behindBracket({ text, end, final }: Probe, here: number): number {
  const code = codeAt(text, here);
  if (code === OPENS_LIST) {
    const first = runEnd(BLANK, text, here + 1, Math.min(end, here + 1 + MAX_BLANK_CHARS));
    if (first >= end) return final ? here : end;
    return opensText(text, first) ? first : here;
  }
  if (code !== OPENS_OBJECT) return here;
  const part = text.slice(here, Math.min(end, here + MAX_OBJECT_CHARS));
  const value = VALUE_OF_OBJECT.exec(part);
  if (value !== null) return here + value[0].length;
  return !final && part.length < MAX_OBJECT_CHARS && !/[{}]/.test(part.slice(1)) ? end : here;
}

const OPENS_LIST = 91;
const OPENS_OBJECT = 123;

/** `Content-Disposition: form-data; name="password"`, an empty line, and the value. */
export function behindFormPart({ text, end, final }: Probe, start: number, from: number, here: number): number {
  if (here > from || !has(BREAK_OPENS, codeAt(text, here)) || !isNameAttribute(text, start)) return NO_SEPARATOR;
  const part = text.slice(here, Math.min(end, here + MAX_BREAKS_CHARS));
  const breaks = EMPTY_LINE.exec(part);
  if (breaks !== null) return LISTED + here + breaks[0].length;
  return !final && part.length < MAX_BREAKS_CHARS && CUT_LINE.test(part) ? CUT_SEPARATOR : NO_SEPARATOR;
}

const BREAK_OPENS = charSet("\\n\\r\\\\");
const MAX_BREAKS_CHARS = 160;
/** Two line breaks, escaped or not; in a listing or a search with what that puts in front of a line. */
const EMPTY_LINE =
  /^(?:(?:\r?\n\r?\n|(?:\\r)?\\n(?:\\r)?\\n)(?=[^\s\\])|(?:(?:\r?\n|(?:\\r)?\\n)(?: {0,6}\d{1,6}(?:[\t:-]|\\t)|[\w./-]{1,60}:\d{1,6}[:-])){2}(?=[^\s\\]))/;
const CUT_LINE = /^[\w\s./:\\-]*$/;

const MAX_OPENING_CHARS = 64;
/**
 * A line that begins with the name, or with what sets a variable; before that a search, a listing, a quotation, a comment or a collector
 * of logs may have put something.
 */
const LINE_OPENING =
  /^(?:[\w./-]{1,40}:)?(?: {0,6}\d{1,6}(?:[:\t|-]|\\t))?(?:[\w.-]{1,24} +\| )?[ \t]*(?:(?:[-+>#|*]|\/\/) ?)?(?:ENV |export |proxy_set_header |set -[a-zA-Z]{1,4} )?$/;
/** What {@link LINE_OPENING} is made of, but for an escaped tab. */
const IN_OPENING = charSet("A-Za-z0-9_./: \\t|+>#*-");
const WORD = charSet("^\\s\"'`,;<>(){}\\[\\]|&\\\\\x1b");
const MAX_WORD_CHARS = 256;

/** `password …` as the files of many programs have it: one word behind the name, and the line ends. */
function isAloneOnLine({ text, end, final }: Probe, start: number, from: number, here: number): number {
  if (!has(WORD, codeAt(text, here))) return NO_SEPARATOR;
  // `DB_PASSWORD …` is the name of a variable wherever it stands.
  if (has(UPPER, codeAt(text, start)) && VARIABLE.test(text.slice(start, from))) return LISTED + here;
  const to = runEnd(WORD, text, here, Math.min(end, here + MAX_WORD_CHARS));
  const behind = codeAt(text, to) === SEMICOLON ? to + 1 : to;
  const lineEnd = runEnd(SPACE, text, behind, Math.min(end, behind + MAX_SPACE));
  // Asked first: what is in front takes longer to tell.
  if (lineEnd < end && (!endsLine(codeAt(text, lineEnd)) || isPlainWord(text, here, to))) return NO_SEPARATOR;
  if (!opensLine(text, start)) return NO_SEPARATOR;
  return lineEnd < end || final || to === end ? LISTED + here : CUT_SEPARATOR;
}

/** Nothing that stands beside a name is a secret with so few letters and no digit. One letter may belong to a quote behind it. */
function isPlainWord(text: string, from: number, to: number): boolean {
  return to - from > 1 && to - from < LEAST_LETTERS_ONLY_CHARS && runEnd(NO_DIGIT, text, from, to) === to;
}

const NO_DIGIT = charSet("^0-9");
const UPPER = charSet("A-Z");
const VARIABLE = /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/;

function opensLine(text: string, start: number): boolean {
  const least = Math.max(0, start - MAX_OPENING_CHARS);
  let at = start;
  while (at > least && has(SPACE, text.charCodeAt(at - 1))) at -= 1;
  // Most names have another word in front of them, or nothing.
  const before = codeAt(text, at - 1);
  if (at === 0 || has(LINE_BEGINS, before) || before === RETURN_SIGN) return true;
  // The letter of an escaped line break looks like the first one of the name.
  if (codeAt(text, start - 1) === BACKSLASH) return has(BREAK_LETTER, codeAt(text, start));
  if (!has(ENDS_OPENING, before)) return false;
  const from = lineStart(text, at, least);
  return from >= 0 && LINE_OPENING.test(text.slice(from, start));
}

/** Where the line begins that `at` is in, behind a break, also an escaped one, or a quote; -1 when nothing of that sort is near. */
function lineStart(text: string, at: number, least: number): number {
  for (let from = at; from > least; from--) {
    const code = text.charCodeAt(from - 1);
    if (has(IN_OPENING, code)) continue;
    if (has(LINE_BEGINS, code)) return from;
    if (code !== BACKSLASH) return -1;
    const escaped = codeAt(text, from);
    if (escaped !== SMALL_T) return has(BREAK_LETTER, escaped) ? from + 1 : -1;
  }
  return least === 0 ? 0 : -1;
}

function endsLine(code: number): boolean {
  return has(ENDS_LINE, code) || code === RETURN_SIGN;
}

const SEMICOLON = 59;
const SPACE = charSet(" \\t");
const BREAK_LETTER = charSet("nrt");
const SMALL_T = 116;
const LINE_BEGINS = charSet("\\n\"'");
/** The end of a line or of the string that it is in, also an escaped one, and the mark of what was cut. */
const ENDS_LINE = charSet("\\n\\r\"'\\\\");
/** The last characters of what {@link LINE_OPENING} allows in front of a space or a name. */
const ENDS_OPENING = charSet("0-9+Vtnxpgur>#|*/:-");
