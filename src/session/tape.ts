/**
 * What stands between a program and the outside while it is recorded or replayed, as the program and its sessions see it. A program
 * that is neither has `noTape`, which changes nothing.
 */
import { hostname } from "node:os";
import type { Clock, EffectPorts, MemoryStore, ProgramFacts, Random } from "#base";
import type { Control } from "#control";
import type { Provider, Schedule, SessionStore } from "#engine";
import type { Command, SessionId } from "#protocol";
import type { SessionDomains } from "./domains.ts";
import type { Machine } from "./project.ts";
import type { SessionSandbox } from "./sandbox.ts";
import type { ServerTape } from "./servers.ts";

export interface ProgramTape {
  /** Something is recorded or replayed. */
  readonly isOn: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly schedule?: Schedule;
  /** In a replay: what its clients have to submit, in order. */
  readonly commands: readonly Command[];
  /** A path of this machine as it was called when it was recorded. */
  asRecorded(path: string): string;
  /** Where that is on this machine. Throws NotAllowed for a folder outside the workspace of the program. */
  here(workspace: string): string;
  store(store: SessionStore): SessionStore;
  control(control: Control): Control;
  /** A cassette says that a rule was kept, and where; in a replay nothing is written. */
  keepRule(keep: (rule: string) => Promise<string>): (rule: string) => Promise<string>;
  session(id: SessionId): SessionTape;
}

export interface SessionTape {
  readonly machine: Machine;
  ports(ports: EffectPorts, domains: SessionDomains): EffectPorts;
  provider(provider: Provider): Provider;
  programs(facts: ProgramFacts): ProgramFacts;
  sandbox(sandbox: SessionSandbox): SessionSandbox;
  memory(store: MemoryStore): MemoryStore;
  /** Absent where nothing is recorded. */
  readonly servers?: ServerTape;
}

export function noTape({ clock, random }: { readonly clock: Clock; readonly random: Random }): ProgramTape {
  const machine: Machine = {
    platform: process.platform,
    hostname: hostname(),
    random,
    variable: (_name, read) => read(),
    secret: (_name, read) => read(),
  };
  const session: SessionTape = { machine, ports: same, provider: same, programs: same, sandbox: same, memory: same };
  return {
    isOn: false,
    clock,
    random,
    commands: [],
    asRecorded: same,
    here: same,
    store: same,
    control: same,
    keepRule: same,
    session: () => session,
  };
}

function same<Value>(value: Value): Value {
  return value;
}
