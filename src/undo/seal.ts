/** Encryption of everything that undo keeps on disk: AES-256-GCM, and keyed names that say nothing about their content. */
import { createHmac, hkdfSync } from "node:crypto";
import { BOX_KEY_BYTES, openBox, sealBox } from "#base";
import { ReasonError } from "#protocol";

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
  if (key.length !== BOX_KEY_BYTES) {
    throw new ReasonError("KeyInvalid", `the key for undo must have ${BOX_KEY_BYTES} bytes, not ${key.length}`);
  }
  const contentKey = derive(key, "harness undo contents");
  const nameKey = derive(key, "harness undo names");
  return {
    name: (content) => createHmac("sha256", nameKey).update(content).digest("hex"),
    seal: (content, label) => sealBox(contentKey, content, label),
    open: (sealed, label) => openBox(contentKey, sealed, label),
  };
}

function derive(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, new Uint8Array(0), purpose, BOX_KEY_BYTES));
}
