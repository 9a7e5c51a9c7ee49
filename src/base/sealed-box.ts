/**
 * Content that only the holder of a key can read or change: AES-256-GCM with a fresh nonce. A box is nonce, ciphertext and tag, in
 * this order. Where keys come from, and how many boxes one of them may seal, is the business of the caller.
 */
export const BOX_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** What sealing adds to a content. */
export const BOX_EXTRA_BYTES = NONCE_BYTES + TAG_BYTES;
const CIPHER = "aes-256-gcm";

/** `label` is authenticated and not in the box: what was sealed under one cannot be opened under another. */
export function sealBox(key: Uint8Array, content: Uint8Array | string, label: string): Buffer {
  const { createCipheriv, randomBytes } = crypto();
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(label));
  const body = typeof content === "string" ? cipher.update(content, "utf8") : cipher.update(content);
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
}

/** Undefined when it was altered, cut, or sealed with another key or label. Throws for a key that has not 32 bytes. */
export function openBox(key: Uint8Array, box: Uint8Array, label: string): Buffer | undefined {
  if (box.length < BOX_EXTRA_BYTES) return undefined;
  const decipher = crypto()
    .createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(label))
    .setAuthTag(box.subarray(box.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined; // the contract: the one thing final() throws for is a tag that does not match
  }
}

/** Asked for when it is needed: most starts of the program seal nothing. */
function crypto() {
  return process.getBuiltinModule("node:crypto");
}
