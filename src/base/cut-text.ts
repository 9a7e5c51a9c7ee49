/**
 * Texts cut so that what is left of a secret is not taken for something else. Secrets are found by their names, their beginnings and
 * their lengths; whoever cuts before they are looked for must leave none of those behind alone.
 */

/** How far from the cut it is looked for a better place, in half of the text at most. Most secrets are shorter. */
export const CUT_LOOK_CHARS = 2_048;

/** The beginning of a text; at most `maxChars` of it, and without the line or the word that the cut would have gone through. */
export function beginningOf(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : withoutCutEnd(text.slice(0, maxChars));
}

/** The end of a text, in the same way. */
export function endOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.at(-maxChars - 1) === "\n" ? text.slice(-maxChars) : withoutCutStart(text.slice(-maxChars));
}

/** For a text that was cut at its end: without its last line, or in a long line without its last word. */
export function withoutCutEnd(text: string): string {
  const least = text.length - lookChars(text);
  const line = text.lastIndexOf("\n") + 1;
  if (line > least) return text.slice(0, line);
  for (let at = text.length; at > least; at--) if (WORD_END.test(text[at - 1]!)) return text.slice(0, at);
  return wholeCharacters(text.slice(0, least));
}

/**
 * For a text that was cut at its beginning: without its first line. In a long line a value may stand there whose name is gone, so it
 * goes on where something new can begin.
 */
export function withoutCutStart(text: string): string {
  const most = lookChars(text);
  const line = text.indexOf("\n") + 1;
  if (line > 0 && line <= most) return text.slice(line);
  for (let at = 0; at < most; at++) if (FIELD_END.test(text[at]!)) return text.slice(at + 1);
  return wholeCharacters(text.slice(most));
}

const WORD_END = /[\s,;&|"'`(){}[\]<>]/;
const FIELD_END = /[,;&}\]>|]/;

function lookChars(text: string): number {
  return Math.min(CUT_LOOK_CHARS, Math.ceil(text.length / 2));
}

/** Half a character at either end is none. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

/**
 * The beginning of a text, up to the last blank that fits: what is cut in the middle of a word may be a secret that nobody
 * recognises any more. Long words in front of the cut go too, because they may be lines of a key whose end is cut off. Nothing
 * is left of a text that is one long word.
 */
export function cutAtBlank(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars + 1);
  let end = cut.length;
  while (end > 0 && !/\s/.test(cut[end - 1]!)) end -= 1;
  const words = cut.slice(0, end).split(/(?<=\s)(?=\S)/);
  while (words.length > 0 && isPartOfListing(words.at(-1)!.trimEnd())) words.pop();
  return words.join("").trimEnd();
}

const LONG_WORD_CHARS = 32;

/** A long word, or the number of its line. */
function isPartOfListing(word: string): boolean {
  return word.length >= LONG_WORD_CHARS || /^\d{1,6}[:|]?$/.test(word) || word === "";
}

/** Both ends of a text that has passed redaction: what a message is about stands at its beginning, and what to do at its end. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${wholeCharacters(text.slice(0, half))}…${wholeCharacters(text.slice(text.length - half + 1))}`;
}

/** The same for a bound in bytes of UTF-8: characters of many scripts take more than one. */
export function cutMiddleBytes(text: string, maxBytes: number): string {
  let cut = text;
  for (let bytes = utf8Bytes(cut); bytes > maxBytes && cut !== ""; bytes = utf8Bytes(cut)) {
    // Shorter each time, also where all long characters stand at the ends.
    const chars = Math.min(Math.floor((cut.length * maxBytes) / bytes), cut.length - 2);
    cut = chars < MIN_CUT_CHARS ? "" : cutMiddle(text, chars);
  }
  return cut;
}

/** Less than this is a mark without a text. */
const MIN_CUT_CHARS = 4;

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
