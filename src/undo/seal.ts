/** Encryption of everything that undo keeps on disk: AES-256-GCM, and keyed names that say nothing about their content. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { ReasonError } from "#protocol";

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What sealing adds to a content. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;
const CIPHER = "aes-256-gcm";

export interface Seal {
  /** Name of a content: the same content has the same name, and only under this key. 64 hexadecimal digits. */
  name(content: Uint8Array | string): string;
  /** `label` is authenticated: what was sealed under one cannot be opened under another. */
  seal(content: Uint8Array, label: string): Buffer;
  /** Undefined when it was altered, cut, or sealed with another key or label. */
  open(sealed: Uint8Array, label: string): Buffer | undefined;
}

/** Throws KeyInvalid unless `key` has 32 bytes. */
export function createSeal(key: Uint8Array): Seal {
  if (key.length !== KEY_BYTES) {
    throw new ReasonError("KeyInvalid", { detail: `the key for undo must have ${KEY_BYTES} bytes, not ${key.length}` });
  }
  const contentKey = derive(key, "harness undo contents");
  const nameKey = derive(key, "harness undo names");
  return {
    name: (content) => createHmac("sha256", nameKey).update(content).digest("hex"),
    seal(content, label) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, contentKey, nonce).setAAD(Buffer.from(label));
      return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, label) {
      if (sealed.length < SEAL_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, contentKey, sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(label))
        .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        return undefined; // the contract: the one thing final() throws for is a tag that does not match
      }
    },
  };
}

function derive(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, new Uint8Array(0), purpose, KEY_BYTES));
}
