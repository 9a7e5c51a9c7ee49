/**
 * The key of this machine that signs checkpoints: Ed25519, in a private file in the configuration folder, made when it is
 * first needed. It proves who wrote a log, not who may read it.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { createPrivateFile, makePrivateDirectory } from "#world";
import { type CheckpointFacts, checkpointText, keyIdOf, publicKeyHex, type Signer } from "./checkpoint.ts";

const FILE_NAME = "signing.key";
const MAX_KEY_BYTES = 4096;

export interface SigningKey extends Signer {
  readonly id: string;
  /** 32 bytes in hex; what others pass to `--key`. */
  readonly publicKey: string;
}

/** The key in `configDir`, made if there is none. Throws KeyInvalid when others may read it or it is no key. */
export function openSigningKey(configDir: string): SigningKey {
  return readSigningKey(configDir) ?? createKeyFile(configDir);
}

/** Signs with the key in that folder, which is opened at the first checkpoint: a start does not pay for it. */
export function createSigner(configDir: () => string): Signer {
  let key: SigningKey | undefined;
  const opened = (): SigningKey => {
    key ??= openSigningKey(configDir());
    return key;
  };
  return {
    ready: () => void opened(),
    sign: (facts) => opened().sign(facts),
  };
}

/** Undefined when this machine has none yet. Throws like `openSigningKey`. */
export function readSigningKey(configDir: string): SigningKey | undefined {
  const path = join(configDir, FILE_NAME);
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw keyInvalid(path, errnoOf(error) === "ELOOP" ? "it is a symbolic link" : messageOf(error), error);
  }
  try {
    const { mode, size, uid } = fstatSync(file);
    if (process.platform !== "win32") {
      if ((mode & 0o077) !== 0)
        throw keyInvalid(path, `other users can access it (mode ${octal(mode)}); run chmod 600 on it`);
      if (uid !== process.getuid?.()) throw keyInvalid(path, "it belongs to another user");
    }
    if (size > MAX_KEY_BYTES) throw keyInvalid(path, `it is larger than ${MAX_KEY_BYTES} bytes`);
    return parseSigningKey(readFileSync(file, "utf8"), path);
  } catch (error) {
    throw error instanceof ReasonError ? error : keyInvalid(path, messageOf(error), error);
  } finally {
    closeSync(file);
  }
}

/** Pure: a key from its PEM text; `path` is for the message. */
export function parseSigningKey(pem: string, path: string): SigningKey {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw keyInvalid(path, "it is not a private key", error);
  }
  if (key.asymmetricKeyType !== "ed25519") throw keyInvalid(path, "it is not an Ed25519 key");
  return signingKeyOf(key);
}

/** Pure. */
export function signingKeyOf(key: KeyObject): SigningKey {
  const publicKey = publicKeyHex(key);
  const id = keyIdOf(publicKey);
  return {
    id,
    publicKey,
    ready: () => undefined,
    sign({ session, event, hash, ts }: CheckpointFacts) {
      const facts = { session, event, hash, ts };
      const signature = sign(null, Buffer.from(checkpointText(facts, id), "utf8"), key).toString("hex");
      return { ...facts, key_id: id, public_key: publicKey, signature };
    },
  };
}

/** Of two processes that make one at once, both use that of the first. */
function createKeyFile(configDir: string): SigningKey {
  const path = join(configDir, FILE_NAME);
  try {
    makePrivateDirectory(configDir);
    const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
    createPrivateFile(path, pem);
  } catch (error) {
    throw keyInvalid(path, `Harness could not create it: ${messageOf(error)}`, error);
  }
  const made = readSigningKey(configDir);
  if (made === undefined) throw keyInvalid(path, "it was removed while Harness created it");
  return made;
}

function keyInvalid(path: string, why: string, cause?: unknown): ReasonError {
  return new ReasonError("KeyInvalid", `The signing key ${path} cannot be used: ${why}.`, { cause });
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}
