/** `/agents:NAME TASK`: asks the model to delegate. The delegation is a call of the model, so it is judged and recorded like any other. */
import type { SlashSource } from "#engine";
import { textArguments } from "#protocol";
import type { ProjectRuntime } from "./project.ts";

export function agentCommands(runtime: ProjectRuntime | undefined): SlashSource {
  return {
    owner: "agents of the project",
    namespaces: ["agents"],
    entries: () =>
      (runtime?.live.current().agents ?? []).map(({ name, description }) => ({
        namespace: "agents",
        name,
        description: description ?? `delegate a task to ${name}`,
        args_schema: textArguments("task!"),
        run: ({ task = "" }) => ({
          input: `Delegate this task to the agent ${name} with the tool delegate, and report its result: ${task}`,
        }),
      })),
  };
}
