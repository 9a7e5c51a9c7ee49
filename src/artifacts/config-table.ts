/** `harness.md` and `harness.yaml`: the table of the root file, and of the admin policy, which may hold a part of it. */
import { defined } from "#base";
import { agentType, type WrittenAgent } from "./agent-table.ts";
import { pathInside, type WrittenContext, type WrittenPath } from "./context-table.ts";
import { hookType } from "./hook-table.ts";
import { budgetsType, delegationType, metaType } from "./limits-table.ts";
import type { DeclaredServer } from "./mcp-server.ts";
import { declaredServersType } from "./mcp-table.ts";
import { modelListType, modelType } from "./model-table.ts";
import type {
  DelegationConfig,
  HookArtifact,
  MetaConfig,
  ModelConfig,
  NetworkConfig,
  ProjectConfig,
  SandboxMode,
  ServeSource,
  ToolArtifact,
  ToolsPolicy,
} from "./project.ts";
import { networkType, permissionsType, type WrittenPermissions } from "./rules-table.ts";
import { choice, defineTable, field, list, type Reader, readTable, warning } from "./schema.ts";
import { serveType } from "./serve-table.ts";
import { projectContextType } from "./source-table.ts";
import { toolType } from "./tool-table.ts";
import { toolsPolicyType } from "./tools-policy.ts";
import type { MapTree } from "./yaml-tree.ts";

const MAX_INLINE = 500;
const MAX_ARTIFACT_ROOTS = 20;

export const configTable = defineTable(
  "Project file",
  "`harness.md` or `harness.yaml` (also `harness.yml`), in the root of the project. A project has only one of them. In `harness.md` the frontmatter holds these fields and the body is the identity of the agent; `harness.yaml` has no body.",
).of({
  model: field(modelType, "the first provider whose key is set").means("The model to use."),
  models: field(modelListType, "none").means(
    "More models: fallbacks for `model`, and models that agents can select by name.",
  ),
  context: field(projectContextType).means(
    "Which parts of the conversation, which files and which sources the model sees.",
  ),
  tools: field(list(toolType, { max: MAX_INLINE }), "none").means("Tools defined in this file."),
  tools_policy: field(toolsPolicyType, "every tool").means("Which tools the agent has."),
  hooks: field(list(hookType, { max: MAX_INLINE }), "none").means("Hooks defined in this file."),
  agents: field(list(agentType, { max: MAX_INLINE }), "none").means("Agents defined in this file."),
  delegation: field(delegationType).means("Limits for delegating work to other agents."),
  meta: field(metaType, "off").means("Whether scripts may register tools, hooks and agents at run time."),
  serve: field(serveType, "none").means("Where `harness serve` gets its inputs."),
  network: field(networkType, "any public host").means("Which hosts scripts and `web.fetch` may connect to."),
  mcp_servers: field(declaredServersType, "none").means(
    "MCP servers by name. Each needs your approval before it starts. `paths`, `private_network`, `read_only_tools` and `sandbox` are for your own `config.toml` only.",
  ),
  permissions: field(permissionsType).means("Which calls run, which ask for approval and which are refused."),
  sandbox: field(choice("auto", "required", "off"), "`auto`").means(
    "`required`: Harness refuses to start a session if the machine has no sandbox. `off` has no effect here: only the user's own configuration can turn the sandbox off.",
  ),
  budgets: field(budgetsType).means("Limits on cost, tokens, steps, calls and time."),
  artifact_roots: field(list(pathInside, { max: MAX_ARTIFACT_ROOTS }), "none").means(
    "More folders of the project that Harness reads like `.harness`.",
  ),
});

/** What may stand in the admin policy. Everything here can only tighten what a project says. */
export const adminKeys = [
  "tools_policy",
  "permissions",
  "hooks",
  "network",
  "sandbox",
  "budgets",
  "delegation",
  "meta",
] as const;

/** What one file says: nothing is filled in. */
export interface WrittenConfig {
  readonly model?: ModelConfig;
  readonly models: readonly ModelConfig[];
  readonly context?: WrittenContext;
  readonly tools: readonly ToolArtifact[];
  readonly hooks: readonly HookArtifact[];
  readonly agents: readonly WrittenAgent[];
  readonly toolsPolicy?: ToolsPolicy;
  readonly delegation?: Partial<DelegationConfig>;
  readonly meta?: MetaConfig;
  readonly serve: readonly ServeSource[];
  readonly network?: NetworkConfig;
  readonly permissions?: WrittenPermissions;
  readonly sandbox?: SandboxMode;
  readonly budgets?: ProjectConfig["budgets"];
  readonly artifactRoots: readonly WrittenPath[];
  readonly mcpServers: readonly DeclaredServer[];
}

export function readConfig(tree: MapTree, reader: Reader): WrittenConfig {
  const { values, at } = readTable(configTable, reader.tier === "admin" ? adminPart(tree, reader) : tree, reader);
  const { model, context, delegation, meta, network, permissions, budgets } = values;
  const sandbox = values.sandbox === "off" ? undefined : values.sandbox;
  if (values.sandbox === "off") {
    const message = '"sandbox: off" has no effect here: only the user\'s own configuration can turn the sandbox off.';
    reader.report(warning("sandbox-stays-on", at("sandbox"), message));
  }
  return {
    models: values.models ?? [],
    tools: values.tools ?? [],
    hooks: values.hooks ?? [],
    agents: values.agents ?? [],
    serve: values.serve ?? [],
    artifactRoots: values.artifact_roots ?? [],
    mcpServers: values.mcp_servers ?? [],
    ...defined({
      model,
      context,
      toolsPolicy: values.tools_policy,
      delegation,
      meta,
      network,
      permissions,
      sandbox,
      budgets,
    }),
  };
}

function adminPart(tree: MapTree, reader: Reader): MapTree {
  const allowed: readonly string[] = adminKeys;
  const foreign = tree.entries.filter(({ key }) => Object.hasOwn(configTable.fields, key) && !allowed.includes(key));
  for (const { key, keyPlace } of foreign) {
    reader.report(warning("not-in-admin-policy", keyPlace, `"${key}" has no effect in the admin policy.`));
  }
  return { ...tree, entries: tree.entries.filter((entry) => !foreign.includes(entry)) };
}
