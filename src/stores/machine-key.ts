/**
 * The one key of this machine, from which every key at rest is derived: given in the environment, made from a passphrase,
 * or kept in the keychain of the system or a file. What is given and cannot be used is refused; nothing falls through to the next source.
 */
import { hkdfSync, scryptSync } from "node:crypto";
import { defined } from "#base";
import { ReasonError } from "#protocol";
import { createKeyFiles, type KeyFiles } from "./key-files.ts";
import { machineKeychain } from "./machine-keychain.ts";
import { harnessPaths } from "./paths.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export const KEY_BYTES = 32;
export const KEY_VARIABLE = "HARNESS_MACHINE_KEY";
export const PASSPHRASE_VARIABLE = "HARNESS_PASSPHRASE";
export const KEY_FILE = "machine.key";
/** The new key of a rotation that has begun; it takes the place of KEY_FILE at the end. */
export const NEXT_KEY_FILE = "machine.key.next";
/** The stored credentials, beside the key: where they are, there was one. */
const SEALED_FILE = "creds.enc";
const SALT_FILE = "passphrase.salt";
const SALT_BYTES = 16;
/** About 60 ms and 32 MiB for each guess. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

export interface MachineKey {
  readonly bytes: Buffer;
  /** Where it comes from, for messages: a variable, a file or the keychain. Never the key. */
  readonly source: string;
}

/** The key of the machine that this environment describes. Creates the key file, or the salt, when there is none. */
export function machineKey(env: Environment): MachineKey {
  // Asked for only when a file is needed: without a home the key can still come from the environment.
  return resolveMachineKey(env, () => machineKeyFiles(env));
}

/** Where the key of the machine is kept, or is to be. */
export function machineKeyFiles(env: Environment): KeyFiles {
  return createKeyFiles(harnessPaths(env).configDir, defined({ keychain: machineKeychain(env) }));
}

/** `machineKey`, worked out once: a passphrase is expensive on purpose. */
export function machineKeySource(env: Environment): () => MachineKey {
  let known: MachineKey | undefined;
  return () => {
    known ??= machineKey(env);
    return known;
  };
}

/** Throws KeyInvalid when the first source that is there cannot be used. */
export function resolveMachineKey(env: Environment, files: () => KeyFiles): MachineKey {
  const given = env[KEY_VARIABLE];
  if (given !== undefined) return { bytes: parseKey(given), source: KEY_VARIABLE };
  const passphrase = env[PASSPHRASE_VARIABLE];
  if (passphrase !== undefined) {
    if (passphrase === "") throw keyInvalid(`${PASSPHRASE_VARIABLE} is empty. Set a passphrase, or unset it.`);
    const salt = files().readOrCreate(SALT_FILE, SALT_BYTES);
    const bytes = scryptSync(passphrase.normalize("NFC"), salt.bytes, KEY_BYTES, SCRYPT);
    return { bytes, source: PASSPHRASE_VARIABLE };
  }
  const keyFiles = files();
  if (keyFiles.has(NEXT_KEY_FILE)) {
    throw keyInvalid(
      `A change of the machine key was interrupted: ${keyFiles.pathOf(NEXT_KEY_FILE)} is still there. Run harness sessions rekey to finish it.`,
    );
  }
  if (!keyFiles.has(KEY_FILE) && keyFiles.has(SEALED_FILE)) {
    throw keyInvalid(
      `${keyFiles.pathOf(KEY_FILE)} is missing, and only that key opens ${keyFiles.pathOf(SEALED_FILE)}. Restore it, or set ${KEY_VARIABLE} or ${PASSPHRASE_VARIABLE} to its previous value. If the key is lost, move ${SEALED_FILE} away; Harness then creates a new key.`,
    );
  }
  const { bytes, place } = keyFiles.readOrCreateKey(KEY_FILE, KEY_BYTES);
  return { bytes, source: place };
}

/** A key of its own for each purpose, so that no two parts of the program share one. */
export function deriveKey(key: MachineKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key.bytes, "harness", purpose, KEY_BYTES));
}

/** 32 bytes as they are, as 64 hex digits, or as base64 of either alphabet. Never repeats what it was given. */
export function parseKey(text: string): Buffer {
  const raw = Buffer.from(text, "utf8");
  // Bytes that are no UTF-8 have been replaced before we see them: such a key is not the one that was meant.
  if (raw.length === KEY_BYTES && !text.includes("\ufffd")) return raw;
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=?$|^[A-Za-z0-9_-]{43}=?$/.test(text)) {
    const bytes = Buffer.from(text, "base64url");
    const asGiven = text.replace("=", "").replaceAll("+", "-").replaceAll("/", "_");
    // The last digit carries two bits too many; a second spelling of a key is a typing error.
    if (bytes.toString("base64url") === asGiven) return bytes;
  }
  throw keyInvalid(
    `${KEY_VARIABLE} is not a key: set it to ${KEY_BYTES} bytes, raw, as 64 hex digits or as base64. Create one with: openssl rand -hex ${KEY_BYTES}`,
  );
}

function keyInvalid(detail: string): ReasonError {
  return new ReasonError("KeyInvalid", detail);
}
