/**
 * The texts that were agreed to, kept so that a later change can be shown as a difference. Sealed with a key of their own: a
 * project may name a file with a secret in it, and its copy must not lie around readable. Losing one costs the difference alone.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Of one project; what does not fit is not kept. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NAME = /^[0-9a-f]{64}$/;

export interface AckedTexts {
  /** By the SHA-256 of the file. Undefined when it was not kept or cannot be opened. */
  read(sha256: string): string | undefined;
  /** Keeps these and lets go of all others. */
  keep(texts: ReadonlyMap<string, string | undefined>): void;
}

export function createAckedTexts(directory: string, key: () => Uint8Array): AckedTexts {
  const read: AckedTexts["read"] = (sha256) => {
    try {
      return opened(readFileSync(join(directory, sha256)), sha256, key());
    } catch {
      return undefined; // not kept, or not by us: the whole file is shown instead
    }
  };
  return {
    read,
    keep(texts) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      for (const name of readdirSync(directory)) {
        if (!NAME.test(name) || !texts.has(name)) rmSync(join(directory, name), { recursive: true, force: true });
      }
      const there = readdirSync(directory);
      let bytes = there.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
      for (const [sha256, text] of texts) {
        if (text === undefined || (there.includes(sha256) && read(sha256) !== undefined)) continue;
        const box = sealed(text, sha256, key());
        if (bytes + box.length > MAX_TEXT_BYTES) continue;
        const draft = join(directory, `${sha256}.${process.pid}.tmp`);
        writeFileSync(draft, box, { mode: 0o600 });
        renameSync(draft, join(directory, sha256));
        bytes += box.length;
      }
    },
  };
}

function sealed(text: string, sha256: string, key: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(sha256));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function opened(box: Buffer, sha256: string, key: Uint8Array): string {
  const decipher = createDecipheriv("aes-256-gcm", key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(sha256));
  decipher.setAuthTag(box.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
}
