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
  BRACKET.lastIndex = 0;
  for (let found = BRACKET.exec(text); found !== null; found = BRACKET.exec(text)) {
    if (!isNameAt(text, BRACKET.lastIndex)) continue;
    result += `${text.slice(done, found.index)}[`;
    done = BRACKET.lastIndex;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** What a reader may take for the bracket of a tag: its look-alikes, and the ways to write it where it must be escaped. */
const BRACKET =
  /[<\u00ab\u02c2\u1438\u16b2\u2039\u226a\u22d6\u2329\u276c\u276e\u2770\u27e8\u27ea\u2991\u29fc\u3008\u300a\ufe3d\ufe3f\ufe64\uff1c]|&(?:lt|#0{0,7}60|#[xX]0{0,6}3[cC]);?|&LT;?|\\u003[cC]|\\x3[cC]|\\074|%3[cC]/g;

function isNameAt(text: string, from: number): boolean {
  let matched = 0;
  let fillers = 0;
  for (let at = from; at < text.length; ) {
    const code = text.codePointAt(at)!;
    at += code > 0xffff ? 2 : 1;
    const letters = plainLetters(code);
    if (letters === "") {
      fillers += 1;
      if (fillers > MAX_FILLERS) return false;
      continue;
    }
    for (const letter of letters) {
      if (letter !== NAME[matched]) return false;
      matched += 1;
      if (matched === NAME.length) return true;
    }
  }
  return false;
}

/** The Latin letters that a character looks like, in lower case; nothing for what is no letter. */
function plainLetters(code: number): string {
  if (code < 128) {
    const char = String.fromCharCode(code);
    if (code >= 97 && code <= 122) return char;
    if (code >= 65 && code <= 90) return char.toLowerCase();
    return LOOK_ALIKE.get(char) ?? "";
  }
  const plain = String.fromCodePoint(code).normalize("NFKD").toLowerCase();
  let letters = "";
  for (const char of plain)
    letters += /[a-z]/.test(char) ? char : (LOOK_ALIKE.get(char) ?? (isLetter(char) ? char : ""));
  return letters;
}

function isLetter(char: string): boolean {
  return /\p{L}/u.test(char);
}

/** Letters of other scripts and digits that look like those of the name. */
const LOOK_ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    u: "υսцᴜꭎꭒʋ∪⋃𐓶ꞟʉµμ",
    n: "ոпռηɴиήƞɳπ",
    t: "тτᴛ7†ⲧţŧƭ+",
    r: "гᴦꭇʀɾяґⲅꮁ",
    s: "ѕꜱƽ5$ꮪʂ§",
    e: "еҽє3ɛəℯ℮ⲉҿԑᴇ€",
    d: "ԁժɗɖᴅꓒđð",
  }).flatMap(([letter, others]) => [...others].map((other): [string, string] => [other, letter])),
);

/** A name that stands in an attribute: no quotes, no brackets, one line. */
function asSource(from: string): string {
  return from.replace(/[^\w.:/@ -]/g, "_").slice(0, MAX_SOURCE_CHARS);
}
