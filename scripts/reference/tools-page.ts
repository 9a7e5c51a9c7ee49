/** The page about the built-in tools. */
import { createUlidFactory } from "#base";
import type { Tool } from "#engine";
import { createIdMint } from "#protocol";
import { createBackgroundJobs, createBuiltinTools, createJobTools, createPlanTool, createTodosTool } from "#tools";
import { createSystemClock, createSystemRandom } from "#world";
import { fieldTable, type Schema } from "./field-table.ts";
import { GENERATED, page, plain, table } from "./markdown.ts";

export function toolsPage(): string {
  const tools = [...createBuiltinTools(createSystemClock()).tools(), ...sessionTools()];
  return page([
    "# Built-in tools",
    GENERATED,
    "Logs and events use the canonical name; people see the label. Permission rules accept both. In requests to a provider, `_` replaces each dot of the name. [permissions.md](permissions.md) describes how Harness decides about a call.",
    "Within one response, consecutive read-only and sensitive calls run in parallel; a mutating call runs alone and in order. Paths are relative to the workspace and cannot leave it, not even through symbolic links.",
    table(
      ["tool", "label", "class", "description for the model"],
      tools.map((tool) => [`\`${tool.name}\``, tool.label, tool.class, plain(tool.description)]),
    ),
    "`job.read` and `job.stop` are offered once a session has started a command in the background. `plan`, `todos` and background commands are for the root agent. [Plans, todos and background work](../guide/plans-and-background-work.md) describes them.",
    ...tools.flatMap(toolSection),
  ]);
}

/** Only what they say of themselves is read: nothing is published. */
function sessionTools(): readonly Tool[] {
  const clock = createSystemClock();
  const ids = createIdMint(createUlidFactory({ clock, random: createSystemRandom() }));
  const bus = { publish: async () => undefined, publishDelta: () => undefined };
  const stream = (): never => {
    throw new Error("no command is started");
  };
  const jobs = createBackgroundJobs({ bus, redaction: { stream }, clock, ids, now: () => ({}) });
  const desk = { propose: bus.publish, agree: bus.publish, done: async () => false };
  return [createPlanTool(desk), createTodosTool(bus.publish), ...createJobTools(jobs, clock)];
}

function toolSection(tool: Tool): string[] {
  // The built-in tools declare plain object schemas.
  return [`## ${tool.name}`, fieldTable(tool.parameters as Schema, [])];
}
