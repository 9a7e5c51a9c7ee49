/** Puts the admin policy above the project: of two limits the tighter one holds, of two lists both, and nothing is loosened. */
import { defined } from "#base";
import type { WrittenConfig } from "./config-table.ts";
import { DEFAULT_CONTEXT_TOKENS, DEFAULT_MAX_HISTORY } from "./context-table.ts";
import { defaultDelegation, defaultMeta } from "./limits-table.ts";
import type { BudgetConfig, DelegationConfig, MetaConfig, ProjectConfig, SandboxMode, Tier } from "./project.ts";

const STRICTNESS: Readonly<Record<SandboxMode, number>> = { auto: 0, required: 1 };

/** Either may be absent: a project without a root file, a machine without a policy. */
export function mergeTiers(project: WrittenConfig | undefined, admin: WrittenConfig | undefined): ProjectConfig {
  const tiers = [
    { tier: "admin" as const, config: admin },
    { tier: "project" as const, config: project },
  ];
  const written = tiers.flatMap(({ tier, config }) => (config === undefined ? [] : [{ tier, config }]));
  const permissions = written.flatMap(({ config }) => config.permissions ?? []);
  const strict = permissions.some((one) => one.strict) || permissions.find((one) => one.strict === false)?.strict;
  const sandbox = stricter(project?.sandbox, admin?.sandbox);
  const delegation = tighterDelegation({ ...defaultDelegation, ...project?.delegation }, admin?.delegation);
  const cap = admin?.delegation?.iterationsPerDepth?.[0];
  return {
    models: project?.models ?? [],
    context: project?.context?.config ?? { files: [] },
    contextDefaults:
      project === undefined ? {} : { maxHistory: DEFAULT_MAX_HISTORY, maxTokens: DEFAULT_CONTEXT_TOKENS },
    toolsPolicies: written.flatMap(({ tier, config: { toolsPolicy } }) => owned(tier, "policy", toolsPolicy)),
    networks: written.flatMap(({ tier, config: { network } }) => owned(tier, "network", network)),
    permissions: permissions.flatMap((one) => one.rules),
    labelRules: permissions.flatMap((one) => one.labels),
    permissionExamples: permissions.flatMap((one) => one.examples),
    delegation,
    meta: tighterMeta(project?.meta ?? defaultMeta, admin?.meta),
    serve: project?.serve ?? [],
    mcpServers: project?.mcpServers ?? [],
    budgets: tighterBudgets(project?.budgets ?? {}, admin?.budgets ?? {}),
    ...defined({ model: project?.model }),
    ...(project?.delegation?.iterationsPerDepth === undefined
      ? {}
      : { maxSteps: delegation.iterationsPerDepth[0] ?? 1 }),
    ...defined({ maxStepsCap: cap, strictPermissions: strict, sandbox }),
  };
}

function owned<Key extends string, Value>(tier: Tier, key: Key, value: Value | undefined) {
  // A computed key loses its type.
  return value === undefined ? [] : [{ tier, [key]: value } as { tier: Tier } & Record<Key, Value>];
}

function stricter(a: SandboxMode | undefined, b: SandboxMode | undefined): SandboxMode | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b;
}

function tighterDelegation(project: DelegationConfig, admin: Partial<DelegationConfig> | undefined): DelegationConfig {
  if (admin === undefined) return project;
  const caps = admin.iterationsPerDepth ?? [];
  const steps = project.iterationsPerDepth;
  const levels = Array.from({ length: Math.max(steps.length, caps.length) }, (_, depth) => depth);
  // The last entry of a list holds for what is deeper.
  const at = (list: readonly number[], depth: number): number => list[depth] ?? list.at(-1) ?? Number.POSITIVE_INFINITY;
  return {
    maxDepth: least(project.maxDepth, admin.maxDepth),
    maxConcurrent: least(project.maxConcurrent, admin.maxConcurrent),
    iterationsPerDepth: levels.map((depth) => Math.min(at(steps, depth), at(caps, depth))),
    timeoutMs: least(project.timeoutMs, admin.timeoutMs),
    allowRecursive: project.allowRecursive && (admin.allowRecursive ?? true),
  };
}

function tighterMeta(project: MetaConfig, admin: MetaConfig | undefined): MetaConfig {
  if (admin === undefined) return project;
  return {
    enabled: project.enabled && admin.enabled,
    maxTools: Math.min(project.maxTools, admin.maxTools),
    maxHooks: Math.min(project.maxHooks, admin.maxHooks),
    maxAgents: Math.min(project.maxAgents, admin.maxAgents),
    maxCallDepth: Math.min(project.maxCallDepth, admin.maxCallDepth),
  };
}

/** Of each limit the lower one; a limit that only one of them has holds. */
export function tighterBudgets(a: ProjectConfig["budgets"], b: ProjectConfig["budgets"]): ProjectConfig["budgets"] {
  const spans = ["turn", "session", "tree"] as const;
  const merged = spans.flatMap((span) => {
    const both = [a[span], b[span]].filter((budget) => budget !== undefined);
    return both.length === 0 ? [] : [[span, tighterBudget(both)] as const];
  });
  return Object.fromEntries(merged);
}

function tighterBudget(budgets: readonly BudgetConfig[]): BudgetConfig {
  const keys = ["maxCostUsd", "maxTokens", "maxSteps", "maxCalls", "maxWallMs"] as const;
  return Object.fromEntries(
    keys.flatMap((key) => {
      const values = budgets.flatMap((budget) => budget[key] ?? []);
      return values.length === 0 ? [] : [[key, Math.min(...values)]];
    }),
  );
}

function least(a: number, b: number | undefined): number {
  return b === undefined ? a : Math.min(a, b);
}
