/** The world of a program that is recorded or replayed, as far as its sessions see it. */
import type { EffectPorts, ProgramFacts } from "#base";
import type { Tape } from "#cassette";
import type { Control } from "#control";
import type { Provider, SessionStore } from "#engine";
import type { SessionId } from "#protocol";
import type { ModelChoice } from "#providers";

import type { SessionDomains } from "./domains.ts";
import type { Machine } from "./project.ts";
import type { SessionSandbox } from "./sandbox.ts";

export interface TapedWorld {
  readonly tape: Tape;
  readonly models: ModelChoice;
  readonly platform: string;
  /** A path of this machine as it was called when it was recorded. */
  asRecorded(path: string): string;
  /** Where that is on this machine. Throws NotAllowed for a folder outside the workspace of the program. */
  here(workspace: string): string;
  store(store: SessionStore): SessionStore;
  control(control: Control): Control;
  /** A cassette says that a rule was kept, and where; in a replay nothing is written. */
  keepRule(keep: (rule: string) => Promise<string>): (rule: string) => Promise<string>;
  session(id: SessionId): TapedSession;
}

export interface TapedSession {
  readonly machine: Machine;
  ports(ports: EffectPorts, domains: SessionDomains): EffectPorts;
  provider(provider: Provider): Provider;
  programs(facts: ProgramFacts): ProgramFacts;
  sandbox(sandbox: SessionSandbox): SessionSandbox;
}
