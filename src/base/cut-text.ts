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
