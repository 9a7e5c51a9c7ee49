/** `--list-tools` of `run` and `deploy`: the tools that the model would be shown, after policy and conditions. */

import { conditionCheck, openProject, projectPlace, type RunFlags, soundProject } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { toolFacts } from "./project-facts.ts";
import { formatTable } from "./table.ts";

export async function listTools(ports: CliPorts, flags: RunFlags & { readonly json?: boolean }): Promise<ExitCode> {
  const { terminal } = ports;
  const { loaded } = await openProject(ports, projectPlace(flags));
  const tools = toolFacts(soundProject(loaded), await conditionCheck(ports, flags.set)).filter(
    ({ visible }) => visible,
  );
  if (flags.json) terminal.out(`${JSON.stringify(tools.map(({ name, source }) => ({ name, source })))}\n`);
  else if (tools.length === 0) terminal.out("The model would see no tools.\n");
  else
    terminal.out(
      formatTable(
        ["TOOL", "SOURCE"],
        tools.map(({ name, source }) => [name, source]),
        terminal.columns,
      ),
    );
  return 0;
}
