/** Where the command line keeps the last known heads of logs, and those of the log that its flags name. */
import { join, resolve } from "node:path";
import { once } from "#base";
import {
  createKnownHeads,
  type HeadsPlace,
  type HeadWitness,
  harnessPaths,
  headsDirectory,
  type KnownHeads,
  type MachineKey,
  machineKeySource,
} from "#stores";
import { createProcesses } from "#world";
import type { ProgramPorts } from "./ports.ts";
import type { StoreFlags } from "./session-store.ts";
import { loadConfig } from "./user-config-file.ts";

const KEYCHAIN_PROVIDER = "log-head";

/** A head that cannot be kept is told on standard error; the command goes on, since the log has everything. */
export function keptHeads(
  ports: ProgramPorts,
  key: () => MachineKey,
  { keychain }: { readonly keychain: boolean },
): HeadsPlace {
  const { env, clock, terminal } = ports;
  const onProblem = (message: string): void => terminal.err(`warning: ${message}\n`);
  const witness = keychain ? { witness: keychainWitness(ports) } : {};
  return { directory: headsDirectory(env), key, clock, onProblem, ...witness };
}

/** Opens nothing, and asks for the machine key only when a head is there. Asks the keychain where the configuration names it. */
export async function headsOf(ports: ProgramPorts, flags: StoreFlags): Promise<KnownHeads> {
  const { settings } = await loadConfig(ports, undefined);
  const log =
    flags.store === "jsonl"
      ? join(resolve(ports.cwd, flags.root ?? "."), ".harness", "threads")
      : harnessPaths(ports.env).sessionsDb;
  const heads = createKnownHeads(keptHeads(ports, machineKeySource(ports.env), settings.audit), log);
  await heads.consult();
  return heads;
}

/** Loaded when it is first asked: most users have none. */
function keychainWitness({ env, cwd }: ProgramPorts): HeadWitness {
  const open = once(async () => {
    const { createKeychain } = await import("#credentials");
    return createKeychain({ platform: process.platform, env, processes: createProcesses({ root: cwd, env }) });
  });
  const item = (name: string) => ({ provider: KEYCHAIN_PROVIDER, name });
  return {
    async store(name, text) {
      const keychain = await open();
      return keychain === undefined ? "there is none on this system" : keychain.store(item(name), Buffer.from(text));
    },
    async lookup(name) {
      const found = await (await open())?.lookup(item(name));
      return found instanceof Buffer ? found.toString("utf8") : undefined;
    },
    async remove(name) {
      await (await open())?.remove(item(name));
    },
  };
}
