/** Where undo keeps what calls change, and the key that seals it: derived from the machine's key. */
import { join } from "node:path";
import { deriveKey, harnessPaths, machineKey } from "#sessions";
import type { CliPorts } from "./cli-ports.ts";

export interface UndoPlace {
  readonly directory: string;
  readonly key: Uint8Array;
}

/** Throws KeyInvalid when the machine's key cannot be used. */
export function undoPlace({ env }: Pick<CliPorts, "env">): UndoPlace {
  const directory = join(harnessPaths(env).dataDir, "undo");
  return { directory, key: deriveKey(machineKey(env), "undo") };
}
