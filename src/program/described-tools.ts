/** The tools of a project as a model is sent them, for whoever lists them: no script is run, no delegate begun. */
import type { Project, ToolGroups } from "#artifacts";
import { createDelegationTools } from "#delegation";
import type { Tool } from "#engine";
import { metaTools, parametersSchema } from "#script";
import { createBuiltinTools } from "#tools";
import { createSystemClock } from "#world";

/** Name, description and parameters are what is sent. */
export type DescribedTool = Pick<Tool, "name" | "description" | "parameters" | "timeoutMs">;

export function describedTools({ config, agents, tools }: Project): ToolGroups<DescribedTool> {
  const clock = createSystemClock();
  const delegation = createDelegationTools({
    clock,
    delegations: { start: nothingRuns },
    limits: () => config.delegation,
    agents: () => agents,
  });
  return {
    given: createBuiltinTools(clock).tools(),
    project: tools.map(({ name, description, parameters }) => {
      return { name, description, parameters: parametersSchema(parameters) };
    }),
    meta: metaTools({ maxCallDepth: 0, listTools: () => [], register: nothingRuns }),
    delegation: delegation(),
  };
}

function nothingRuns(): Promise<never> {
  return Promise.reject(new Error("a listed tool cannot run"));
}
