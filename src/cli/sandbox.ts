/** `harness sandbox check`: tries the sandbox and explains what commands are held to. Starts one harmless program in it. */
import { domainLists } from "#artifacts";
import { createDomainList, visibleJson, visibleLine } from "#base";
import {
  createSandboxes,
  deniedPrograms,
  isSecretFile,
  loadSettings,
  openProject,
  type Probe,
  policyOf,
  projectPlace,
  type RunFlags,
  type SandboxPolicy,
  type SandboxStatus,
  userFlags,
} from "#program";
import { ownFolders } from "#stores";
import { createProcesses } from "#world";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { namedFolder } from "./named-folder.ts";

export interface SandboxCheckFlags extends Pick<RunFlags, "config" | "cwd" | "sandbox" | "allowedDomain"> {
  readonly json?: boolean;
}

/** Exits with 0 when commands run in a sandbox here, with 1 when they do not. */
export async function sandboxCheckCommand(ports: CliPorts, flags: SandboxCheckFlags): Promise<ExitCode> {
  const { terminal, env, clock } = ports;
  const root = namedFolder(ports.cwd, flags.cwd);
  const { project } = (await openProject(ports, projectPlace(flags))).loaded;
  const { settings } = await loadSettings(ports, userFlags(flags), project);
  const lists = domainLists(settings, project).map(({ entries }) => entries);
  const sandbox = createSandboxes({
    env,
    clock,
    ownPaths: ownFolders(env),
    isSecret: isSecretFile,
  }).open({
    mode: settings.sandbox,
    root,
    processes: createProcesses({ root, env }),
    directNetwork: settings.network?.mode === "direct",
    loopbackPorts: settings.network?.loopbackPorts ?? [],
    readOnlyPaths: settings.sandboxPaths,
    deniedPrograms: () => deniedPrograms(policyOf(settings, project).rules),
    ...(lists.length === 0 ? {} : { domains: createDomainList(lists) }),
  });
  try {
    const status = await sandbox.status();
    const probe = await sandbox.probe();
    const policy = sandbox.policy();
    if (flags.json) terminal.out(`${visibleJson(JSON.stringify(asJson(status, probe, policy)))}\n`);
    else terminal.out(asText(status, probe, policy));
    return status.active ? 0 : 1;
  } finally {
    await sandbox.close();
  }
}

function asJson(status: SandboxStatus, probe: Probe, policy: SandboxPolicy | string) {
  return {
    ...status,
    available: probe.available,
    steps: probe.steps,
    ...(probe.available && { properties: probe.sandbox.describe() }),
    ...(typeof policy === "string"
      ? { problem: policy }
      : {
          policy: {
            workspace: policy.root,
            writable: policy.writable,
            shown: [...policy.shown, ...policy.placed].map(({ to }) => to),
            read_only: policy.readOnly,
            kept_free: policy.held.map(({ path }) => path),
            hidden: policy.hidden.map(({ path }) => path),
          },
        }),
  };
}

function asText(status: SandboxStatus, probe: Probe, policy: SandboxPolicy | string): string {
  const lines = [`setting: ${status.mode}`, `result:  ${status.detail}`, "", "probes"];
  for (const { name, ok, detail, remedy } of probe.steps) {
    lines.push(`  ${ok ? "✓" : "✗"} ${name}: ${detail}`);
    if (remedy !== undefined) lines.push(`    ${remedy}`);
  }
  if (probe.available) lines.push("", "every command", ...probe.sandbox.describe().map((line) => `  ${line}`));
  if (typeof policy === "string") lines.push("", `no command can run here: ${policy}`);
  else {
    const list = (title: string, paths: readonly string[]): void => {
      if (paths.length > 0) lines.push("", title, ...paths.map((path) => `  ${path}`));
    };
    const scratch = policy.scratch.map(({ path }) => `${path} (of the session)`);
    list("an allowed command can write", [...policy.writable, ...scratch]);
    list(
      "every command sees",
      [...policy.shown, ...policy.placed].map(({ to }) => to),
    );
    list("read-only in the workspace", policy.readOnly);
    list(
      "names that commands cannot create in the workspace",
      policy.held.map(({ path }) => path),
    );
    list(
      "hidden",
      policy.hidden.map(({ path }) => path),
    );
    lines.push("", "the rest of the machine is invisible");
    lines.push("a command that runs without approval can change nothing and has no network");
  }
  if (status.domains !== undefined) lines.push("", `domains: ${status.domains.join(", ") || "none"}`);
  // Names in the workspace are those of whoever works there.
  return `${lines.map(visibleLine).join("\n")}\n`;
}
