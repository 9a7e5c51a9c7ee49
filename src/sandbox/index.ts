/** Holds programs to a policy with the means of the operating system, and is their only way to the network. */
export {
  type CommandSandbox,
  createSandboxes,
  type Sandboxes,
  type SandboxMode,
  type SandboxSession,
  type SandboxStatus,
} from "./command-sandbox.ts";
export type { EgressRecord } from "./egress-proxy.ts";
export type { Probe, SandboxPolicy } from "./sandbox.ts";
export { openSessionNetwork, type SessionNetwork, type SessionNetworkOptions } from "./session-network.ts";
