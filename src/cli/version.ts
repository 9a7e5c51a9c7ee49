/** `harness version`. */
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

export async function versionCommand({ terminal, build }: CliPorts, flags: { json?: boolean }): Promise<ExitCode> {
  const { version, commit, builtAt } = build;
  const node = process.version;
  if (flags.json) terminal.out(`${JSON.stringify({ version, commit, built_at: builtAt, node })}\n`);
  else terminal.out(`harness ${version} (commit ${commit}, built ${builtAt}, Node ${node})\n`);
  return 0;
}
