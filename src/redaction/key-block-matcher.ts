/**
 * Private keys in PEM and similar armour: whole, with the end cut off, or with the beginning cut off. Lines may be real ones,
 * escaped ones inside a string, quoted ones in code, numbered or marked as in a listing or a diff.
 */
import { BASE64, charSet, codeAt, DIGIT, has, runEnd } from "./char-set.ts";
import { makeup } from "./checks.ts";
import { ARMED, found, type Matcher, NOTHING, type Probe, type Verdict } from "./probe.ts";

const MAX_LABEL_CHARS = 48;
/** A run of base64 this long is a line of a key; a shorter one only as the last line. */
const LEAST_LINE_CHARS = 16;
const MAX_BETWEEN_CHARS = 48;
const MAX_HEADER_CHARS = 200;
const DASHES = "-----";

const BETWEEN = charSet("\\s\"'`,+\\\\>|");
const LABEL = charSet("A-Z0-9 ");
const ESCAPE_LETTER = charSet("nrt");
/** Enough to tell the name of a header. */
const HEADER_NAME_CHARS = 20;
const HEADER =
  /^(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject|Private-(?:Lines|MAC)|Public-Lines|Key-Derivation):? ?/;
const HEADER_END = charSet("^\\n\\r\\\\\"'");

/** At `-----BEGIN `, or at `Private-Lines: `, which has the number of lines behind it. */
export const matchKeyBlock: Matcher = (probe, at, after) => {
  const { text, end, final } = probe;
  if (codeAt(text, at) !== DASH) return matchPrivateLines(probe, at, after);
  const labelEnd = runEnd(LABEL, text, after, Math.min(end, after + MAX_LABEL_CHARS));
  if (!final && end - labelEnd < DASHES.length && "-----".startsWith(text.slice(labelEnd, end))) return ARMED;
  const label = text.slice(after, labelEnd);
  if (!/PRIVATE KEY(?: BLOCK)?$/.test(label) || !text.startsWith(DASHES, labelEnd)) return NOTHING;
  return matchKeyBody(probe, at, labelEnd + DASHES.length, false);
};

/** From `here`, inside a block that began at `at`. `hasLines`: some of it has gone by already. */
export function matchKeyBody(probe: Probe, at: number, from: number, hasLines: boolean): Verdict {
  const { text, end, final } = probe;
  let accepted = hasLines;
  let last = from;
  let here = from;
  for (;;) {
    here = skipBetween(text, here, end);
    if (here === end && !final) return ARMED;
    if (here === end) return accepted ? found(probe, at, last, "key-block") : NOTHING;
    if (text.startsWith(DASHES, here)) {
      const labelEnd = runEnd(LABEL, text, here + DASHES.length, Math.min(end, here + DASHES.length + MAX_LABEL_CHARS));
      if (!final && end - labelEnd < DASHES.length) return ARMED;
      const closes = text.startsWith("-----END ", here) && text.startsWith(DASHES, labelEnd);
      return accepted ? found(probe, at, closes ? labelEnd + DASHES.length : last) : NOTHING;
    }
    if (!final && end - here < DASHES.length && DASHES.startsWith(text.slice(here, end))) return ARMED;
    if (!final && end - here < HEADER_NAME_CHARS) return ARMED;
    if (!final && end - here < MAX_PLACE_CHARS && opensLine(text, here) && CUT_PLACE.test(text.slice(here, end))) {
      return ARMED;
    }
    const header = HEADER.exec(text.slice(here, here + HEADER_NAME_CHARS));
    if (header !== null) {
      here = headerEnd(text, here + header[0].length, Math.min(end, here + MAX_HEADER_CHARS));
      continue;
    }
    const lineEnd = runEnd(BASE64, text, here, end);
    if (lineEnd === end && !final) return ARMED;
    const length = lineEnd - here;
    const isLast = accepted && length > 0 && text.startsWith(DASHES, skipBetween(text, lineEnd, end));
    if (length < LEAST_LINE_CHARS && !isLast) {
      const line = behindDecoration(text, here, end, final);
      if (line === end) return ARMED;
      if (line > here) {
        here = line;
        continue;
      }
      // Cut behind the last whole line: a short rest of base64 at the very end still belongs to the key.
      const atEnd = accepted && length > 0 && lineEnd === end;
      if (!accepted && !atEnd) return NOTHING;
      const to = atEnd ? end : last;
      return found(probe, at, to, to === end ? "key-block" : undefined);
    }
    if (!accepted && isPlain(text, here, lineEnd)) return NOTHING;
    accepted = true;
    here = lineEnd;
    last = lineEnd;
    if (here === end) return found(probe, at, end, "key-block");
  }
}

