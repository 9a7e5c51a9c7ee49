/** Bytes that follow from a seed: ids and random values of a recording come out again. Not for keys. */
import { hash } from "node:crypto";
import type { Random } from "#base";

export function createSeededRandom(seed: string): Random {
  let block = 0;
  let rest = new Uint8Array(0);
  return {
    bytes(count) {
      const bytes = new Uint8Array(count);
      let filled = 0;
      while (filled < count) {
        if (rest.length === 0) {
          rest = new Uint8Array(hash("sha256", `${seed}:${block}`, "buffer"));
          block += 1;
        }
        const part = rest.subarray(0, count - filled);
        bytes.set(part, filled);
        filled += part.length;
        rest = rest.subarray(part.length);
      }
      return bytes;
    },
  };
}
