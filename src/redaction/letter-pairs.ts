/**
 * Whether letters form words. Of all pairs of letters fewer than half occur in words and names; letters drawn at random have many of
 * the others. Case does not count, because names run words together.
 */

/** Each letter with those that follow it in words: the pairs that make up 96 % of the words in documentation and code. */
const PAIRS = (
  "aabcdefgiklmnprstuvwy babcdefilorsu cabcdehikloprstu dabcdefgilorsu eabcdefgilmnopqrstuvwxy fabcdefiloruy " +
  "gaeghilnoprsu haeiortu iabcdefglmnoprstvxz jaeos kaeis ladeilostuy mabceilmopsu nacdefgiklnopstuvy " +
  "oabcdfgiklmnoprstuvw paehiloprstu qu rabcdefgiklmnoprstuvy sacehiklmnopstuy tacehilmoprstuy uabcdegilmnprst vaeio " +
  "waehinors xceipt yaeinps zae"
).split(" ");

const LETTERS = 26;
const FIRST = 97;
const IN_WORDS = new Uint8Array(LETTERS * LETTERS);
for (const [first = "", ...others] of PAIRS) {
  for (const other of others) IN_WORDS[(first.charCodeAt(0) - FIRST) * LETTERS + other.charCodeAt(0) - FIRST] = 1;
}

/** With fewer letters, too many words would be taken for random ones. */
const LEAST_CHARS = 12;
const LEAST_SHARE_OF_OTHERS = 0.3;
const CASE_BIT = 32;

/** True for ASCII letters alone that cannot be words; false for everything else. */
export function isRandomLetters(value: string): boolean {
  const { length } = value;
  if (length < LEAST_CHARS) return false;
  let others = 0;
  let before = -1;
  for (let at = 0; at < length; at++) {
    const letter = (value.charCodeAt(at) | CASE_BIT) - FIRST;
    if (letter < 0 || letter >= LETTERS) return false;
    if (before >= 0) others += 1 - IN_WORDS[before * LETTERS + letter]!;
    before = letter;
  }
  return others >= LEAST_SHARE_OF_OTHERS * (length - 1);
}
