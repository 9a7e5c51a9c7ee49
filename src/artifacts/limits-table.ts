/** The bounds a project sets itself: delegation, self-extension and budgets. */
import { defined } from "#base";
import type { BudgetConfig, DelegationConfig, MetaConfig, ProjectConfig } from "./project.ts";
import { defineTable, type FieldMap, type FieldType, field, flag, integer, list, nested, number } from "./schema.ts";

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

export const delegationTable = defineTable("Delegation", "Limits for delegating work to other agents.").of({
  max_depth: field(integer(0, MAX_DEPTH), `\`${defaultDelegation.maxDepth}\``).means(
    "The number of levels of delegates below the root agent. `0` turns delegation off.",
  ),
  max_concurrent: field(integer(1, MAX_CONCURRENT), `\`${defaultDelegation.maxConcurrent}\``).means(
    "How many delegates may work at the same time, in the whole tree.",
  ),
  iterations_per_depth: field(
    list(integer(1, MAX_ITERATIONS), { min: 1, max: MAX_DEPTH + 1 }),
    `\`[${defaultDelegation.iterationsPerDepth.join(", ")}]\``,
  ).means(
    "The step limit of a turn at each depth, starting with the root agent. Without this key, `max_steps` of the user is the limit of the root. The last number also applies to deeper levels.",
  ),
  timeout_ms: field(integer(1, DAY_MS), `\`${defaultDelegation.timeoutMs}\``).means(
    "The time limit for one delegate, in milliseconds.",
  ),
  allow_recursive: field(flag, `\`${defaultDelegation.allowRecursive}\``).means(
    "Whether a delegate may delegate work itself.",
  ),
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

export const metaTable = defineTable(
  "Meta",
  "Whether scripts may register tools, hooks and agents at run time. The policies also apply to what scripts register.",
).of({
  enabled: field(flag, "`false`").means("If false, Harness refuses every `meta` call."),
  max_tools: field(integer(0, MAX_REGISTERED), `\`${defaultMeta.maxTools}\``).means(
    "How many tools scripts may register in one run.",
  ),
  max_hooks: field(integer(0, MAX_REGISTERED), `\`${defaultMeta.maxHooks}\``).means(
    "How many hooks scripts may register in one run.",
  ),
  max_agents: field(integer(0, MAX_REGISTERED), `\`${defaultMeta.maxAgents}\``).means(
    "How many agents scripts may register in one run.",
  ),
  max_call_depth: field(integer(0, MAX_DEPTH), `\`${defaultMeta.maxCallDepth}\``).means(
    "How deeply `meta` calls may be nested.",
  ),
});

export const metaType: FieldType<MetaConfig> = nested(metaTable, ({ values }) => ({
  enabled: values.enabled ?? defaultMeta.enabled,
  maxTools: values.max_tools ?? defaultMeta.maxTools,
  maxHooks: values.max_hooks ?? defaultMeta.maxHooks,
  maxAgents: values.max_agents ?? defaultMeta.maxAgents,
  maxCallDepth: values.max_call_depth ?? defaultMeta.maxCallDepth,
}));

export const budgetTable = defineTable(
  "Budget",
  "The limits of one budget. A field that is not set has no limit here.",
).of({
  max_cost_usd: field(number(0, MAX_COST_USD)).means("Cost in US dollars, calculated from the known prices."),
  max_tokens: field(integer(1, MAX_COUNT)).means("Input and output tokens together."),
  max_steps: field(integer(1, MAX_COUNT)).means("Model calls."),
  max_calls: field(integer(1, MAX_COUNT)).means("Tool calls."),
  max_wall_ms: field(integer(1, MAX_COUNT)).means("Elapsed time in milliseconds."),
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

export const budgetsTable = defineTable(
  "Budgets",
  "Limits on cost, tokens, steps, calls and time, for a turn, a session or a whole tree of agents.",
).of({
  turn: field(budgetType).means("The budget of one turn, from an input to its answer."),
  session: field(budgetType).means("The budget of all turns of a session together."),
  tree: field(budgetType).means(
    "The budget of a session and all its delegates together, at every depth. When it is used up, all of them stop. Earlier runs of the session and their delegates count as well.",
  ),
} satisfies FieldMap);

export const budgetsType: FieldType<ProjectConfig["budgets"]> = nested(
  budgetsTable,
  ({ values: { turn, session, tree } }) => ({
    ...defined({ turn, session, tree }),
  }),
);
