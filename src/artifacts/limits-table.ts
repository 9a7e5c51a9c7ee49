/** The bounds a project sets itself: delegation, self-extension and budgets. */
import { defined } from "#base";
import type { BudgetConfig, DelegationConfig, MetaConfig, ProjectConfig } from "./project.ts";
import { defineTable, type FieldMap, type FieldType, flag, integer, list, nested, number } from "./schema.ts";

export const defaultDelegation: DelegationConfig = {
  maxDepth: 3,
  maxConcurrent: 5,
  iterationsPerDepth: [20, 10, 5, 3],
  timeoutMs: 300_000,
  allowRecursive: true,
};

/** The caps that hold when `meta` is written without them. */
export const defaultMeta: MetaConfig = { enabled: false, maxTools: 20, maxHooks: 20, maxAgents: 5, maxCallDepth: 2 };

const MAX_DEPTH = 10;
const MAX_CONCURRENT = 100;
const MAX_ITERATIONS = 1000;
const DAY_MS = 86_400_000;
const MAX_REGISTERED = 1000;
const MAX_COST_USD = 1_000_000;
const MAX_COUNT = 1_000_000_000_000;

export const delegationTable = defineTable({
  title: "Delegation",
  about: "How far work may be handed to other agents.",
  fields: {
    max_depth: {
      type: integer(0, MAX_DEPTH),
      default: `\`${defaultDelegation.maxDepth}\``,
      meaning: "Levels below the root; `0` is no delegation.",
    },
    max_concurrent: {
      type: integer(1, MAX_CONCURRENT),
      default: `\`${defaultDelegation.maxConcurrent}\``,
      meaning: "Delegates at work at once, in the whole tree.",
    },
    iterations_per_depth: {
      type: list(integer(1, MAX_ITERATIONS), { min: 1, max: MAX_DEPTH + 1 }),
      default: `\`[${defaultDelegation.iterationsPerDepth.join(", ")}]\``,
      meaning: "Steps of a turn at each depth, the root first. The last one holds for what is deeper.",
    },
    timeout_ms: {
      type: integer(1, DAY_MS),
      default: `\`${defaultDelegation.timeoutMs}\``,
      meaning: "How long a delegate may take.",
    },
    allow_recursive: {
      type: flag,
      default: `\`${defaultDelegation.allowRecursive}\``,
      meaning: "Whether a delegate may delegate.",
    },
  },
});

/** Only what is written. */
export const delegationType: FieldType<Partial<DelegationConfig>> = nested(delegationTable, ({ values }) => ({
  ...defined({
    maxDepth: values.max_depth,
    maxConcurrent: values.max_concurrent,
    iterationsPerDepth: values.iterations_per_depth,
    timeoutMs: values.timeout_ms,
    allowRecursive: values.allow_recursive,
  }),
}));

export const metaTable = defineTable({
  title: "Meta",
  about: "Whether scripts may add tools, hooks and agents while the program runs. The policies hold for those as well.",
  fields: {
    enabled: { type: flag, default: "`false`", meaning: "Without it every `meta` call is refused." },
    max_tools: {
      type: integer(0, MAX_REGISTERED),
      default: `\`${defaultMeta.maxTools}\``,
      meaning: "Tools that may be added in a run.",
    },
    max_hooks: {
      type: integer(0, MAX_REGISTERED),
      default: `\`${defaultMeta.maxHooks}\``,
      meaning: "Hooks that may be added in a run.",
    },
    max_agents: {
      type: integer(0, MAX_REGISTERED),
      default: `\`${defaultMeta.maxAgents}\``,
      meaning: "Agents that may be added in a run.",
    },
    max_call_depth: {
      type: integer(0, MAX_DEPTH),
      default: `\`${defaultMeta.maxCallDepth}\``,
      meaning: "How deep `meta` calls may be nested.",
    },
  },
});

export const metaType: FieldType<MetaConfig> = nested(metaTable, ({ values }) => ({
  enabled: values.enabled ?? defaultMeta.enabled,
  maxTools: values.max_tools ?? defaultMeta.maxTools,
  maxHooks: values.max_hooks ?? defaultMeta.maxHooks,
  maxAgents: values.max_agents ?? defaultMeta.maxAgents,
  maxCallDepth: values.max_call_depth ?? defaultMeta.maxCallDepth,
}));

export const budgetTable = defineTable({
  title: "Budget",
  about: "What may be used up; what is left out has no bound here.",
  fields: {
    max_cost_usd: { type: number(0, MAX_COST_USD), meaning: "US dollars, by the known prices." },
    max_tokens: { type: integer(1, MAX_COUNT), meaning: "Tokens in and out." },
    max_steps: { type: integer(1, MAX_COUNT), meaning: "Model calls." },
    max_calls: { type: integer(1, MAX_COUNT), meaning: "Tool calls." },
    max_wall_ms: { type: integer(1, MAX_COUNT), meaning: "Time on the clock." },
  },
});

const budgetType: FieldType<BudgetConfig> = nested(budgetTable, ({ values }) => ({
  ...defined({
    maxCostUsd: values.max_cost_usd,
    maxTokens: values.max_tokens,
    maxSteps: values.max_steps,
    maxCalls: values.max_calls,
    maxWallMs: values.max_wall_ms,
  }),
}));

export const budgetsTable = defineTable({
  title: "Budgets",
  about: "One budget for each span of work.",
  fields: {
    turn: { type: budgetType, meaning: "From an input to its answer." },
    session: { type: budgetType, meaning: "All turns of a session." },
    tree: {
      type: budgetType,
      meaning:
        "A session and all its delegates, at every depth, together; when it is used up all of them stop. Earlier runs of the session count, with their delegates.",
    },
  } satisfies FieldMap,
});

export const budgetsType: FieldType<ProjectConfig["budgets"]> = nested(
  budgetsTable,
  ({ values: { turn, session, tree } }) => ({
    ...defined({ turn, session, tree }),
  }),
);
