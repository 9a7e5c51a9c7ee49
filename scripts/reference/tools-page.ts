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
    "The canonical name is what logs and events carry; the label is what people see, and permission rules take either. A " +
      "provider's wire gets the name with `_` for each dot. How a call is judged: [permissions.md](permissions.md).",
    "Calls of one response: read-only and sensitive ones that stand next to each other run side by side, a mutating one runs " +
      "alone and in order. Paths are relative to the workspace and cannot leave it, symlinks included.",
    table(
      ["tool", "label", "class", "what the model is told"],
      tools.map((tool) => [`\`${tool.name}\``, tool.label, tool.class, plain(tool.description)]),
    ),
    ...tools.flatMap(toolSection),
  ]);
}

function toolSection(tool: Tool): string[] {
  // The built-in tools declare plain object schemas.
  return [`## ${tool.name}`, fieldTable(tool.parameters as Schema, [])];
}
