/** Where the command line keeps the last known heads of logs. */
import { once } from "#base";
import { type HeadsPlace, type HeadWitness, headsDirectory, type MachineKey } from "#stores";
import { createProcesses } from "#world";
import type { ProgramPorts } from "./ports.ts";

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
      return keychain === undefined ? "this system has no keychain" : keychain.store(item(name), Buffer.from(text));
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
