/** Takes one known value out of a stream of bytes, also where it is cut by the border of two chunks. Nothing else is held back. */
import { redactionMarker } from "./redaction-marker.ts";

export interface Concealer {
  write(chunk: Buffer): Buffer;
  /** What was held back, when no more comes. */
  end(): Buffer;
}

/** A shorter value occurs in ordinary text: to cut it out would destroy that, and tell the value. */
export const CONCEAL_MIN_BYTES = 8;
const MARKER = Buffer.from(redactionMarker("key"));
const NOTHING = Buffer.alloc(0);

export function createConcealer(secret: Uint8Array): Concealer {
  if (secret.length < CONCEAL_MIN_BYTES) return { write: (chunk) => chunk, end: () => NOTHING };
  const wanted = Buffer.from(secret.buffer, secret.byteOffset, secret.length);
  let held: Buffer = NOTHING;
  return {
    write(chunk) {
      const data = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const clean: Buffer[] = [];
      let from = 0;
      for (let at = data.indexOf(wanted); at >= 0; at = data.indexOf(wanted, from)) {
        clean.push(data.subarray(from, at), MARKER);
        from = at + wanted.length;
      }
      const cut = beginningAtEnd(data, from, wanted);
      held = data.subarray(cut);
      if (clean.length === 0) return data.subarray(0, cut);
      return Buffer.concat([...clean, data.subarray(from, cut)]);
    },
    end() {
      const rest = held;
      held = NOTHING;
      return rest;
    },
  };
}

/** Where a beginning of the value stands that runs to the end of the data; the end itself when there is none. */
function beginningAtEnd(data: Buffer, from: number, wanted: Buffer): number {
  const first = wanted[0] ?? 0;
  const earliest = Math.max(from, data.length - wanted.length + 1);
  for (let at = data.indexOf(first, earliest); at >= 0; at = data.indexOf(first, at + 1)) {
    if (data.compare(wanted, 0, data.length - at, at) === 0) return at;
  }
  return data.length;
}
