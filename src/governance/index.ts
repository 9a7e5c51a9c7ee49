/** Tool middleware that decides, bounds and guards; the gate that hands out effects. */
export { type BudgetLimits, type Budgets, createBudgets } from "./budgets.ts";
export { type CompletionHooksOptions, createCompletionHooks } from "./completion-hooks.ts";
export { createCustomEvents } from "./custom-events.ts";
export { createGate } from "./gate.ts";
export { createHookDispatcher } from "./hook-dispatch.ts";
export { createLabelling, createSessionLabels, type SessionLabels } from "./labels.ts";
export { createLedger } from "./ledger.ts";
export type { NetworkJudgement } from "./network-record.ts";
export { createOutputLimit } from "./output-limit.ts";
export { createPermission, type Permission } from "./permission.ts";
export { createResultRedaction } from "./result-redaction.ts";
export { checkRules } from "./rule-examples.ts";
export { parseRule, type Rule } from "./rules.ts";
export { createTimeLimit } from "./time-limit.ts";
export { createPostHooks, createPreHooks } from "./tool-hooks.ts";
export { createToolRates } from "./tool-rate.ts";
export { newTreeUse, type TreeUse } from "./tree-use.ts";
export { createValidation } from "./validation.ts";
