/**
 * A checkpoint: at this event the chain of this session had this hash, said by the holder of a key. Made at the end of each
 * turn, written into exports, and kept outside as an anchor. Pure; where keys lie is in `signing-key.ts`.
 */
import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { SessionId } from "#protocol";
import { isHex } from "./evidence.ts";

const KEY_ID_CHARS = 32;
/** What stands before the 32 bytes of an Ed25519 key in its standard (SPKI) form. */
const SPKI_PREFIX_HEX = "302a300506032b6570032100";
const ANCHOR_WORD = "harness-anchor-1";

/** What is signed. */
export interface CheckpointFacts {
  readonly session: SessionId;
  /** The event that the hash covers last. */
  readonly event: number;
  readonly hash: string;
  readonly ts: string;
}

/** Hash, key and signature are lower-case hex, as in `x_checkpoint` lines. */
export interface Checkpoint extends CheckpointFacts {
  readonly key_id: string;
  readonly public_key: string;
  readonly signature: string;
}

/** Makes checkpoints with one key. */
export interface Signer {
  /** Throws KeyInvalid when the key cannot be used; after that it can. */
  ready(): void;
  sign(facts: CheckpointFacts): Checkpoint;
}

/** The text under a signature, one field on each line. */
export function checkpointText({ session, event, hash, ts }: CheckpointFacts, keyId: string): string {
  return ["harness-checkpoint-1", session, event, hash, ts, keyId].join("\n");
}

/** How a key is called in messages: the beginning of the hash of its 32 bytes. */
export function keyIdOf(publicKey: string): string {
  return hash("sha256", Buffer.from(publicKey, "hex")).slice(0, KEY_ID_CHARS);
}

export function isPublicKey(text: string): boolean {
  return isHex(text, 64);
}

/** The raw 32 bytes of an Ed25519 key in hex. */
export function publicKeyHex(key: KeyObject): string {
  return createPublicKey(key).export({ format: "der", type: "spki" }).toString("hex").slice(SPKI_PREFIX_HEX.length);
}

/** Whether the signature is that of the key in the checkpoint; whether that key is to be trusted is another question. */
export function isSignedByItsKey(checkpoint: Checkpoint): boolean {
  const { public_key, key_id, signature } = checkpoint;
  if (keyIdOf(public_key) !== key_id) return false;
  const key = Buffer.from(SPKI_PREFIX_HEX + public_key, "hex");
  const text = Buffer.from(checkpointText(checkpoint, key_id), "utf8");
  try {
    return verify(null, text, { key, format: "der", type: "spki" }, Buffer.from(signature, "hex"));
  } catch {
    return false; // the bytes are no key
  }
}

/** Undefined when it is not exactly a checkpoint. */
export function parseCheckpoint(raw: unknown): Checkpoint | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  // Every field is checked below.
  const { session, event, hash, ts, key_id, public_key, signature } = raw as Partial<Record<string, unknown>>;
  if (Object.keys(raw).length !== 7) return undefined;
  if (typeof session !== "string" || !SessionId.is(session)) return undefined;
  if (!Number.isSafeInteger(event) || Number(event) < 1) return undefined;
  if (typeof ts !== "string" || /[\s]/.test(ts)) return undefined;
  if (!isHex(hash, 64) || !isHex(key_id, KEY_ID_CHARS) || !isHex(public_key, 64) || !isHex(signature, 128)) {
    return undefined;
  }
  return { session, event: Number(event), hash, ts, key_id, public_key, signature };
}

/** One line for a file or a git note outside, without its newline. */
export function anchorLine({ session, event, hash, ts, key_id, public_key, signature }: Checkpoint): string {
  return [ANCHOR_WORD, session, event, hash, ts, key_id, public_key, signature].join(" ");
}

/** Blank lines and lines that begin with `#` are skipped; any other that is no anchor is told by its number. */
export function parseAnchors(text: string): {
  readonly anchors: readonly Checkpoint[];
  readonly wrong: readonly number[];
} {
  const anchors: Checkpoint[] = [];
  const wrong: number[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [word, session, event, hash, ts, key_id, public_key, signature, ...rest] = line.split(" ");
    const anchor = /^[1-9]\d*$/.test(event ?? "")
      ? parseCheckpoint({ session, event: Number(event), hash, ts, key_id, public_key, signature })
      : undefined;
    if (word !== ANCHOR_WORD || rest.length > 0 || anchor === undefined) wrong.push(index + 1);
    else anchors.push(anchor);
  }
  return { anchors, wrong };
}
