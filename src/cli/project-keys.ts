/** What of a project is kept outside it, and the keys that prove who kept it: all derived from the machine's key. */
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { deriveKey, harnessPaths, type MachineKey, machineKeySource } from "#sessions/keys";
import type { TrustKeys } from "#trust";
import type { CliPorts } from "./cli-ports.ts";

/** Holds `approved.lock` of each project. */
export function trustDirectory(env: CliPorts["env"]): string {
  return join(harnessPaths(env).stateDir, "trust");
}

export function trustKeys(key: MachineKey): TrustKeys {
  return { mac: deriveKey(key, "trust lock"), text: deriveKey(key, "trust texts") };
}

/** Worked out when it is first needed; throws KeyInvalid then. */
export function trustKeySource(env: CliPorts["env"]): () => TrustKeys {
  const key = machineKeySource(env);
  let known: TrustKeys | undefined;
  return () => {
    known ??= trustKeys(key());
    return known;
  };
}

/** A finding that somebody else wrote into the cache must not stand in for a file that was acked. */
export function cacheSeal(env: CliPorts["env"]): (text: string) => string {
  const key = machineKeySource(env);
  let known: Buffer | undefined;
  return (text) => {
    known ??= deriveKey(key(), "parse cache");
    return createHmac("sha256", known).update(text).digest("hex");
  };
}
