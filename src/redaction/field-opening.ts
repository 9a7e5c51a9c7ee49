/**
 * What stands between the name of a field and its value besides the sign that assigns: spaces, colours of a terminal, tags, and
 * what opens a value in YAML.
 */
import { charSet, codeAt, has, runEnd } from "./char-set.ts";
import type { Probe } from "./probe.ts";

export const NO_SEPARATOR = 0;
/** Behind the end of any text. A small integer, as all places are: one other number makes all scanning several times slower. */
export const CUT_SEPARATOR = 2 ** 30 - 1;

const SPACE = charSet(" \\t");
export const MAX_SPACE = 16;
/** Added to a place behind which other things than secrets stand as well: the value must be an uncommon one. */
export const LISTED = 2 ** 29;

/** White space within a line, also of other kinds, and the colours of a terminal. */
export function skipSpace(text: string, from: number, end: number): number {
  const code = codeAt(text, from);
  if (code > SPACE_CODE && code < FIRST_WIDE_SPACE) return from;
  const limit = Math.min(end, from + MAX_SPACE);
  let at = from;
  for (;;) {
    while (at < limit && (has(SPACE, text.charCodeAt(at)) || isWideSpace(text.charCodeAt(at)))) at += 1;
    if (codeAt(text, at) !== ESCAPE || at >= end) return at;
    const behind = colourEnd(text, at, end);
    if (behind === at || behind - from > MAX_COLOURS_CHARS) return at;
    at = behind;
  }
}

const SPACE_CODE = 32;
const FIRST_WIDE_SPACE = 0xa0;
export const ESCAPE = 27;
const MAX_COLOUR_CHARS = 16;
const MAX_COLOURS_CHARS = 64;
const COLOUR_NUMBER = charSet("0-9;");

/** Behind `ESC [ … m`; the end of the text when that cuts it, `at` when it is nothing of that sort. */
function colourEnd(text: string, at: number, end: number): number {
  if (at + 1 >= end) return end;
  if (codeAt(text, at + 1) !== 91) return at;
  const letter = runEnd(COLOUR_NUMBER, text, at + 2, Math.min(end, at + MAX_COLOUR_CHARS));
  if (letter >= end) return end;
  return /[A-Za-z]/.test(text.charAt(letter)) ? letter + 1 : at;
}

function isWideSpace(code: number): boolean {
  return (
    code === 0xa0 || code === 0x202f || code === 0x2007 || code === 0x2009 || code === 0x3000 || code === RETURN_SIGN
  );
}

/** `⏎`: stands for a line break where several lines are shown as one. */
export const RETURN_SIGN = 0x23ce;

/** `<key>password</key> <string>…`, as property lists have it. */
export function behindTag({ text, end, final }: Probe, from: number): number {
  const part = text.slice(from, Math.min(end, from + MAX_TAGS_CHARS));
  const tags = TAGS.exec(part);
  if (tags !== null) return from + tags[0].length + (tags[1] === undefined ? 0 : LISTED);
  return !final && part.length < MAX_TAGS_CHARS && CUT_TAGS.test(part) ? CUT_SEPARATOR : NO_SEPARATOR;
}

const MAX_TAGS_CHARS = 128;
/** Cells of a table hold other things as well. */
const TAGS =
  /^<\/(?:key|name|t[dh]|dt)>(?:[\s⏎]|\\[nrt]){0,48}(?:\d{1,6}(?:[\t:-]|\\t)|[\w./-]{1,40}:\d{1,6}[:-])?(?:[\s⏎]|\\[nrt]){0,16}<(?:string|value|(td|dd))(?: [^<>\n]{0,48})?>/i;
const CUT_TAGS = /^<(?:\/(?:\w{0,4}|(?:key|name|t[dh]|dt)>[\w\s⏎./:\\-]*(?:<(?:\w{0,6}(?: [^<>\n]{0,48})?)?)?))?$/i;
const CDATA = "<![CDATA[";
const VALUE_TAG = "<value>";

export function behindCdata({ text, end, final }: Probe, at: number): number {
  if (text.startsWith(CDATA, at)) return at + CDATA.length;
  if (/^<value>$/i.test(text.slice(at, at + VALUE_TAG.length))) return at + VALUE_TAG.length;
  const rest = text.slice(at, end);
  return !final && (CDATA.startsWith(rest) || VALUE_TAG.startsWith(rest.toLowerCase())) ? CUT_SEPARATOR : at;
}

/**
 * From the place behind the colon of YAML: behind an anchor or a tag, and on the line below when there is nothing else on this one.
 * The end of the text when it is too early to say.
 */
export function behindYaml({ text, end, final }: Probe, from: number): number {
  const code = codeAt(text, from);
  if (!has(YAML_OPENING, code)) return from;
  const part = text.slice(from, Math.min(end, from + MAX_OPENING_CHARS));
  const [opening] = YAML_VALUE.exec(part) ?? [""];
  if (!final && part.length < MAX_OPENING_CHARS && CUT_YAML.test(part)) return end;
  return from + opening.length;
}

const YAML_OPENING = charSet("&!|>\\n\\r");
const MAX_OPENING_CHARS = 96;
/** `&anchor `, `!!str ` (other tags refer to a secret), then `|` or nothing, the end of the line, and the beginning of the next, numbered or not. */
const YAML_VALUE =
  /^(?:(?:&[\w-]{1,40}|!![\w-]{1,20})[ \t]{1,4})?(?:(?:[|>][-+0-9]{0,3})?[ \t]{0,4}\r?\n(?: {0,6}\d{1,6}\t)?[ \t]{1,24}(?=[^\s#-]))?/;
const CUT_YAML =
  /^(?:[&!][\w!-]{0,40}|(?:(?:&[\w-]{1,40}|!![\w-]{1,20})[ \t]{1,4})?(?:[|>][-+0-9]{0,3})?[ \t]{0,4}(?:\r|\r?\n(?: {0,6}\d{0,6}|(?: {0,6}\d{1,6}\t)?[ \t]{0,24}))?)$/;
