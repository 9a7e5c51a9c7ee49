/** Where undo keeps what calls change, and the key that seals it: derived from the machine's key. */
import { join } from "node:path";
import { deriveKey, harnessPaths, type MachineKey, machineKey } from "#sessions";
import type { CliPorts } from "./cli-ports.ts";

export interface UndoPlace {
  readonly directory: string;
  readonly key: Uint8Array;
}

/** Throws KeyInvalid when the machine's key cannot be used. */
export function undoPlace({ env }: Pick<CliPorts, "env">): UndoPlace {
  return { directory: undoDirectory(env), key: undoKey(machineKey(env)) };
}

export function undoDirectory(env: CliPorts["env"]): string {
  return join(harnessPaths(env).dataDir, "undo");
}

export function undoKey(key: MachineKey): Uint8Array {
  return deriveKey(key, "undo");
}
