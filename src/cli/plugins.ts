/** `harness plugins`: those of `config.toml`, and whether the file of each is the one that was pinned. None of them runs. */
import { visibleLine } from "#base";
import { loadConfig, pluginFacts } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

export interface PluginsFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** 1 when one of them would not be loaded. */
export async function pluginsCommand(ports: CliPorts, { config, json }: PluginsFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const { settings } = await loadConfig(ports, config);
  const facts = await pluginFacts(settings);
  const problems = facts.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  if (json) terminal.out(`${JSON.stringify(facts)}\n`);
  else if (facts.length === 0) terminal.out("No plugins: config.toml has no [plugins.NAME] table.\n");
  else {
    const rows = facts.map(({ name, state, sha256 = "", path }) => [name, state, sha256, path]);
    terminal.out(formatTable(["name", "state", "sha256", "path"], rows, terminal.columns));
    for (const problem of problems) terminal.err(`${visibleLine(problem)}\n`);
  }
  return problems.length === 0 ? 0 : 1;
}