/** `Private-Lines: 8` and the lines right below it. */
function matchPrivateLines(probe: Probe, at: number, after: number): Verdict {
  const { text, end, final } = probe;
  const number = runEnd(DIGIT, text, after, Math.min(end, after + MAX_NUMBER_DIGITS));
  const from = skipBetween(text, number, end);
  const to = runEnd(BASE64, text, from, Math.min(end, from + LEAST_LINE_CHARS));
  if (to === end && !final) return ARMED;
  return to - from < LEAST_LINE_CHARS ? NOTHING : matchKeyBody(probe, at, number, false);
}

const DASH = 45;
const MAX_DECORATION_CHARS = 140;
/** With something else in front, a run of base64 must be longer to be a line of a key. */
const LEAST_DECORATED_CHARS = 40;

/**
 * Behind what comments, colours, diffs and searches put before and behind the lines of a key: where the next line of it begins on
 * this line or the one below, `at` when there is none, the end of the text when it is too early to say.
 */
function behindDecoration(text: string, at: number, end: number, final: boolean): number {
  const limit = Math.min(end, at + MAX_DECORATION_CHARS);
  let breaks = 0;
  for (let here = at; here < limit; ) {
    const code = codeAt(text, here);
    if (code === 10 && ++breaks > 1) return at;
    if (code === DASH && text.startsWith("-----END ", here)) return here;
    if (code === DASH && text.startsWith("-----BEGIN ", here)) return at;
    const to = runEnd(BASE64, text, here, Math.min(end, here + LEAST_DECORATED_CHARS));
    if (to - here >= LEAST_DECORATED_CHARS && !isWords(text, here, to)) return here;
    here = Math.max(to, here + 1);
  }
  return final || end - at >= MAX_DECORATION_CHARS + LEAST_DECORATED_CHARS ? at : end;
}

/** A path, or words that are written together. */
function isWords(text: string, from: number, to: number): boolean {
  const { lower, upper, digits } = makeup(text, from, to);
  return lower === 0 || upper === 0 || digits === 0;
}

/** Where the line of a header ends; where all lines were put into one, in front of the next header or line of the key. */
function headerEnd(text: string, from: number, limit: number): number {
  let here = from;
  while (here < limit && has(HEADER_END, codeAt(text, here))) {
    const next = here + 1;
    if (codeAt(text, here) === 32) {
      const isLine = runEnd(BASE64, text, next, next + LEAST_TAIL_LINE_CHARS) === next + LEAST_TAIL_LINE_CHARS;
      if (isLine || HEADER.test(text.slice(next, next + HEADER_NAME_CHARS))) break;
    }
    here = next;
  }
  return here;
}

/** `xxxx`: a place for a key, not a key. */
function isPlain(text: string, from: number, to: number): boolean {
  return makeup(text, from, to).distinct <= 3;
}

/** White space, escapes of it, quotes, and the numbers or marks that listings put in front of a line. */
function skipBetween(text: string, from: number, end: number): number {
  let here = from;
  const limit = Math.min(end, from + MAX_BETWEEN_CHARS);
  while (here < limit) {
    if (codeAt(text, here) === 92 && has(ESCAPE_LETTER, codeAt(text, here + 1))) here += 2;
    else if (has(BETWEEN, codeAt(text, here))) here += 1;
    else if (isMark(text, here)) here += 1;
    else {
      const behind = behindListing(text, here, end);
      if (behind === here) return here;
      here = behind;
    }
  }
  return here;
}

/** Behind the number of a line, or the file and number that a search puts in front of it. */
function behindListing(text: string, at: number, end: number): number {
  const number = runEnd(DIGIT, text, at, Math.min(end, at + MAX_NUMBER_DIGITS));
  const behind = number === at ? number : behindNumber(text, number);
  if (behind > number) return behind;
  if (!opensLine(text, at)) return at;
  const place = FILE_PLACE.exec(text.slice(at, Math.min(end, at + MAX_PLACE_CHARS)));
  return place === null ? at : at + place[0].length;
}

