/** A new machine key: whatever is sealed with the old one is sealed with the new one, or all of it stays as it is. */
import { rekeyCredentials, whileCredentialsRest } from "#credentials";
import { harnessPaths, headsDirectory, machineKeyFiles, rotateKeyFile, sealHeadsFor } from "#stores";
import { rekeyTrust } from "#trust";
import { rekeyUndo } from "#undo";
import { credentialKey } from "./credential-key.ts";
import { rekeyKeptProfiles } from "./kept-profiles.ts";
import type { ProgramPorts } from "./ports.ts";
import { trustDirectory, trustKeys } from "./project-keys.ts";
import { undoDirectory, undoKey } from "./undo-place.ts";

/** What opens with neither key, and was left as it was. */
export interface LeftByRotation {
  readonly heads: number;
  readonly credentials: boolean;
  readonly projects: number;
  /** Folders. */
  readonly undo: number;
  readonly schedules: number;
}

export async function rotateKeys({ env, clock }: Pick<ProgramPorts, "env" | "clock">): Promise<LeftByRotation> {
  const { sessionsDb, configDir } = harnessPaths(env);
  const { rekeyed } = await import("./schedules.ts");
  let finish = (): LeftByRotation => ({ heads: 0, credentials: false, projects: 0, undo: 0, schedules: 0 });
  const rotation: Parameters<typeof rotateKeyFile>[0] = {
    path: sessionsDb,
    files: machineKeyFiles(env),
    clock,
    also(from, to) {
      // With both seals from here on, so that it does not matter which of the keys stays.
      const heads = sealHeadsFor(headsDirectory(env), { from, to });
      const undo = rekeyUndo({ directory: undoDirectory(env), from: undoKey(from), to: undoKey(to) });
      const stored = rekeyCredentials({ directory: configDir, from: credentialKey(from), to: credentialKey(to) });
      finish = () => {
        rekeyKeptProfiles(env, from, to);
        return {
          heads,
          credentials: stored.unreadable,
          projects: rekeyTrust({ directory: trustDirectory(env), from: trustKeys(from), to: trustKeys(to) }).unreadable,
          undo: undo.unreadable,
          schedules: rekeyed(env, from, to),
        };
      };
      return {
        finish() {
          undo.finish();
          stored.finish();
        },
        abandon() {
          undo.abandon();
          stored.abandon();
        },
      };
    },
  };
  await whileCredentialsRest(configDir, clock, () => rotateKeyFile(rotation));
  return finish();
}
