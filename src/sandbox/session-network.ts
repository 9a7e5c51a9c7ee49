import type { Clock, DomainList, Resolve } from "#base";
import type { EgressRecord } from "./egress-proxy.ts";
import type { CommandLine } from "./sandbox.ts";
export interface SessionNetwork {
  enter(command: CommandLine): CommandLine;
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly { readonly from: string; readonly to: string }[];
  isOpen(): boolean;
  close(): Promise<void>;
}
export async function openSessionNetwork(_: {
  bwrap: string;
  nsenter: string;
  node: string;
  folder: string;
  domains: DomainList | undefined;
  loopbackPorts: readonly number[];
  clock: Clock;
  record: (e: EgressRecord) => Promise<void>;
  resolve?: Resolve;
}): Promise<SessionNetwork> {
  throw new Error("not yet");
}
