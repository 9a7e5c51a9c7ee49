/** A policy: everything that decides about calls and is written in files, put together as a session would. */
import {
  domainLists,
  type LabelRule,
  type Project,
  type ScriptSource,
  type Settings,
  type Tier,
  type ToolsPolicy,
} from "#artifacts";
import { canonicalHash, createDomainList } from "#base";
import { parseRule, type Rule } from "./rules.ts";

export interface Policy {
  /** In the order of a session: the user's, then those of the machine and the project. */
  readonly rules: readonly Rule[];
  /** No quiet preset. */
  readonly strict: boolean;
  /** Nothing that a command sends can get anywhere. */
  readonly isOffline: boolean;
  readonly toolsPolicies: readonly { readonly tier: Tier; readonly policy: ToolsPolicy }[];
  readonly labelRules: readonly LabelRule[];
  /** The `tool.pre` hooks: a hash of what each one is, by its name. */
  readonly hooks: ReadonlyMap<string, string>;
  /** What else holds calls to something and decides about none of them: a hash of each part, by its name. */
  readonly besides: ReadonlyMap<string, string>;
}

/** Throws ConfigInvalid for a rule that cannot be read. */
export function policyOf(settings: Settings, project?: Project): Policy {
  const config = project?.config;
  const rules = [...settings.permissions, ...(config?.permissions ?? [])];
  const lists = domainLists(settings, project);
  const domains =
    lists.length === 0
      ? undefined
      : createDomainList(
          lists.map(({ entries }) => entries),
          lists.map(({ place }) => place),
        );
  return {
    rules: rules.map(({ effect, rule, source }) => parseRule(rule, effect, source)),
    strict: settings.strictPermissions || config?.strictPermissions === true,
    isOffline: settings.sandbox !== "off" && domains?.entries.length === 0,
    toolsPolicies: config?.toolsPolicies ?? [],
    labelRules: [...settings.labelRules, ...(config?.labelRules ?? [])],
    hooks: new Map(
      (project?.hooks ?? []).filter(({ event }) => event === "tool.pre").map((hook) => [hook.name, hookHash(hook)]),
    ),
    besides: new Map(
      Object.entries({
        network: domains?.entries ?? "any",
        sandbox: settings.sandbox,
        budgets: [settings.budgets, config?.budgets ?? {}],
        "rate limits": settings.rateLimits,
        delegation: config?.delegation ?? {},
        meta: config?.meta ?? {},
        "other hooks": (project?.hooks ?? [])
          .filter(({ event }) => event !== "tool.pre")
          .map((hook) => [hook.name, hook.event, hookHash(hook)]),
        tools: (project?.tools ?? []).map(({ name, script }) => [name, script?.text]),
        agents: (project?.agents ?? []).map((agent) => [agent.name, agent.hash]),
      }).map(([name, part]) => [name, canonicalHash(part)]),
    ),
  };
}

/** Changes with anything that can change what the hook answers; not with the line that it stands on. */
function hookHash(hook: Project["hooks"][number]): string {
  const text = (script: ScriptSource | undefined): string | undefined => script?.text;
  const { priority, timeoutMs, onError, tier, bundle } = hook;
  return canonicalHash([
    text(hook.script),
    text(hook.when),
    text(hook.condition),
    priority,
    timeoutMs,
    onError,
    tier,
    bundle,
  ]);
}
