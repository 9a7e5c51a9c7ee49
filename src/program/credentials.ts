/** The keys as the program has them: in the credential helper, from the environment and from the store of the user. */
import type { Clock } from "#base";
import { createHelperCredentials, type EnvironmentKeys, type HelperCredentials } from "#credentials";
import { keyVariables } from "#providers/vendors";
import { deriveKey, harnessPaths, machineKeySource } from "#stores/keys";

export interface ProgramCredentialsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly keys: EnvironmentKeys;
  readonly clock: Clock;
  /** What the helper runs. */
  readonly file: string;
}

/** Starts nothing until a key is needed. */
export function programCredentials({ env, keys, clock, file }: ProgramCredentialsOptions): HelperCredentials {
  const machineKey = machineKeySource(env);
  return createHelperCredentials({
    file,
    env,
    keys,
    clock,
    keyVariables: keyVariables(),
    directory: () => harnessPaths(env).configDir,
    storeKey: () => deriveKey(machineKey(), "credentials"),
  });
}

/**
 * Whether the command is about to open a session, as far as that can be told before anything is loaded: it needs the keys of the
 * environment in the helper before its first turn. A guess that is wrong costs a process that does nothing.
 */
export function opensSession([command]: readonly string[]): boolean {
  // Without a command it may be the daemon that needs them, which is given what is still here.
  return command === "run" || command === "deploy";
}

/** Whether the command may start this program once more, which is then given the keys: until then they are taken by nobody. */
export function handsKeysOn([command]: readonly string[]): boolean {
  return command === undefined || command === "attach" || command === "daemon";
}
