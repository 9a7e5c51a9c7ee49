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
  return digest("sha256", Buffer.concat([salt, Buffer.from(payload, "utf8")]), "buffer");
}

/** The hash that the next event carries. */
export function eventHash({ session, id, kind, ts, originator }: EventFacts, prev: Buffer, content: Buffer): Buffer {
  const facts = JSON.stringify([session, id, kind, ts, originator]);
  return digest("sha256", Buffer.concat([prev, content, Buffer.from(facts, "utf8")]), "buffer");
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
