/** Unicode classes and case of single runes, by Go's rules: one rune maps to one rune. */
import { encodeRune, isAscii, runesOf } from "./utf8.ts";

const classes = {
  letter: /^\p{L}$/u,
  digit: /^\p{Nd}$/u,
  space: /^\p{White_Space}$/u,
  lower: /^\p{Ll}$/u,
  upper: /^\p{Lu}$/u,
  title: /^\p{Lt}$/u,
};

export type RuneClass = keyof typeof classes;

/** The first 128 runes, of which almost all text consists. */
const ascii: Readonly<Record<RuneClass, readonly boolean[]>> = {
  letter: table((c) => /[A-Za-z]/.test(c)),
  digit: table((c) => /[0-9]/.test(c)),
  space: table((c) => /[\t-\r ]/.test(c)),
  lower: table((c) => /[a-z]/.test(c)),
  upper: table((c) => /[A-Z]/.test(c)),
  title: table(() => false),
};

function table(test: (c: string) => boolean): boolean[] {
  return Array.from({ length: 128 }, (_, i) => test(String.fromCharCode(i)));
}

export function isRune(rune: number, cls: RuneClass): boolean {
  if (rune < 128) return ascii[cls][rune] ?? false;
  return classes[cls].test(String.fromCodePoint(rune));
}

export function isSpace(rune: number): boolean {
  return isRune(rune, "space");
}

/** A mapping to more than one rune has no place here: the rune stays. */
function single(rune: number, mapped: string): number {
  const to = mapped.codePointAt(0) ?? rune;
  return mapped.length === (to > 0xffff ? 2 : 1) ? to : rune;
}

function upperRune(rune: number): number {
  return single(rune, String.fromCodePoint(rune).toUpperCase());
}

export function lowerRune(rune: number): number {
  // The one rune whose simple lower case is not its full one.
  if (rune === 0x130) return 0x69;
  return single(rune, String.fromCodePoint(rune).toLowerCase());
}

/** Digraphs with a title case of their own: upper, title and lower form follow one another. */
const digraphs = [0x1c4, 0x1c7, 0x1ca, 0x1f1];

export function titleRune(rune: number): number {
  for (const first of digraphs) if (rune >= first && rune <= first + 2) return first + 1;
  // Georgian letters have an upper case that titles do not use.
  if (rune >= 0x10d0 && rune <= 0x10ff) return rune;
  return upperRune(rune);
}

export function isCased(rune: number): boolean {
  if (rune < 128) return isRune(rune, "letter");
  // Sharp s folds with a capital that upper case does not use, dotted I with nothing.
  if (rune === 0xdf || rune === 0x130) return rune === 0xdf;
  return upperRune(rune) !== rune || lowerRune(rune) !== rune;
}

export function toUpper(s: string): string {
  return isAscii(s) ? s.toUpperCase() : mapRunes(s, upperRune);
}

export function toLower(s: string): string {
  return isAscii(s) ? s.toLowerCase() : mapRunes(s, lowerRune);
}

/** A byte string with each rune replaced. */
export function mapRunes(s: string, f: (rune: number, index: number) => number): string {
  return runesOf(s)
    .map((r, i) => encodeRune(f(r, i)))
    .join("");
}
