/** Agents: one table for a file in `agents/` and an entry of `agents:` in `harness.md`. */
import { defined } from "#base";
import { contextType, type WrittenPath } from "./context-table.ts";
import { hookTable, hookType } from "./hook-table.ts";
import { agentModelType } from "./model-table.ts";
import type { AgentArtifact, Reference } from "./project.ts";
import {
  defineTable,
  type FieldType,
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

export const agentTable = defineTable({
  title: "Agent",
  about:
    "A file `.harness/agents/NAME.md`, or an entry of `agents:` in `harness.md`. In a file the name is the file's and the body is the system prompt.",
  fields: {
    name: { type: words("a name"), meaning: "Required in an entry of `agents:`; in a file the file name is the name." },
    description: { type: text(), meaning: "What the parent reads when it chooses whom to give work to." },
    prompt: {
      type: text(),
      default: "the body",
      meaning: "The system prompt of an entry of `agents:`, which has no body.",
    },
    model: {
      type: agentModelType,
      default: "the parent's",
      meaning: "A bare name is looked for in `models`, else it is one of the project's provider.",
    },
    tools: {
      type: list(reference("a tool", toolTable, toolType), { max: MAX_REFERENCES }),
      default: "none",
      meaning: "The tools it has. A definition is its own and nobody else's.",
    },
    hooks: {
      type: list(reference("a hook", hookTable, hookType), { max: MAX_REFERENCES }),
      default: "none",
      meaning: "Hooks besides those of the project, which hold for it as well.",
    },
    verify: {
      type: script,
      meaning:
        'Starlark with `def run(result)` that says whether the work was done: `json.encode({"verified": …, "reason": …})`, `True` or `False`. Without it only hooks on `delegation.post_verify` are asked.',
    },
    max_verify_retries: {
      type: integer(0, MAX_VERIFY_RETRIES),
      default: `\`${DEFAULT_VERIFY_RETRIES}\``,
      meaning: "How often it is sent back to work when its work is not accepted.",
    },
    tools_policy: {
      type: toolsPolicyType,
      default: "the project's alone",
      meaning: "Narrows its tools further. What it denies is denied to its delegates as well.",
    },
    context: { type: contextType, default: "the parent's", meaning: "What it is shown." },
  },
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
    const message = `The agent "${name}" has no description, so others can choose it by its name only.`;
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
    ...(model === undefined ? {} : { model: model.model, modelConfig: model }),
    ...defined({
      verify: values.verify,
      maxVerifyRetries: values.max_verify_retries,
      toolsPolicy: values.tools_policy,
    }),
    ...(context === undefined ? {} : { context: context.config }),
  };
  return { agent, contextFiles: context?.files ?? [] };
}

export const agentType: FieldType<WrittenAgent> = nested(agentTable, (read, reader) => makeAgent(read, reader));
