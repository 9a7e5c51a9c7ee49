/**
 * The chain that makes the log tamper-evident: each event carries the hash of the one before it. A hash covers an event's
 * metadata and a salted hash of its content, so that content can expire and the chain still verifies. Pure.
 */
import { hash as digest, randomBytes } from "node:crypto";
import type { SessionId } from "#protocol";

export const SALT_BYTES = 16;
/** Salts are drawn for many events at once: one call to the system for each would cost more than the hashing. */
const SALTS_PER_DRAW = 256;

/** What the hash of an event covers besides its content. */
export interface EventFacts {
  readonly session: SessionId;
  readonly id: number;
  readonly kind: string;
  readonly ts: string;
  readonly originator: string | null;
}

export interface EventEvidence {
  /** Hash of the event before it; of the session's name for the first. */
  readonly prev: Buffer;
  readonly salt: Buffer;
  readonly content: Buffer;
}

/** Where the chain of a session begins. */
export function chainStart(session: SessionId): Buffer {
  return digest("sha256", `harness-log-1\n${session}`, "buffer");
}

/** `payload` is the JSON text that is stored. */
export function contentHash(salt: Buffer, payload: string): Buffer {
  return hashOf(salt, undefined, payload);
}

/** The hash that the next event carries. */
export function eventHash({ session, id, kind, ts, originator }: EventFacts, prev: Buffer, content: Buffer): Buffer {
  return hashOf(prev, content, JSON.stringify([session, id, kind, ts, originator]));
}

/** Room for most events; written before each use, so that nothing is carried from one to the next. */
const SCRATCH_BYTES = 16 * 1024;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
/** A UTF-16 unit becomes at most three bytes. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * SHA-256 of the parts one after the other. This runs twice for each event on its way to the disk: putting the parts
 * together in one place and taking the digest as text costs half of what joining buffers does.
 */
function hashOf(first: Buffer, second: Buffer | undefined, text: string): Buffer {
  const start = first.length + (second?.length ?? 0);
  if (start + text.length * MAX_BYTES_PER_CHAR > SCRATCH_BYTES) {
    const parts = second === undefined ? [first] : [first, second];
    return digest("sha256", Buffer.concat([...parts, Buffer.from(text, "utf8")]), "buffer");
  }
  scratch.set(first, 0);
  if (second !== undefined) scratch.set(second, first.length);
  const end = start + scratch.write(text, start, "utf8");
  return Buffer.from(digest("sha256", scratch.subarray(0, end), "latin1"), "latin1");
}

/** Exactly so many lower-case hex digits: how hashes, salts, keys and signatures are written. */
export function isHex(value: unknown, chars: number): value is string {
  return typeof value === "string" && value.length === chars && /^[0-9a-f]*$/.test(value);
}

/** Returns a fresh random salt at each call. */
export function createSalts(draw: (bytes: number) => Buffer = randomBytes): () => Buffer {
  let pool: Buffer = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (at >= pool.length) {
      pool = draw(SALT_BYTES * SALTS_PER_DRAW);
      at = 0;
    }
    at += SALT_BYTES;
    return pool.subarray(at - SALT_BYTES, at);
  };
}
