/** The `verify:` of an agent, as the tool that it is: the same language, the same built-ins, the same checks. */
import type { AgentArtifact, ScriptSource, SourceLocation, ToolArtifact } from "./project.ts";

/** What rules, hooks and the log call one of a file. */
const VERIFIER_NAME = "delegation.verify";
/** And one that came with a request: a rule for those that somebody acked is none for it. */
export const REQUEST_VERIFIER_NAME = "delegation.verify_request";

export function verifierTool(
  script: ScriptSource,
  of: Pick<ToolArtifact, "hash" | "tier">,
  place: SourceLocation,
  name = VERIFIER_NAME,
): ToolArtifact {
  return {
    kind: "tool",
    name,
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
