/** A small generator of pseudo-random choices: the same seed gives the same corpus. */

export interface SeededRandom {
  /** 0 to `below - 1`. */
  integer(below: number): number;
  pick<T>(items: readonly T[]): T;
  chars(alphabet: string, count: number): string;
}

export const ALPHABETS = {
  alnum: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
  url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
  hex: "0123456789abcdef",
  upperHex: "0123456789ABCDEF",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  lower: "abcdefghijklmnopqrstuvwxyz0123456789",
  letters: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  digits: "0123456789",
  base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  base32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  lowerBase32: "abcdefghijklmnopqrstuvwxyz234567",
  base58: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  bech32: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  password: "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!#%*+=?_~^",
} as const;

export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    integer,
    // Callers pass lists that are not empty.
    pick: (items) => items[integer(items.length)]!,
    chars: (alphabet, count) => Array.from({ length: count }, () => alphabet[integer(alphabet.length)]).join(""),
  };
}
