/**
 * Marks what comes from outside the trust boundary: `<untrusted id="…" from="…">` in front, `</untrusted id="…">` behind. The id
 * is a hash that nobody can know before the content exists, and what the content itself says is changed so that nothing in it
 * can be taken for one of these, also with look-alike letters, invisible characters or escapes. All other text stays as it is,
 * byte for byte: it may be about to be edited.
 */
import { createHash } from "node:crypto";

const ID_CHARS = 16;
const NAME = "untrusted";
/** Between the bracket and the name, and between its letters, this many characters that do not count may stand. */
const MAX_FILLERS = 64;
const MAX_INVISIBLE = 1_024;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
const MAX_SOURCE_CHARS = 80;

export interface Delimited {
  /** Unknown to whoever wrote the content: the session and the call, or the session and the file. */
  readonly about: readonly string[];
  /** For the model: where it comes from. */
  readonly from: string;
}

export function delimit(text: string, { about, from }: Delimited): string {
  const id = createHash("sha256")
    .update(JSON.stringify([NAME, ...about]))
    .digest("hex")
    .slice(0, ID_CHARS);
  return `<${NAME} id="${id}" from="${asSource(from)}">\n${withoutDelimiters(text)}\n</${NAME} id="${id}">`;
}

/** For text that stands outside of all delimiters: it must not hold one either. */
export function withoutDelimiters(text: string): string {
  let result = "";
  let done = 0;
  let readings: readonly ((from: number) => boolean)[] | undefined;
  BRACKET.lastIndex = 0;
  for (let found = BRACKET.exec(text); found !== null; found = BRACKET.exec(text)) {
    readings ??= hasTags(text)
      ? [createNameTest(text, false), createNameTest(text, true)]
      : [createNameTest(text, false)];
    const to = BRACKET.lastIndex;
    if (!readings.some((isNameAt) => isNameAt(to))) continue;
    result += `${text.slice(done, found.index)}[`;
    done = to;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** What a reader may take for the bracket of a tag: its look-alikes, and the ways to write it where it must be escaped. */
const BRACKET =
  /[<\u00ab\u02c2\u02f1\u140a\u1438\u15cf\u169c\u16b2\u2039\u2264\u2266\u2268\u226a\u2272\u2276\u227a\u227c\u22d6\u22d8\u22da\u22dc\u2329\u23f4\u25c0\u25c1\u25c2\u25c4\u276c\u276e\u2770\u27e8\u27ea\u2991\u2993\u29c0\u29fc\u2a79\u2a7d\u2aa1\u2aa6\u2aaa\u2bc7\u3008\u300a\ufe3d\ufe3f\ufe64\uff1c]|\ud83d\udf80|\ud83e\udc90|\udb40\udc3c|&(?:amp;){0,4}(?:(?:lt|LT|#0{0,7}60|#[xX]0{0,6}3[cC]);?|(?:lsaquo|laquo|[lL]ang|langle|LeftAngleBracket);)|\\{1,4}(?:u(?:003[cC]|\{0{0,4}3[cC]\})|U0000003[cC]|N\{LESS-THAN SIGN\}|x3[cC]|0?74)|%(?:25){0,4}(?:u00)?3[cC]|=3[cC]/g;

/** What one character, or an escape of one, is to a reader. */
interface Sign {
  /** The Latin letters that it looks like; none for what is no letter. */
  readonly letters: string;
  readonly isVisible: boolean;
}

/**
 * Whether the name stands at a place, whatever stands between and does not count. For places from left to right: what lies between
 * several brackets and the next letter is walked through once.
 */
function createNameTest(text: string, readsTags: boolean): (from: number) => boolean {
  const signs = new Map<number, Sign>();
  let at = 0;
  const next = (): Sign => {
    const written = escapeAt(text, at);
    const raw = written?.code ?? text.codePointAt(at)!;
    at = written?.to ?? at + (raw > 0xffff ? 2 : 1);
    const code = readsTags && isTag(raw) ? raw - TAGS : raw;
    let sign = signs.get(code);
    if (sign === undefined) {
      const isVisible = code < 128 || !INVISIBLE.test(String.fromCodePoint(code));
      sign = { letters: isVisible ? plainLetters(code) : "", isVisible };
      signs.set(code, sign);
    }
    return sign;
  };
  /** No letter stands from here, */
  let runFrom = 0;
  /** to here, */
  let runEnd = -1;
  /** and this many characters that can be seen. */
  let fillers = 0;

  function enterRun(from: number): void {
    at = runFrom;
    if (from <= runEnd) while (at < from) fillers -= next().isVisible ? 1 : 0;
    if (from > runEnd || at !== from) {
      at = from;
      fillers = 0;
      for (runEnd = from; at < text.length; runEnd = at) {
        const { letters, isVisible } = next();
        if (letters !== "") break;
        if (isVisible) fillers += 1;
      }
    }
    runFrom = from;
  }

  return (from) => {
    enterRun(from);
    if (fillers > MAX_FILLERS) return false;
    let seen = fillers;
    let hidden = 0;
    let matched = 0;
    at = runEnd;
    while (at < text.length) {
      const { letters, isVisible } = next();
      if (letters === "" && isVisible) seen += 1;
      if (letters === "" && !isVisible) hidden += 1;
      if (seen > MAX_FILLERS) return false;
      // Nobody writes that; whatever it is for, it looks as if nothing stood there.
      if (hidden > MAX_INVISIBLE) return true;
      for (const letter of letters) {
        if (letter !== NAME[matched]) return false;
        matched += 1;
        if (matched === NAME.length) return true;
      }
    }
    return false;
  };
}

/** Invisible characters that stand for ASCII: people see nothing, and models may read the letters. */
const TAGS = 0xe0000;

function isTag(code: number): boolean {
  return code >= TAGS + 0x20 && code < TAGS + 0x7f;
}

function hasTags(text: string): boolean {
  return /[\u{e0020}-\u{e007e}]/u.test(text);
}

const MAX_ESCAPE_CHARS = 24;
/** What the named escapes of letters end with: `&uacute;`. */
const ACCENT = /^[a-zA-Z](?:acute|grave|uml|circ|tilde|ring|cedil|caron|macr|slash)$/;
/** A character as markup, JSON, code or an address write it. */
const ESCAPE =
  /^(?:&(?:amp;){0,2}#(?:0{0,4}(?<decimal>\d{1,7})|[xX]0{0,4}(?<hex>[0-9a-fA-F]{1,6}));?|&(?:amp;){0,2}(?<named>[a-zA-Z]{2,16});|\\{1,2}u\{(?<braced>[0-9a-fA-F]{1,6})\}|(?:\\{1,2}(?:u|U0000)|%u)(?<unicode>[0-9a-fA-F]{4})|(?:\\{1,2}x|%(?:25){0,2})(?<byte>[0-7][0-9a-fA-F]))/;

/** The escape that begins at `at`: what it stands for, and where it ends. */
function escapeAt(text: string, at: number): { readonly code: number; readonly to: number } | undefined {
  const first = text.charCodeAt(at);
  if (first !== 38 && first !== 92 && first !== 37) return undefined;
  const found = ESCAPE.exec(text.slice(at, at + MAX_ESCAPE_CHARS));
  if (found === null) return undefined;
  const { decimal, hex, braced, unicode, byte, named } = found.groups ?? {};
  const to = at + found[0].length;
  // Any other name is a sign between letters.
  if (named !== undefined) return { code: ACCENT.test(named) ? named.charCodeAt(0) : 47, to };
  const code = decimal === undefined ? Number.parseInt(hex ?? braced ?? unicode ?? byte ?? "", 16) : Number(decimal);
  return code > 0x10ffff ? undefined : { code, to };
}

/** The Latin letters that a character looks like, in lower case; nothing for what is no letter. */
function plainLetters(code: number): string {
  if (code < 128) {
    const char = String.fromCharCode(code);
    if (code >= 97 && code <= 122) return char;
    if (code >= 65 && code <= 90) return char.toLowerCase();
    return LOOK_ALIKE.get(char) ?? "";
  }
  // Letters in boxes and of flags, which have no plain form of their own.
  const boxed = BOXED.find((first) => code >= first && code < first + 26);
  if (boxed !== undefined) return String.fromCharCode(97 + code - boxed);
  const plain = String.fromCodePoint(code).normalize("NFKD").toLowerCase();
  let letters = "";
  for (const char of plain)
    letters += /[a-z]/.test(char) ? char : (LOOK_ALIKE.get(char) ?? (isLetter(char) ? char : ""));
  return letters;
}

function isLetter(char: string): boolean {
  return /\p{L}/u.test(char);
}

const BOXED = [0x1f130, 0x1f150, 0x1f170, 0x1f1e6];

/** Letters of other scripts and digits that look like those of the name. */
const LOOK_ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    u: "υսцᴜꭎꭒʋ∪⋃𐓶ꞟʉµμᑌꓴ",
    n: "ոпռηɴиήƞɳπᑎꓠ",
    t: "тτᴛ7†ⲧţŧƭ+ꓔ𐊗𐊱⊤⟙",
    r: "гᴦꭇʀɾяґⲅꮁᖇꓣ𐒴",
    s: "ѕꜱƽ5$ꮪʂ§ᔕꓢ𐊖",
    e: "еҽє3ɛəℯ℮ⲉҿԑᴇ€ꓰⴹ𐊆∃",
    d: "ԁժɗɖᴅꓒđðᗪᗞꓓ",
  }).flatMap(([letter, others]) => [...others].map((other): [string, string] => [other, letter])),
);

/** A name that stands in an attribute: no quotes, no brackets, one line. */
function asSource(from: string): string {
  return from.replace(/[^\w.:/@ -]/g, "_").slice(0, MAX_SOURCE_CHARS);
}
