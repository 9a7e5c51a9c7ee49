/** A set of words as the tables of this program write it: one text with blanks between them. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
