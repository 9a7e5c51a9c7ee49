/**
 * Foreign text for a person's eyes: every character that is not plainly visible is written out, none is dropped. Text that only
 * spells such an escape is written out as well, so that nobody can forge one. Apply it once: a second pass escapes the escapes.
 */
import { once } from "./once.ts";

/** What no terminal shows as a mark of its own: controls, formats, private and unassigned ones, odd spaces, fillers, blanks. */
const HIDDEN = String.raw`\p{C}\p{Z}\p{DI}\u{2800}\u{FFFC}\u{1D159}\u{16FE4}\u{13441}\u{13442}`;
/** More marks than this on one letter are no writing. */
const MARKS_MAX = 4;
const LETTER_WITH_MARKS = String.raw`[[\p{L}\p{N}]--[${HIDDEN}]][\p{M}--[${HIDDEN}]]{1,${MARKS_MAX}}`;
/** Pictures with a selector, a skin tone or joined to others; joiners inside words of scripts that need them. */
const WRITTEN_WITH_JOINERS = String.raw`\p{ExtPict}[\u{FE0F}\p{EMod}]?(?:\u{200D}\p{ExtPict}[\u{FE0F}\p{EMod}]?){0,4}|[[\p{L}\p{M}]--[\p{sc=Latn}\p{sc=Zinh}${HIDDEN}]][\u{200C}\u{200D}](?=\p{L})`;
const FORGED = String.raw`⟨(?=U\+)`;

/** Made with the first text that needs them: they cost the start of every command a millisecond or two. */
const strict = once(() => new RegExp(String.raw`(${LETTER_WITH_MARKS})|${FORGED}|[[${HIDDEN}\p{M}⇥⏎]--[ ]]`, "gv"));
const prose = once(() => {
  const kept = `${LETTER_WITH_MARKS}|${WRITTEN_WITH_JOINERS}`;
  return new RegExp(String.raw`(${kept})|${FORGED}|[[${HIDDEN}\p{M}]--[\n\t\p{Zs}]]`, "gv");
});
const hidden = once(() => new RegExp(String.raw`[[${HIDDEN}]--[ \n]]`, "gv"));
const plainLine = /^[\x20-\x7e]*$/;
const plainLines = /^[\x20-\x7e\n]*$/;

/** On one line: a line feed is `⏎`, a tab `⇥   `, other hidden characters `⟨U+200B⟩`. Injective; at most eight times as long. */
export function visibleLine(text: string): string {
  return plainLine.test(text) ? text : text.replace(strict(), (found, plain?: string) => plain ?? written(found, "⏎"));
}

/** The same with line feeds as they are. Whoever shows it puts a prefix before each line, or it can imitate lines of ours. */
export function visibleLines(text: string): string {
  return plainLines.test(text)
    ? text
    : text.replace(strict(), (found, plain?: string) => plain ?? written(found, "\n"));
}

/**
 * A row of a list, which is read and not decided upon: a line feed is `⏎`, and tabs stay, because redaction knows some secrets by the
 * tabs before them. Other hidden characters are written out.
 */
export function visibleRow(text: string): string {
  return plainLine.test(text)
    ? text
    : text.replace(prose(), (found, plain?: string) => plain ?? written(found, "⏎")).replaceAll("\n", "⏎");
}

/**
 * An answer of a model, which is read and not decided upon, and which may go to a file: tabs, spaces of any kind, composed emoji
 * and the joiners of a script stay. Everything else is written out as above.
 */
export function visibleProse(text: string): string {
  return plainLines.test(text) ? text : text.replace(prose(), (found, plain?: string) => plain ?? written(found, "\n"));
}

/** JSON of the same value, with hidden characters as escapes of JSON. */
export function visibleJson(json: string): string {
  return json.replace(hidden(), (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );
}

/** One escape, or one character with its marks: where a line of visible text may be broken. */
export const visibleUnits = /⟨U\+[0-9A-F]+⟩|\P{M}\p{M}*|\p{M}/gu;

function written(found: string, lineFeed: string): string {
  if (found === "\n") return lineFeed;
  if (found === "\t") return "⇥   ";
  return `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
