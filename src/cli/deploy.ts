/** `harness deploy`: one input in, one final answer out, with an exit code that tells the truth. */

import { isBareProject, type Project } from "#artifacts";
import type { LogFlags, RunFlags } from "#program";
import { ReasonError } from "#protocol";
import { sendForSchema } from "./answer-schema.ts";
import type { CliPorts } from "./cli-ports.ts";
import { withProgram } from "./cli-session.ts";
import { type ExitCode, exitCodeOf } from "./exit-code.ts";
import { printAnswer, readPromptFromInput, readSchema, reportUnrecorded } from "./run.ts";

export interface DeployFlags extends RunFlags, LogFlags {
  readonly input?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly outputSchema?: string;
  readonly listTools?: boolean;
  readonly stream?: boolean;
}

export async function deployCommand(ports: CliPorts, flags: DeployFlags): Promise<ExitCode> {
  const { terminal } = ports;
  if (flags.listTools) {
    const { listTools } = await import("./list-tools.ts");
    return listTools(ports, flags);
  }
  if (flags.stream && flags.outputSchema !== undefined) {
    throw new ReasonError("UsageInvalid", "--stream and --output-schema cannot be combined");
  }
  const schema = flags.outputSchema === undefined ? undefined : await readSchema(ports, flags.outputSchema);
  return withProgram(ports, { flags, offlineAllowed: false }, async (program, open): Promise<ExitCode> => {
    const { harness, settings, workspace, project } = program;
    if (flags.dryRun) {
      const { requestFacts, serverFacts, warnOfServers } = await import("./tool-facts.ts");
      const preview = await harness.preview(workspace, flags.set);
      warnOfServers(terminal, preview);
      const request = requestFacts(preview);
      const plan = {
        model: harness.model,
        fallbacks: harness.fallbacks,
        workspace,
        tools: request.tools.map(({ name }) => name),
        mcp_servers: serverFacts(preview),
        request,
        permissions: settings.permissions,
        strict_permissions: settings.strictPermissions,
        max_steps: settings.maxSteps,
        store: flags.store,
        context: flags.set ?? {},
        ...(project === undefined ? {} : { project: await projectPlan(project) }),
      };
      terminal.out(`${JSON.stringify(plan, null, 2)}\n`);
      return 0;
    }
    const input = flags.input ?? (await readPromptFromInput(terminal));
    if (input.trim() === "") throw new ReasonError("UsageInvalid", "--input is empty");
    const output = flags.json ? "json" : flags.stream ? "stream" : "answer";
    const session = await open({ output, interactive: false, exit: () => process.exit(130) });
    const turn = schema === undefined ? await session.send(input) : await sendForSchema(session, input, schema);
    if (flags.json) reportUnrecorded(ports, turn);
    else if (!flags.stream) printAnswer(ports, turn);
    return exitCodeOf(turn);
  });
}

/** What the files of the project bring in; null when there are none. */
async function projectPlan(project: Project): Promise<Readonly<Record<string, unknown>> | null> {
  if (isBareProject(project)) return null;
  const { settingsFacts } = await import("./project-facts.ts");
  const names = (artifacts: readonly { readonly name: string }[]): string[] => artifacts.map(({ name }) => name);
  return {
    file: project.configFile ?? null,
    version: project.version,
    tools: names(project.tools),
    hooks: names(project.hooks),
    agents: names(project.agents),
    artifacts: names(project.bundles),
    ...settingsFacts(project),
  };
}
