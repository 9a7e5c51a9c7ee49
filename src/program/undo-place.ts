/** Where undo keeps what calls change, and the key that seals it: derived from the machine's key. */
import { join } from "node:path";
import { deriveKey, harnessPaths, type MachineKey, machineKey } from "#stores";
import type { ProgramPorts } from "./ports.ts";
import { settledMs } from "./settled-time.ts";

export interface UndoPlace {
  readonly directory: string;
  readonly key: Uint8Array;
  /** The time by which change sets become old. */
  readonly settled: () => number;
}

/** Throws KeyInvalid when the machine's key cannot be used. */
export function undoPlace(ports: Pick<ProgramPorts, "env" | "clock">): UndoPlace {
  const { env } = ports;
  return {
    directory: undoDirectory(env),
    key: undoKey(machineKey(env)),
    settled: () => settledMs(ports),
  };
}

export function undoDirectory(env: ProgramPorts["env"]): string {
  return join(harnessPaths(env).dataDir, "undo");
}

export function undoKey(key: MachineKey): Uint8Array {
  return deriveKey(key, "undo");
}
