/** What of a project is kept outside it, and the keys that prove who kept it: all derived from the machine's key. */
import { join } from "node:path";
import { deriveKey, harnessPaths, type MachineKey, machineKeySource } from "#stores/keys";
import type { TrustKeys } from "#trust";
import type { ProgramPorts } from "./ports.ts";

/** Holds `approved.lock` of each project. */
export function trustDirectory(env: ProgramPorts["env"]): string {
  return join(harnessPaths(env).stateDir, "trust");
}

export function trustKeys(key: MachineKey): TrustKeys {
  return { mac: deriveKey(key, "trust lock"), text: deriveKey(key, "trust texts") };
}

/** Worked out when it is first needed; throws KeyInvalid then. */
export function trustKeySource(env: ProgramPorts["env"]): () => TrustKeys {
  const key = machineKeySource(env);
  let known: TrustKeys | undefined;
  return () => {
    known ??= trustKeys(key());
    return known;
  };
}

/** Seals what is kept of files: nobody reads a secret there, or puts in a finding that stands for a file that was acked. */
export function cacheKey(env: ProgramPorts["env"]): () => Buffer {
  const key = machineKeySource(env);
  let known: Buffer | undefined;
  return () => {
    known ??= deriveKey(key(), "parse cache");
    return known;
  };
}
