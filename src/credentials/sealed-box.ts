/** AES-256-GCM around one secret. The label is authenticated: what was sealed under one does not open under another. */
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function sealBox(key: Uint8Array, content: Uint8Array, label: string): Buffer {
  const { createCipheriv, randomBytes } = crypto();
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(label));
  return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined when it was altered, cut, or sealed with another key or label. */
export function openBox(key: Uint8Array, sealed: Uint8Array, label: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = crypto()
    .createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(label))
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined; // the contract: the one thing final() throws for is a tag that does not match
  }
}

/** Loaded with the first box: the start of the credential helper does not wait for it. */
function crypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto");
}
