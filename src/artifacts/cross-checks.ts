/** What can only be found when all files are read: names used twice, references to nothing, policies about nothing. */
import { delegationToolNames, isReservedToolName } from "#tools";
import { globMatches, hasWildcard } from "./name-glob.ts";
import type {
  AgentArtifact,
  BundleArtifact,
  HookArtifact,
  Problem,
  ProjectConfig,
  SourceLocation,
  ToolArtifact,
  ToolsPolicy,
} from "./project.ts";
import { error, nearestTo, warning } from "./schema.ts";

export interface WholeProject {
  readonly config: ProjectConfig;
  readonly identityPlace?: SourceLocation;
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  readonly agents: readonly AgentArtifact[];
  readonly bundles: readonly BundleArtifact[];
  readonly knownTools: readonly string[];
}

/** Tools of MCP servers are not known before the servers are asked. */
const KNOWN_LATER = /^mcp[.*]/;
/** The tools of `meta.enabled`; what is registered through them has a name that nobody knows yet. */
const META_TOOLS = ["register_tool", "register_hook", "register_agent", "list_tools", "call_tool"].map(
  (name) => `meta.${name}`,
);

export function crossCheck(whole: WholeProject): readonly Problem[] {
  const { tools, hooks, agents, bundles, knownTools, config } = whole;
  const builtin = new Set([...knownTools, ...delegationToolNames]);
  const metaTools = config.meta.enabled ? META_TOOLS : [];
  const toolNames = new Set([...builtin, ...metaTools, ...tools.map(({ name }) => name)]);
  return [
    ...repeated("tool", tools),
    ...repeated("hook", hooks),
    ...repeated("agent", agents),
    ...repeated("bundle", bundles),
    ...repeated(
      "MCP server",
      [...config.mcpServers, ...agents.flatMap(({ mcpServers = [] }) => mcpServers)].map(({ server, place }) => {
        return { name: server.name, place };
      }),
    ),
    ...tools
      // Of plugins: the program's own names are told where they are written.
      .filter(({ name }) => builtin.has(name) && !isReservedToolName(name))
      .map(({ name, place }) => {
        return error("duplicate-name", place, `A built-in tool already has the name "${name}".`);
      }),
    ...identities(whole),
    ...agents.flatMap((agent) => agentProblems(agent, toolNames, new Set(hooks.map(({ name }) => name)))),
    ...config.toolsPolicies.flatMap(({ policy }) => idleAllows(policy, toolNames, config.meta.enabled)),
  ];
}

function repeated(
  kind: string,
  artifacts: readonly { readonly name: string; readonly place: SourceLocation; readonly tier?: string }[],
): readonly Problem[] {
  const first = new Map<string, SourceLocation>();
  return artifacts.flatMap(({ name, place }) => {
    const before = first.get(name);
    if (before === undefined) first.set(name, place);
    if (before === undefined) return [];
    const message = `The ${kind} "${name}" is already defined in ${before.file}:${before.line}.`;
    return [error("duplicate-name", place, message)];
  });
}

function identities({ identityPlace, bundles }: WholeProject): readonly Problem[] {
  const own = bundles.filter(({ type }) => type === "harness");
  const [first, ...more] = [...(identityPlace === undefined ? [] : [identityPlace]), ...own.map(({ place }) => place)];
  return more.map((place) => {
    return error("second-identity", place, `A project has only one identity, and ${first?.file} already defines it.`);
  });
}

function agentProblems(
  agent: AgentArtifact,
  tools: ReadonlySet<string>,
  hooks: ReadonlySet<string>,
): readonly Problem[] {
  const own = agent.tools.flatMap((tool) => ("ref" in tool ? [] : [tool.name]));
  const unknown = (kind: string, ref: string, place: SourceLocation, known: ReadonlySet<string>): Problem[] => {
    if (known.has(ref) || KNOWN_LATER.test(ref)) return [];
    const message = `The agent "${agent.name}" refers to the ${kind} "${ref}", which is not defined.`;
    return [error("unknown-reference", place, message, nearestTo(ref, known))];
  };
  return [
    ...agent.tools.flatMap((tool) => ("ref" in tool ? unknown("tool", tool.ref, tool.place, tools) : [])),
    ...agent.hooks.flatMap((hook) => ("ref" in hook ? unknown("hook", hook.ref, hook.place, hooks) : [])),
    ...repeated(
      "tool",
      agent.tools.map((tool) => ("ref" in tool ? { name: tool.ref, place: tool.place } : tool)),
    ),
    ...repeated(
      "hook",
      agent.hooks.map((hook) => ("ref" in hook ? { name: hook.ref, place: hook.place } : hook)),
    ),
    ...(agent.toolsPolicy === undefined ? [] : idleAllows(agent.toolsPolicy, new Set([...tools, ...own]))),
  ];
}

function idleAllows({ mode, allow }: ToolsPolicy, tools: ReadonlySet<string>, mayRegister = false): readonly Problem[] {
  if (mode === "denylist") return [];
  return allow.flatMap(({ pattern, place }) => {
    if (KNOWN_LATER.test(pattern) || pattern === "*" || (mayRegister && hasWildcard(pattern))) return [];
    const isKnown = hasWildcard(pattern) ? [...tools].some((name) => globMatches(pattern, name)) : tools.has(pattern);
    if (isKnown) return [];
    const message = `"${pattern}" matches no tool of this project.`;
    return [warning("unknown-tool", place, message, hasWildcard(pattern) ? {} : nearestTo(pattern, tools))];
  });
}
