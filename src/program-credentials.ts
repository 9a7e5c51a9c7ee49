/** The keys as the program has them: in the credential helper, from the environment and from the store of the user. */
import type { Clock } from "#base";
import { createHelperCredentials, type EnvironmentKeys, type HelperCredentials } from "#credentials";
import { keyVariables, vendors } from "#providers/vendors";
import { deriveKey, harnessPaths, machineKeySource } from "#sessions/keys";

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
 * The variables one of which the command is about to need, as far as that can be told before anything is loaded: those of the
 * provider that is named, or of all that are chosen by their key. A guess that is wrong costs a process that does nothing.
 */
export function soonNeeded(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): string[] {
  // Without a command it may be the daemon that needs them, which is given what is still here.
  const [command] = argv;
  if (command !== "run" && command !== "deploy") return [];
  const flag = argv.findIndex((word) => /^(?:--model|-m)$|^--model=/.test(word));
  const named = argv[flag]?.startsWith("--model=") ? argv[flag].slice("--model=".length) : argv[flag + 1];
  const model = flag < 0 ? env.HARNESS_MODEL : named;
  const isWanted = (name: string): boolean => model === undefined || model.startsWith(`${name}:`);
  return vendors
    .filter(({ name, keyIsShared }) => isWanted(name) && (model !== undefined || keyIsShared !== true))
    .flatMap((vendor) => vendor.keyVariables);
}
