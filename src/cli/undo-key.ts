/** The key that seals what undo keeps: derived from the machine's key, or a key file of its own when there is none. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#sessions";
import type { CliPorts } from "./cli-ports.ts";

const KEY_BYTES = 32;

export interface UndoPlace {
  readonly directory: string;
  readonly key: Uint8Array;
}

/** Makes the key file, readable by its owner alone, when it is missing. Throws KeyInvalid for one that cannot be used. */
export async function undoPlace({ env }: Pick<CliPorts, "env">): Promise<UndoPlace> {
  const { dataDir } = harnessPaths(env);
  const directory = join(dataDir, "undo");
  const given = env.HARNESS_MACHINE_KEY;
  return { directory, key: given === undefined ? await keyFile(dataDir) : decodeKey(given) };
}

async function keyFile(dataDir: string): Promise<Uint8Array> {
  const file = join(dataDir, "undo.key");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Whoever comes first makes it; everybody then reads the same.
  await writeFile(file, randomBytes(KEY_BYTES), { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  const key = await readFile(file);
  if (key.length === KEY_BYTES) return key;
  throw new ReasonError("KeyInvalid", { detail: `${file} is no key: it has ${key.length} bytes, not ${KEY_BYTES}` });
}

function decodeKey(text: string): Uint8Array {
  const decoded = [/^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : undefined]
    .concat(Buffer.from(text, "utf8"), Buffer.from(text, "base64"))
    .find((key) => key?.length === KEY_BYTES);
  if (decoded !== undefined) return decoded;
  throw new ReasonError("KeyInvalid", { detail: "HARNESS_MACHINE_KEY must be 32 bytes: raw, hexadecimal or base64" });
}
