/**
 * The profile of each session as it was last opened with it: what a resumed session goes on with when the file is gone or broken.
 * Sealed, because a profile may have a secret in it, and bound to the session, so that an imported one brings none.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ProfileInForce } from "#artifacts";
import { ifThere, jsonIn, openBox, sealBox } from "#base";
import { SessionId } from "#protocol";
import { deriveKey, harnessPaths, type MachineKey, machineKeySource } from "#stores/keys";
import { makePrivateDirectory, readPrivateFile, writePrivateFile } from "#world";
import type { ProgramPorts } from "./ports.ts";

/** Those of the newest sessions. */
const MAX_KEPT = 500;

/** What says all of a profile: its text and the texts of its presets. */
export type KeptProfile = Pick<ProfileInForce, "name" | "scope" | "source"> & Required<Pick<ProfileInForce, "files">>;

export interface KeptProfiles {
  /** Undefined when there is none, or when it cannot be opened. */
  read(session: SessionId): KeptProfile | undefined;
  /** Those of all sessions. */
  all(): readonly KeptProfile[];
  /** Built-in ones come with the program and are not kept. */
  keep(session: SessionId, profile: ProfileInForce): void;
}

export function createKeptProfiles(env: ProgramPorts["env"]): KeptProfiles {
  const directory = keptDirectory(env);
  const machine = machineKeySource(env);
  const key = () => keptKey(machine());
  const read: KeptProfiles["read"] = (session) => opened(directory, key, session);
  return {
    read,
    all: () => namesIn(directory).flatMap((session) => read(session) ?? []),
    keep(session, { name, scope, source, files }) {
      if (files === undefined) return;
      makePrivateDirectory(directory);
      const profile: KeptProfile = { name, scope, source, files };
      const box = sealBox(key(), JSON.stringify(profile), session);
      writePrivateFile(join(directory, session), box, { durable: false });
      for (const old of namesIn(directory).slice(0, -MAX_KEPT)) rmSync(join(directory, old), { force: true });
    },
  };
}

/** Seals them with another key. One that the old key does not open is of no use to anybody and goes. */
export function rekeyKeptProfiles(env: ProgramPorts["env"], from: MachineKey, to: MachineKey): void {
  const directory = keptDirectory(env);
  for (const session of namesIn(directory)) {
    const path = join(directory, session);
    const profile = opened(directory, () => keptKey(from), session);
    if (profile === undefined) rmSync(path, { force: true });
    else writePrivateFile(path, sealBox(keptKey(to), JSON.stringify(profile), session), { durable: true });
  }
}

function opened(directory: string, key: () => Uint8Array, session: SessionId): KeptProfile | undefined {
  const box = readPrivateFile(join(directory, session));
  // Nobody without the key can have written it, and whoever has it wrote a KeptProfile.
  return box && (jsonIn(openBox(key(), box, session)?.toString("utf8") ?? "") as KeptProfile | undefined);
}

/** Oldest sessions first. */
function namesIn(directory: string): readonly SessionId[] {
  return (ifThere(() => readdirSync(directory)) ?? []).filter((name) => SessionId.is(name)).toSorted();
}

function keptDirectory(env: ProgramPorts["env"]): string {
  return join(harnessPaths(env).stateDir, "profiles");
}

function keptKey(key: MachineKey): Buffer {
  return deriveKey(key, "kept profiles");
}
