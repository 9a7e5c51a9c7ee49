/** The `verify:` of an agent, as the tool that it is: the same language, the same built-ins, the same checks. */
import type { AgentArtifact, Place, ScriptSource, ToolArtifact } from "./project.ts";

/** What rules, hooks and the log call it. */
export const VERIFIER_NAME = "delegation.verify";

export function verifierTool(
  script: ScriptSource,
  of: Pick<ToolArtifact, "hash" | "tier">,
  place: Place,
): ToolArtifact {
  return {
    kind: "tool",
    name: VERIFIER_NAME,
    description: "Says whether the work was done.",
    parameters: [],
    async: false,
    script,
    place,
    hash: of.hash,
    tier: of.tier,
  };
}

export function verifierOf(agent: AgentArtifact): ToolArtifact | undefined {
  return agent.verify === undefined ? undefined : verifierTool(agent.verify, agent, agent.verify.place);
}
