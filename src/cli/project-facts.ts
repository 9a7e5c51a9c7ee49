/** What a project consists of, as rows that are printed as they are with `--json` and as tables without. */

import {
  type AgentArtifact,
  type BundleArtifact,
  type HookArtifact,
  inHookOrder,
  optionalFiles,
  type Project,
  type ShellHook,
  type SourceLocation,
  type ToolsPolicy,
} from "#artifacts";
import { defined } from "#base";
import type { ConditionCheck, ConditionResult } from "#program";

export interface HookFact {
  readonly event: string;
  readonly priority: number;
  readonly name: string;
  readonly source: string;
  readonly tier: string;
  readonly bundle?: string;
  readonly when?: string;
  readonly timeout_ms?: number;
  readonly on_error?: string;
  readonly examples: number;
  readonly active: boolean;
  /** Why a shell hook does not run. */
  readonly why?: string;
  /** Why the condition of its bundle could not be told. */
  readonly failed?: string;
}

/** By event, and within one in the order in which they are asked: the machine's first, then by priority, then by place. */
export function hookFacts(project: Project, holds: ConditionCheck): readonly HookFact[] {
  const sorted = inHookOrder(project.hooks).toSorted((a, b) => compare(a.event, b.event));
  return sorted.map((hook: HookArtifact) => ({
    event: hook.event,
    priority: hook.priority,
    name: hook.name,
    source: placeText(hook.place),
    tier: hook.tier,
    ...defined({ bundle: hook.bundle, when: hook.when?.text, timeout_ms: hook.timeoutMs, on_error: hook.onError }),
    examples: hook.match.length + hook.notMatch.length,
    ...activity(hook.condition === undefined ? { holds: true } : holds(hook.condition)),
  }));
}

/** In the order in which they are asked, behind all others; whether somebody acked those of the project is told by `harness ack`. */
export function shellHookFacts(
  project: Project,
  ofUser: readonly ShellHook[],
  isAllowed: boolean,
): readonly HookFact[] {
  const ofProject = optionalFiles(project, "hooks").flatMap(({ content }) => content.hooks);
  return [...ofProject, ...ofUser].map(({ event, command, source, tier, matcher, condition, timeoutMs, onError }) => {
    const isActive = tier === "user" || isAllowed;
    const why = "shell hooks of a project need --allow-project-hooks, or allow_project_hooks in your config.toml";
    return {
      ...{ event, priority: 0, name: command, source, tier, timeout_ms: timeoutMs, on_error: onError, examples: 0 },
      ...defined({ when: [matcher, condition].filter((part) => part !== undefined).join(", if ") || undefined }),
      active: isActive,
      ...(isActive ? {} : { why }),
    };
  });
}

/** A hook whose condition cannot be told is asked all the same, and fails as its event says. */
function activity({ holds, failed }: ConditionResult): Pick<HookFact, "active" | "failed"> {
  return failed === undefined ? { active: holds } : { active: true, failed };
}

export interface AgentFact {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly bundle?: string;
  /** Absent: that of its parent. */
  readonly model?: string;
  readonly tools: readonly string[];
  readonly hooks: readonly string[];
  readonly tools_policy?: PolicyFact;
  readonly active: boolean;
}

export function agentFacts(project: Project, holds: ConditionCheck): readonly AgentFact[] {
  return project.agents.map((agent: AgentArtifact) => ({
    name: agent.name,
    description: agent.description,
    source: placeText(agent.place),
    ...defined({ bundle: agent.bundle, model: agent.model }),
    tools: agent.tools.map((tool) => ("ref" in tool ? tool.ref : tool.name)),
    hooks: agent.hooks.map((hook) => ("ref" in hook ? hook.ref : hook.name)),
    ...(agent.toolsPolicy === undefined ? {} : { tools_policy: policyFact(agent.toolsPolicy) }),
    active: agent.condition === undefined || holds(agent.condition).holds,
  }));
}

export interface ArtifactFact {
  readonly type: string;
  readonly name: string;
  readonly source: string;
  readonly priority?: number;
  readonly version?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly condition?: string;
  readonly active: boolean;
  /** Why its condition could not be told. */
  readonly failed?: string;
  readonly tools?: readonly string[];
  readonly hooks?: readonly string[];
  readonly agents?: readonly string[];
}

/** The typed artifacts: `harness.md`, the bundles in the order in which the prompt has them, and the models. */
export function artifactFacts(project: Project, holds: ConditionCheck): readonly ArtifactFact[] {
  const { configFile, config } = project;
  const models = [...(config.model === undefined ? [] : [config.model]), ...config.models];
  return [
    ...(configFile === undefined
      ? []
      : [{ type: "harness", name: configFile, source: `${configFile}:1`, active: true }]),
    ...project.bundles.toSorted((a, b) => a.priority - b.priority).map((bundle) => bundleFact(project, bundle, holds)),
    ...models.map(({ model, place }) => ({ type: "model", name: model, source: placeText(place), active: true })),
  ];
}

function bundleFact(project: Project, bundle: BundleArtifact, holds: ConditionCheck): ArtifactFact {
  const { name, type, priority, place, version, description, tags, condition } = bundle;
  const result = condition === undefined ? { holds: true } : holds(condition);
  const names = (artifacts: readonly { name: string; bundle?: string }[]): string[] =>
    artifacts.filter((artifact) => artifact.bundle === name).map((artifact) => artifact.name);
  return {
    type,
    name,
    source: placeText(place),
    priority,
    ...defined({ version, description }),
    tags,
    ...defined({ condition: condition?.text }),
    // One that clamps holds when its condition cannot be told.
    active: result.holds || (result.failed !== undefined && type === "override"),
    ...defined({ failed: result.failed }),
    tools: names(project.tools),
    hooks: names(project.hooks),
    agents: names(project.agents),
  };
}

export interface PolicyFact {
  readonly mode: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export function policyFact({ mode, allow, deny }: ToolsPolicy): PolicyFact {
  return { mode, allow: allow.map(({ pattern }) => pattern), deny: deny.map(({ pattern }) => pattern) };
}

/** An empty list is named where it decides something. */
export function policyText({ mode, allow, deny }: PolicyFact): string {
  const part = (what: string, patterns: readonly string[], decides: boolean): string[] =>
    patterns.length > 0 || decides ? [`${what} ${patterns.join(" ") || "nothing"}`] : [];
  return [mode, ...part("allow", allow, mode === "allowlist"), ...part("deny", deny, mode === "denylist")].join(", ");
}

/** What applies to the project as a whole. */
export function settingsFacts({ config }: Project) {
  const { toolsPolicies, networks, permissions, delegation, meta, budgets, context } = config;
  return {
    tools_policy: toolsPolicies.map(({ tier, policy }) => ({ tier, ...policyFact(policy) })),
    permissions,
    network: networks.map(({ tier, network }) => ({
      tier,
      allowed_domains: network.allowedDomains.map(({ pattern }) => pattern),
    })),
    sandbox: config.sandbox ?? null,
    budgets: snakeKeys(budgets),
    delegation: snakeKeys(delegation),
    meta: snakeKeys(meta),
    context: snakeKeys(context),
    serve: config.serve.map(({ type }) => type),
  };
}

export function placeText({ file, line }: SourceLocation): string {
  return `${file}:${line}`;
}

/** As the keys are written in files. */
function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeKeys(inner),
    ]),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
