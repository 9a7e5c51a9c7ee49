/** The examples of redaction rules with something in the places that they leave open. */

const FILLER_CHARS = 512;
const ALPHABETS = {
  a: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  h: "0123456789abcdef",
  H: "0123456789ABCDEF",
  u: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  l: "abcdefghijklmnopqrstuvwxyz0123456789",
  L: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  d: "0123456789",
  b: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  t: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  m: "abcdefghijklmnopqrstuvwxyz234567",
  s: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  g: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
} as const;

/** Looks random and is always the same. */
function filler(name: keyof typeof ALPHABETS): string {
  const alphabet = ALPHABETS[name];
  let seed = alphabet.length;
  let text = "";
  for (let at = 0; at < FILLER_CHARS; at++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    text += alphabet[(seed >> 12) % alphabet.length];
  }
  return text;
}

/** Fills an example, always in the same way. With `placeholder`, all of it is filled with x instead. */
export function fillExample(example: string, placeholder = false): string {
  let used = 0;
  return example
    .replaceAll("<uuid>", "<h8>-<h4>-4<h3>-a<h3>-<h12>")
    .replace(/<([ahHulLdbtmsg])(\d+)>/g, (_, set: keyof typeof ALPHABETS, digits: string) => {
      const count = Number(digits);
      const chars = filler(set);
      const from = used % (FILLER_CHARS / 2);
      used += count;
      return placeholder ? "x".repeat(count) : chars.slice(from, from + count).padEnd(count, chars);
    });
}