function opensLine(text: string, at: number): boolean {
  return codeAt(text, at - 1) === 10 || (endsEscape(text, at) && codeAt(text, at - 1) === 110);
}

const MAX_PLACE_CHARS = 140;
/** `src/key.pem:12:` as `grep -rn` and ripgrep write it; the name has a dot or a slash, which headers have not. */
const FILE_PLACE = /^(?=[^\s:]*[./])[^\s:"'\\]{1,120}:(?:\d{1,6}[:-])?/;
/** May still become one. */
const CUT_PLACE = /^[^\s:"'\\]*(?::\d{0,6})?$/;

const MAX_NUMBER_DIGITS = 6;

/**
 * Behind what stands between the number of a line and the line; `at` when it is nothing of that sort. A blank, where somebody has
 * put all lines into one.
 */
function behindNumber(text: string, at: number): number {
  if (/[\t |:→]/.test(text.charAt(at))) return at + 1;
  return text.startsWith("\\t", at) ? at + 2 : at;
}

/** The `-` of a removed line in a diff; `+` counts as base64 unless it opens the line. */
function isMark(text: string, at: number): boolean {
  return codeAt(text, at) === 45 && codeAt(text, at + 1) !== 45 && codeAt(text, at - 1) === 10;
}

/** At `-----END `: the lines before it, when the beginning was cut off. */
export const matchKeyTail: Matcher = (probe, at, after) => {
  const { text, end, final } = probe;
  const labelEnd = runEnd(LABEL, text, after, Math.min(end, after + MAX_LABEL_CHARS));
  if (!final && end - labelEnd < DASHES.length) {
    probe.from = keyTailStart(text, at, at);
    return ARMED;
  }
  if (!/PRIVATE KEY(?: BLOCK)?$/.test(text.slice(after, labelEnd))) return NOTHING;
  const start = keyTailStart(text, at, at);
  if (start === at || isPlain(text, start, at)) return NOTHING;
  const close = text.startsWith(DASHES, labelEnd) ? labelEnd + DASHES.length : labelEnd;
  return found(probe, start, close);
};

/** The `=` that ends base64 and a checksum line of other armours count as lines too. */
const LEAST_TAIL_LINE_CHARS = 40;

/** Where the lines of base64 that end in front of `at` begin; at most `maxChars` back. `at` when there are none. */
export function keyTailStart(text: string, at: number, maxChars: number): number {
  let start = at;
  let here = at;
  let isFirst = true;
  while (at - here < maxChars) {
    const lineEnd = skipBetweenBack(text, here);
    let line = lineEnd;
    while (line > 0 && has(BASE64, text.charCodeAt(line - 1)) && !endsEscape(text, line)) line -= 1;
    const length = lineEnd - line;
    if (length === 0 || (length < LEAST_TAIL_LINE_CHARS && !isFirst)) break;
    start = line;
    here = line;
    isFirst = false;
    if (line === 0) break;
  }
  return start;
}

function skipBetweenBack(text: string, from: number): number {
  let here = from;
  const least = Math.max(0, from - MAX_BETWEEN_CHARS);
  while (here > least) {
    if (endsEscape(text, here)) here -= 2;
    else if (has(BETWEEN, codeAt(text, here - 1)) && codeAt(text, here - 1) !== 43) here -= 1;
    else {
      const number = numberBefore(text, here, from);
      if (number === here) break;
      here = number;
    }
  }
  return here;
}

/** Where the number of a line begins that ends at `at`, with its `:` where it has one; `at` when there is none. */
function numberBefore(text: string, at: number, lineStart: number): number {
  // Between it and the line there is a tab, a blank, a bar or a colon.
  const digits = codeAt(text, at - 1) === 58 ? at - 1 : at;
  if (digits === at && !/^(?:[\t |]|\\t)/.test(text.slice(at, Math.min(lineStart, at + 2)))) return at;
  let start = digits;
  while (start > 0 && digits - start < MAX_NUMBER_DIGITS && has(DIGIT, text.charCodeAt(start - 1))) start -= 1;
  const before = start === 0 ? 10 : codeAt(text, start - 1);
  const opensLine = has(BETWEEN, before) || endsEscape(text, start);
  return start < digits && opensLine ? start : at;
}

function endsEscape(text: string, at: number): boolean {
  return has(ESCAPE_LETTER, codeAt(text, at - 1)) && codeAt(text, at - 2) === 92;
}
