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
import { choice, defineTable, list, type Reader, readTable, warning } from "./schema.ts";
import { serveType } from "./serve-table.ts";
import { projectContextType } from "./source-table.ts";
import { toolType } from "./tool-table.ts";
import { toolsPolicyType } from "./tools-policy.ts";
import type { MapTree } from "./yaml-tree.ts";

const MAX_INLINE = 500;
const MAX_ARTIFACT_ROOTS = 20;

export const configTable = defineTable({
  title: "Project file",
  about:
    "`harness.md` or `harness.yaml` (also `harness.yml`), in the root of the project. A project has only one of them. In `harness.md` the frontmatter holds these fields and the body is the identity of the agent; `harness.yaml` has no body.",
  fields: {
    model: { type: modelType, default: "the first provider whose key is set", meaning: "The model to use." },
    models: {
      type: modelListType,
      default: "none",
      meaning: "More models: fallbacks for `model`, and models that agents can select by name.",
    },
    context: {
      type: projectContextType,
      meaning: "Which parts of the conversation, which files and which sources the model sees.",
    },
    tools: { type: list(toolType, { max: MAX_INLINE }), default: "none", meaning: "Tools defined in this file." },
    tools_policy: { type: toolsPolicyType, default: "every tool", meaning: "Which tools the agent has." },
    hooks: { type: list(hookType, { max: MAX_INLINE }), default: "none", meaning: "Hooks defined in this file." },
    agents: { type: list(agentType, { max: MAX_INLINE }), default: "none", meaning: "Agents defined in this file." },
    delegation: { type: delegationType, meaning: "Limits for delegating work to other agents." },
    meta: {
      type: metaType,
      default: "off",
      meaning: "Whether scripts may register tools, hooks and agents at run time.",
    },
    serve: { type: serveType, default: "none", meaning: "Where `harness serve` gets its inputs." },
    network: {
      type: networkType,
      default: "any public host",
      meaning: "Which hosts scripts and `web.fetch` may connect to.",
    },
    mcp_servers: {
      type: declaredServersType,
      default: "none",
      meaning:
        "MCP servers by name. Each needs your approval before it starts. `paths`, `private_network`, `read_only_tools` and `sandbox` are for your own `config.toml` only.",
    },
    permissions: { type: permissionsType, meaning: "Which calls run, which ask for approval and which are refused." },
    sandbox: {
      type: choice("auto", "required", "off"),
      default: "`auto`",
      meaning:
        "`required`: Harness refuses to start a session if the machine has no sandbox. `off` has no effect here: only the user's own configuration can turn the sandbox off.",
    },
    budgets: { type: budgetsType, meaning: "Limits on cost, tokens, steps, calls and time." },
    artifact_roots: {
      type: list(pathInside, { max: MAX_ARTIFACT_ROOTS }),
      default: "none",
      meaning: "More folders of the project that Harness reads like `.harness`.",
    },
  },
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
