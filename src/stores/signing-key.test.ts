import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { NOW, sessionId } from "../../test/store-suite.ts";
import { isSignedByItsKey } from "./checkpoint.ts";
import { createSigner, openSigningKey, readSigningKey } from "./signing-key.ts";

let directory: string;
let configDir: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-key-"));
  configDir = join(directory, "config", "harness");
  path = join(configDir, "signing.key");
});
afterEach(() => rmSync(directory, { recursive: true }));

const facts = { session: sessionId(1), event: 7, hash: "ab".repeat(32), ts: NOW };

it("is made once, private, and found again", () => {
  expect(readSigningKey(configDir)).toBeUndefined();
  const made = openSigningKey(configDir);
  const again = openSigningKey(configDir);
  expect([again.id, again.publicKey]).toEqual([made.id, made.publicKey]);
  expect([statSync(configDir).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readdirSync(configDir)).toEqual(["signing.key"]);
});

it("is opened by a signer at its first checkpoint and not before", () => {
  const signer = createSigner(() => configDir);
  expect(readSigningKey(configDir)).toBeUndefined();
  const { public_key } = signer.sign(facts);
  expect([readSigningKey(configDir)?.publicKey, signer.sign(facts).public_key]).toEqual([public_key, public_key]);
});

it("signs what its public key confirms, and nothing else", () => {
  const key = openSigningKey(configDir);
  const checkpoint = key.sign(facts);
  expect(checkpoint).toEqual({ ...facts, key_id: key.id, public_key: key.publicKey, signature: expect.any(String) });
  expect(isSignedByItsKey(checkpoint)).toBe(true);
  for (const change of [{ event: 8 }, { hash: "cd".repeat(32) }, { ts: "x" }, { session: sessionId(2) }]) {
    expect(isSignedByItsKey({ ...checkpoint, ...change })).toBe(false);
  }
  const other = openSigningKey(join(directory, "other"));
  expect(isSignedByItsKey({ ...checkpoint, public_key: other.publicKey })).toBe(false);
  expect(isSignedByItsKey({ ...checkpoint, public_key: other.publicKey, key_id: other.id })).toBe(false);
});

it.each([0o640, 0o604, 0o660, 0o644])("is refused with mode %o", (mode) => {
  openSigningKey(configDir);
  chmodSync(path, mode);
  expect(() => openSigningKey(configDir)).toThrow(
    expect.objectContaining({
      reason: "KeyInvalid",
      message: expect.stringMatching(/other users can access it.*chmod 600/),
    }),
  );
});

it("is refused when it is a link, no key, or one of another kind, and stays as it was", () => {
  openSigningKey(configDir);
  const good = readFileSync(path);
  const refused = (why: RegExp) => expect(() => openSigningKey(configDir)).toThrow(why);
  writeFileSync(path, "dear diary");
  refused(/it is not a private key/);
  expect(readFileSync(path, "utf8")).toBe("dear diary");
  writeFileSync(path, generateKeyPairSync("ed448").privateKey.export({ format: "pem", type: "pkcs8" }));
  refused(/it is not an Ed25519 key/);
  writeFileSync(path, "x".repeat(5000));
  refused(/larger than 4096 bytes/);
  rmSync(path);
  writeFileSync(join(directory, "elsewhere"), good, { mode: 0o600 });
  symlinkSync(join(directory, "elsewhere"), path);
  refused(/it is a symbolic link/);
});

it("is the same for processes that make it at once", async () => {
  const source = JSON.stringify(new URL("./signing-key.ts", import.meta.url).href);
  const script = `import { openSigningKey } from ${source};
    process.stdout.write(openSigningKey(${JSON.stringify(configDir)}).publicKey);`;
  const keys = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
        stdio: ["ignore", "pipe", "inherit"],
        env: {},
      });
      let out = "";
      child.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString("utf8");
      });
      await once(child, "close");
      return out;
    }),
  );
  expect(new Set(keys)).toEqual(new Set([openSigningKey(configDir).publicKey]));
});
