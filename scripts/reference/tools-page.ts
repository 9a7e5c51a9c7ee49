/** The page about the built-in tools. */
import type { Tool } from "#engine";
import { createBuiltinTools } from "#tools";
import { createSystemClock } from "#world";
import { fieldTable, type Schema } from "./field-table.ts";
import { GENERATED, page, plain, table } from "./markdown.ts";

export function toolsPage(): string {
  const tools = createBuiltinTools(createSystemClock()).tools();
  return page([
    "# Built-in tools",
    GENERATED,
    "Logs and events use the canonical name; people see the label. Permission rules accept both. In requests to a provider, `_` replaces each dot of the name. [permissions.md](permissions.md) describes how Harness decides about a call.",
    "Within one response, consecutive read-only and sensitive calls run in parallel; a mutating call runs alone and in order. Paths are relative to the workspace and cannot leave it, not even through symbolic links.",
    table(
      ["tool", "label", "class", "description for the model"],
      tools.map((tool) => [`\`${tool.name}\``, tool.label, tool.class, plain(tool.description)]),
    ),
    ...tools.flatMap(toolSection),
  ]);
}

function toolSection(tool: Tool): string[] {
  // The built-in tools declare plain object schemas.
  return [`## ${tool.name}`, fieldTable(tool.parameters as Schema, [])];
}
