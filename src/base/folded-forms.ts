/**
 * How a secret looks once a dump or a fold has taken it apart: reversed, rotated by 13 letters, and in hex, octal, decimal, both
 * alphabets of base32, and base64. Only lowercase letters and digits are left of each form, so that it does not matter where lines were broken and what stands between the bytes.
 */

/** A shorter form would be found in ordinary words that follow one another. */
const FOLDED_MIN_CHARS = 12;
const BASE32_ALPHABETS = ["abcdefghijklmnopqrstuvwxyz234567", "0123456789abcdefghijklmnopqrstuv"];
const WORD_BYTES = 2;

/** What is left of a text: its ASCII letters and digits, in lower case. */
export function foldText(text: string): string {
  return text.replace(/[^A-Za-z0-9]+/g, "").toLowerCase();
}

/** Each form once; none for a value whose letters and digits are too few. */
export function foldedForms(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
  const forms = [
    value,
    [...value].reverse().join(""),
    rotated(value),
    hex.join(""),
    hex.map((byte) => `0x${byte}`).join(""),
    hex.map((byte) => `x${byte}`).join(""),
    [...bytes].map((byte) => byte.toString(8).padStart(3, "0")).join(""),
    [...bytes].map((byte) => byte.toString(8)).join(""),
    [...bytes].join(""),
    ...[0, 1].flatMap((offset) => {
      const words = wordsFrom(bytes, offset);
      return [
        words.map((word) => word.toString(16).padStart(4, "0")).join(""),
        words.map((word) => word.toString(8).padStart(6, "0")).join(""),
      ];
    }),
    ...[0, 1, 2].map((offset) => base64From(bytes, offset)),
    ...[0, 1, 2, 3, 4].flatMap((offset) => BASE32_ALPHABETS.map((alphabet) => base32From(bytes, offset, alphabet))),
  ];
  return [...new Set(forms.map(foldText))].filter(({ length }) => length >= FOLDED_MIN_CHARS);
}

function rotated(value: string): string {
  return value
    .toLowerCase()
    .replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97));
}

/** The words of `od` and `hexdump`, which have the lower byte first. A byte that shares its word with another text is left out. */
function wordsFrom(bytes: Buffer, offset: number): number[] {
  const count = Math.floor((bytes.length - offset) / WORD_BYTES);
  return Array.from({ length: count }, (_, at) => bytes.readUInt16LE(offset + at * WORD_BYTES));
}

/** The characters that are the same whatever stands around the secret, when `offset` bytes stand before it. */
function base64From(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function base32From(bytes: Buffer, offset: number, alphabet: string): string {
  const bits = [...Buffer.alloc(offset), ...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const first = Math.ceil((offset * 8) / 5);
  const last = Math.floor(bits.length / 5);
  let text = "";
  for (let at = first; at < last; at++) text += alphabet[Number.parseInt(bits.slice(at * 5, at * 5 + 5), 2)];
  return text;
}
