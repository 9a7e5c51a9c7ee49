/** Forms of secrets filled with pseudo-random characters; the notation is explained in `vendor-formats.ts`. */
import { ALPHABETS, type SeededRandom } from "./seeded-random.ts";

const CODES: Readonly<Record<string, string>> = {
  A: ALPHABETS.alnum,
  W: ALPHABETS.url,
  w: `${ALPHABETS.alnum}_`,
  h: ALPHABETS.hex,
  H: ALPHABETS.upperHex,
  X: "0123456789abcdefABCDEF",
  U: ALPHABETS.upper,
  l: ALPHABETS.lower,
  L: ALPHABETS.letters,
  c: "abcdefghijklmnopqrstuvwxyz",
  C: "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
  d: ALPHABETS.digits,
  b: ALPHABETS.base64,
  t: ALPHABETS.base32,
  m: ALPHABETS.lowerBase32,
  s: ALPHABETS.base58,
  g: ALPHABETS.bech32,
};

export function fillForm(form: string, random: SeededRandom): string {
  return form.replace(/\{([^}]+)\}/g, (_, spec: string) => {
    if (spec === "uuid") return uuid(random);
    if (spec.includes("|")) return random.pick(spec.split("|"));
    const [least = 0, most = least] = spec.slice(1).split("-").map(Number);
    return random.chars(CODES[spec.charAt(0)] ?? ALPHABETS.alnum, least + random.integer(most - least + 1));
  });
}

export function uuid(random: SeededRandom): string {
  const hex = (count: number): string => random.chars(ALPHABETS.hex, count);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${random.pick(["8", "9", "a", "b"])}${hex(3)}-${hex(12)}`;
}
