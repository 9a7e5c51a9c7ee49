/** Agents: one table for a file in `agents/` and an entry of `agents:` in `harness.md`. */
import { defined } from "#base";
import { contextType, type WrittenPath } from "./context-table.ts";
import { hookTable, hookType } from "./hook-table.ts";
import { declaredServersType } from "./mcp-table.ts";
import { agentModelType } from "./model-table.ts";
import type { AgentArtifact, Reference } from "./project.ts";
import {
  choice,
  defineTable,
  type FieldType,
  field,
  forms,
  integer,
  list,
  nested,
  type Reader,
  script,
  type Table,
  type TableValues,
  text,
  warning,
  words,
} from "./schema.ts";
import { artifactName, type FileGiven, toolTable, toolType } from "./tool-table.ts";
import { toolsPolicyType } from "./tools-policy.ts";

const MAX_REFERENCES = 200;
const MAX_VERIFY_RETRIES = 10;
/** How often a delegate is sent back to work when nobody says otherwise. */
export const DEFAULT_VERIFY_RETRIES = 2;

/** A name of something that is defined elsewhere, or a definition. */
function reference<Of>(shown: string, table: Table, definition: FieldType<Of>): FieldType<Reference<Of>> {
  return forms<Reference<Of>>(`the name of ${shown}, or a definition`, [table], (tree) => {
    if (tree.kind === "map") return (written, reader) => definition.read(written, reader);
    const name = tree.kind === "scalar" && typeof tree.value === "string" ? tree.value.trim() : "";
    return name === "" ? undefined : () => ({ ref: name, place: tree.place });
  });
}

export const agentTable = defineTable(
  "Agent",
  "A file `.harness/agents/NAME.md`, or an entry of `agents:` in `harness.md`. For a file, the file name is the agent's name and the body is its system prompt.",
).of({
  name: field(words("a name")).means(
    "Required in an entry of `agents:`. In a file, leave it out: the file name is used.",
  ),
  description: field(text()).means("The parent agent reads this when it decides which agent gets a task."),
  prompt: field(text(), "the body").means("The system prompt, for an entry of `agents:` (which has no body)."),
  model: field(agentModelType, "the parent's").means(
    "The model to use. For a bare name, Harness looks in `models` first; otherwise it is a model of the project's provider.",
  ),
  tools: field(list(reference("a tool", toolTable, toolType), { max: MAX_REFERENCES }), "none").means(
    "The tools of this agent. A tool defined here is available to this agent only.",
  ),
  hooks: field(list(reference("a hook", hookTable, hookType), { max: MAX_REFERENCES }), "none").means(
    "Hooks for this agent, in addition to the project's hooks.",
  ),
  mcp_servers: field(declaredServersType, "none").means(
    "MCP servers for this agent only, with all of their tools. Same keys as in the project file; each needs your approval.",
  ),
  verify: field(script).means(
    'Starlark with `def run(result)` that checks the work of the agent. It returns `json.encode({"verified": …, "reason": …})`, `True` or `False`. Without it, only hooks on `delegation.post_verify` check the work.',
  ),
  max_verify_retries: field(integer(0, MAX_VERIFY_RETRIES), `\`${DEFAULT_VERIFY_RETRIES}\``).means(
    "How often Harness sends the agent back to work after a check rejects its result.",
  ),
  tools_policy: field(toolsPolicyType, "only the project's policy").means(
    "Restricts the agent's tools further. Tools denied here are also denied to its delegates.",
  ),
  isolation: field(choice("worktree"), "it works in the workspace").means(
    "`worktree`: the agent works on a copy of the last commit, in a git worktree of its own. The agent that delegates takes its changes over or drops them.",
  ),
  context: field(contextType, "the parent's").means("Which parts of the conversation and which files the agent sees."),
});

export interface WrittenAgent {
  readonly agent: AgentArtifact;
  readonly contextFiles: readonly WrittenPath[];
}

/** Undefined when it has no usable name. */
export function makeAgent(
  { values, at, place }: TableValues<typeof agentTable.fields>,
  reader: Reader,
  given?: FileGiven,
): WrittenAgent | undefined {
  const name = artifactName("Agent", values.name, at("name"), place, reader, given?.name);
  if (name === undefined) return undefined;
  const { description = "", model, context } = values;
  if (description.trim() === "") {
    const message = `The agent "${name}" has no description, so other agents know only its name when they choose an agent.`;
    reader.report(warning("no-description", values.description === undefined ? place : at("description"), message));
  }
  const agent: AgentArtifact = {
    kind: "agent",
    name,
    place,
    hash: reader.hash,
    tier: reader.tier,
    description: description.trim(),
    prompt: given?.body || values.prompt?.trim() || context?.config.systemPrompt || "",
    tools: values.tools ?? [],
    hooks: values.hooks ?? [],
    ...defined({ model: model?.model, modelConfig: model }),
    ...defined({
      verify: values.verify,
      maxVerifyRetries: values.max_verify_retries,
      toolsPolicy: values.tools_policy,
      isolation: values.isolation,
      mcpServers: values.mcp_servers,
    }),
    ...defined({ context: context?.config }),
  };
  return { agent, contextFiles: context?.files ?? [] };
}

export const agentType: FieldType<WrittenAgent> = nested(agentTable, (read, reader) => makeAgent(read, reader));
