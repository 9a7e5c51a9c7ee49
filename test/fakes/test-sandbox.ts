/** The sandbox of this machine around the workspace of a test. Where there is none, tests that need it are left out. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Confinement, createDomainList } from "#base";
import { isSecretFile } from "#governance";
import { type CommandSandbox, createSandboxes, type EgressRecord, type SandboxStatus } from "#sandbox";
import { createSystemClock } from "#world";
import type { TemporaryWorkspace } from "./temporary-workspace.ts";

/** Asked of bubblewrap itself, so that a probe of ours that is wrong does not switch its own tests off. */
export const hasSandbox =
  process.platform === "linux" &&
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "true"]).status === 0;

const NEVER = new AbortController().signal;

export interface TestSandbox extends CommandSandbox {
  readonly statuses: SandboxStatus[];
  readonly connections: EgressRecord[];
  /** Runs Bash in it and gives both streams. Default confinement: workspace. */
  shell(
    script: string,
    options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number; readonly confinement?: Confinement },
  ): Promise<string>;
}

export interface TestSandboxOptions extends Partial<Parameters<typeof createSandboxes>[0]> {
  /** Default: auto. */
  readonly mode?: SandboxStatus["mode"];
  readonly allowedDomains?: readonly string[];
  readonly session?: Partial<Parameters<ReturnType<typeof createSandboxes>["open"]>[0]>;
}

export function createTestSandbox(workspace: TemporaryWorkspace, options: TestSandboxOptions = {}): TestSandbox {
  const { mode = "auto", allowedDomains, session = {}, ...rest } = options;
  const sandboxes = createSandboxes({
    env: { ...process.env, XDG_CACHE_HOME: join(workspace.outside, "caches") },
    ownPaths: [],
    clock: createSystemClock(),
    isSecret: isSecretFile,
    ...rest,
  });
  const sandbox = sandboxes.open({
    mode,
    root: workspace.root,
    processes: workspace.ports.processes,
    ...session,
    ...(allowedDomains === undefined ? {} : { domains: createDomainList([allowedDomains]) }),
  });
  const statuses: SandboxStatus[] = [];
  const connections: EgressRecord[] = [];
  sandbox.recordTo({
    status: async (status) => void statuses.push(status),
    connection: async (entry) => void connections.push(entry),
  });
  onTestFinished(() => sandbox.close());
  return {
    ...sandbox,
    statuses,
    connections,
    async shell(script, { signal = NEVER, timeoutMs = 20_000, confinement = "workspace" } = {}) {
      let output = "";
      const onOutput = (_stream: string, chunk: Buffer): void => {
        output += chunk.toString("utf8");
      };
      // One pipe for both: pieces of two pipes arrive in any order.
      const args = ["-c", `exec 2>&1\n${script}`];
      await sandbox.processes.run({ file: "bash", args, timeoutMs, confinement, onOutput }, signal);
      return output;
    },
  };
}
