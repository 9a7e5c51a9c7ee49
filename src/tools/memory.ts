/** `memory.search`, `memory.write` and `memory.forget`: what the agent finds again in later sessions. Where it is kept, the port knows. */
import {
  type MemoryDraft,
  type MemoryTier,
  type MemoryType,
  memoryText,
  memoryTiers,
  memoryTypes,
  type OwnScope,
  objectSchema,
  ownScopes,
} from "#base";
import { type Tool, ToolError, textOutput } from "#engine";
import { optionalText, textArgument, textListArgument } from "./arguments.ts";
import type { ToolFacts } from "./facts.ts";

const FOUND = 5;
const MAX_QUERY_CHARS = 1_000;
const NAME = { type: "string", pattern: "^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$" } as const;
const SCOPE = { type: "string", enum: ownScopes, description: "Default: project." } as const;

/** Of all three, by name. */
export const memoryFacts = {
  search: {
    name: "memory.search",
    label: "Recall",
    class: "read_only",
    kind: "recall",
    fresh: true,
    subject: (args) => textArgument(args, "query"),
  },
  write: { name: "memory.write", label: "Remember", class: "mutating", kind: "memory", paths: [], subject: memoryName },
  forget: { name: "memory.forget", label: "Forget", class: "mutating", kind: "memory", paths: [], subject: memoryName },
} as const satisfies Readonly<Record<string, ToolFacts>>;

/** `project/deploy-days`: what a rule names. */
function memoryName(args: Readonly<Record<string, unknown>>): string {
  return `${scopeOf(args)}/${textArgument(args, "name")}`;
}

export const searchMemories: Tool & ToolFacts = {
  ...memoryFacts.search,
  description: `Find memories of earlier sessions by words; the best ${FOUND} are shown.`,
  parameters: objectSchema({ query: { type: "string", maxLength: MAX_QUERY_CHARS } }, ["query"]),
  async run(args, { ports }) {
    const found = await ports.memory.search(textArgument(args, "query"), FOUND);
    return textOutput(found.map(memoryText).join("\n\n") || "No memory matches.");
  },
};

export const writeMemory: Tool & ToolFacts = {
  ...memoryFacts.write,
  description:
    "Remember something for later sessions: a preference of the user, a correction, a fact that files do not show. Not what the code says, and never a secret. One subject each; the same name replaces it.",
  parameters: objectSchema(
    {
      name: NAME,
      description: { type: "string", minLength: 1, maxLength: 300, description: "One line: what it says." },
      tags: {
        type: "array",
        items: { type: "string", maxLength: 40 },
        minItems: 1,
        maxItems: 20,
        description: "Words that a later request about this would contain.",
      },
      keywords: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 80 },
        minItems: 1,
        maxItems: 30,
        description:
          "What finds it when a later request uses other words, 10 to 25: tasks in which it matters, as a person would type them; what goes wrong without it; error messages; tools; synonyms.",
      },
      body: { type: "string", maxLength: 8_000 },
      type: { type: "string", enum: memoryTypes, description: "Default: project." },
      tier: { type: "string", enum: memoryTiers, description: "core: in every prompt. Default: long-term." },
      scope: SCOPE,
    },
    ["name", "description", "tags", "keywords"],
  ),
  async run(args, { ports }) {
    const draft: MemoryDraft = {
      name: textArgument(args, "name"),
      scope: scopeOf(args),
      // The schema lets nothing else pass.
      type: (optionalText(args, "type") ?? "project") as MemoryType,
      tier: (optionalText(args, "tier") ?? "long-term") as MemoryTier,
      description: textArgument(args, "description").replace(/\s+/g, " ").trim(),
      tags: textListArgument(args, "tags").map((tag) => tag.trim().toLowerCase().replace(/\s+/g, "-")),
      keywords: textListArgument(args, "keywords"),
      body: optionalText(args, "body") ?? "",
    };
    const done = await ports.memory.write(draft);
    return textOutput(done === "new" ? `Remembered as ${draft.name}.` : `The memory ${draft.name} is replaced.`);
  },
};

export const forgetMemory: Tool & ToolFacts = {
  ...memoryFacts.forget,
  description: "Forget a memory that is wrong or out of date.",
  parameters: objectSchema({ name: NAME, scope: SCOPE }, ["name"]),
  async run(args, { ports }) {
    const name = textArgument(args, "name");
    const scope = scopeOf(args);
    if (await ports.memory.forget(scope, name)) return textOutput(`The memory ${name} is gone.`);
    throw new ToolError(`There is no ${scope} memory ${name}. Find it with memory.search.`);
  },
};

function scopeOf(args: Readonly<Record<string, unknown>>): OwnScope {
  return optionalText(args, "scope") === "user" ? "user" : "project";
}
