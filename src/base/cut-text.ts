/**
 * The beginning of a text, up to the last blank that fits: what is cut in the middle of a word may be a secret that nobody
 * recognises any more. Nothing is left of a text that is one long word.
 */
export function cutAtBlank(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars + 1);
  let end = cut.length;
  while (end > 0 && !/\s/.test(cut[end - 1]!)) end -= 1;
  return cut.slice(0, end).trimEnd();
}
