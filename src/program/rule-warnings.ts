/** Rules that name a tool which does not exist, most often by a slip: a deny rule of that kind would protect nothing. */
import type { Project, Settings } from "#artifacts";
import { nearestName } from "#base";
import { namesTool, parseRule } from "#governance";
import { toolFacts } from "#tools";

/**
 * One warning for each rule that no tool can match. A rule of a file may be meant for another project, so it counts only when its
 * name is close to a known one. Nothing is said where plugins or `meta` may add tools of any name.
 */
export function ruleWarnings(
  { permissions, plugins }: Pick<Settings, "permissions" | "plugins">,
  project: Project | undefined,
  isProjectKnown: boolean,
): readonly string[] {
  if (Object.keys(plugins).length > 0 || project?.config.meta.enabled === true) return [];
  const own = (project?.tools ?? []).map(({ name }) => ({ tool: name, label: name }));
  const tools = [...toolFacts.map(({ name, label }) => ({ tool: name, label })), ...own];
  const names = tools.flatMap(({ tool, label }) => [label, tool]);
  return permissions.flatMap(({ effect, rule: text, source }) => {
    const rule = parseRule(text, effect, source);
    if (mayNameServer(rule.tool) || tools.some((tool) => namesTool(rule, tool))) return [];
    const nearest = nearestName(rule.tool, names);
    if (nearest === undefined && !(isProjectKnown && source.startsWith("--"))) return [];
    const remedy = nearest === undefined ? "To list the tools, run: harness tools" : `Did you mean '${nearest}'?`;
    return [`${source}: the ${effect} rule '${rule.text}' matches no tool. ${remedy}`];
  });
}

/** Whether the name can be that of a tool of an MCP server. */
function mayNameServer(name: string): boolean {
  const [start = ""] = name.split("*", 1);
  return start.startsWith("mcp.") || (name !== start && "mcp.".startsWith(start));
}
