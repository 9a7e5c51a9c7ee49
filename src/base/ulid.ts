/** ULIDs (Crockford base32, 26 characters): monotonic within one factory, or derived from a seed. Knows no prefixes. */
import type { Clock, Random } from "./ports.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARS = 10;
const RANDOM_BYTES = 10;

/** Returns the next ULID. Strictly increasing for one factory, also when the clock stands still or goes backwards. */
export type UlidFactory = () => string;

export function createUlidFactory(ports: { clock: Pick<Clock, "now">; random: Random }): UlidFactory {
  let lastTime = -1;
  let entropy = new Uint8Array(RANDOM_BYTES);
  return () => {
    const now = ports.clock.now();
    if (now > lastTime) {
      lastTime = now;
      entropy = ports.random.bytes(RANDOM_BYTES);
    } else if (!increment(entropy)) {
      lastTime += 1;
      entropy = ports.random.bytes(RANDOM_BYTES);
    }
    return encodeTime(lastTime) + encodeBytes(entropy);
  };
}

/** The ULID whose 128 bits are the first 16 bytes of `digest`; its leading bits are cleared so that it stays in range. */
export function ulidFromDigest(digest: Uint8Array): string {
  if (digest.length < 16) throw new RangeError(`a ULID needs 16 bytes of digest, got ${digest.length}`);
  let value = 0n;
  for (let i = 0; i < 16; i++) value = (value << 8n) | BigInt(digest[i] ?? 0);
  let text = "";
  for (let i = 0; i < 26; i++) {
    text = ALPHABET[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text;
}

function encodeTime(time: number): string {
  let rest = time;
  let text = "";
  for (let i = 0; i < TIME_CHARS; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** 80 bits as 16 characters, five bytes (eight characters) at a time. */
function encodeBytes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < RANDOM_BYTES; at += 5) {
    let group = 0;
    for (let i = 0; i < 5; i++) group = group * 256 + (bytes[at + i] ?? 0);
    let chars = "";
    for (let i = 0; i < 8; i++) {
      chars = ALPHABET[group % 32] + chars;
      group = Math.floor(group / 32);
    }
    text += chars;
  }
  return text;
}

/** Adds one to a big-endian number in place; false when it overflowed. */
function increment(bytes: Uint8Array): boolean {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const value = bytes[i] ?? 0;
    bytes[i] = (value + 1) & 0xff;
    if (value !== 0xff) return true;
  }
  return false;
}
