/** Where the command line keeps the last known heads of logs, and those of the log that its flags name. */
import { join, resolve } from "node:path";
import {
  createKnownHeads,
  type HeadsPlace,
  harnessPaths,
  headsDirectory,
  type KnownHeads,
  type MachineKey,
  machineKeySource,
} from "#sessions";
import type { CliPorts } from "./cli-ports.ts";
import type { StoreFlags } from "./session-store.ts";

/** A head that cannot be kept is told on standard error; the command goes on, since the log has everything. */
export function keptHeads({ env, clock, terminal }: CliPorts, key: () => MachineKey): HeadsPlace {
  const onProblem = (message: string): void => terminal.err(`warning: ${message}\n`);
  return { directory: headsDirectory(env), key, clock, onProblem };
}

/** Opens nothing, and asks for the machine key only when a head is there. */
export function headsOf(ports: CliPorts, flags: StoreFlags): KnownHeads {
  const log =
    flags.store === "jsonl"
      ? join(resolve(ports.cwd, flags.root ?? "."), ".harness", "threads")
      : harnessPaths(ports.env).sessionsDb;
  return createKnownHeads(keptHeads(ports, machineKeySource(ports.env)), log);
}
