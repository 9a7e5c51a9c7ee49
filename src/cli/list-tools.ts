/** `--list-tools` of `run` and `deploy`: the tools that the model would be sent, after policy and conditions. */

import {
  conditionCheck,
  openProject,
  previewProject,
  projectPlace,
  type RunFlags,
  soundProject,
  userFlags,
  withProfile,
} from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";
import { toolFacts, warnOfServers } from "./tool-facts.ts";

export async function listTools(ports: CliPorts, flags: RunFlags & { readonly json?: boolean }): Promise<ExitCode> {
  const place = await withProfile(ports, projectPlace(flags), userFlags(flags));
  const project = soundProject((await openProject(ports, place)).loaded);
  const preview = await previewProject(ports, { place, project, flags });
  const { terminal } = await ports.outward.through(ports, flags.json);
  const tools = toolFacts(project, await conditionCheck(ports, flags.set), preview).filter(({ visible }) => visible);
  warnOfServers(terminal, preview);
  const rows = tools.map(({ name, source, description, schema }) => ({ name, source, description, schema }));
  if (flags.json) terminal.out(`${JSON.stringify(rows)}\n`);
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
