/**
 * The texts that were agreed to, kept so that a later change can be shown as a difference. Sealed with a key of their own: a
 * project may name a file with a secret in it, and its copy must not lie around readable. Losing one costs the difference alone.
 */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openBox, sealBox } from "#base";
import { makePrivateDirectory, writePrivateFile } from "#world";

/** Of one project; what does not fit is not kept. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;
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
      return openBox(key(), readFileSync(join(directory, sha256)), sha256)?.toString("utf8");
    } catch {
      return undefined; // not kept, or not by us: the whole file is shown instead
    }
  };
  return {
    read,
    keep(texts) {
      makePrivateDirectory(directory);
      for (const name of readdirSync(directory)) {
        if (!NAME.test(name) || !texts.has(name)) rmSync(join(directory, name), { recursive: true, force: true });
      }
      const there = readdirSync(directory);
      let bytes = there.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
      for (const [sha256, text] of texts) {
        if (text === undefined || (there.includes(sha256) && read(sha256) !== undefined)) continue;
        const box = sealBox(key(), text, sha256);
        if (bytes + box.length > MAX_TEXT_BYTES) continue;
        writePrivateFile(join(directory, sha256), box, { durable: false });
        bytes += box.length;
      }
    },
  };
}
