/**
 * What all sessions of a tree use together, and what is on its way in them. Agents that work side by side must not each make the
 * one call that crosses a limit: when what runs could use up the rest, the next one waits until that is known.
 */
import type { BudgetConfig } from "#artifacts";
import { type Spent, sumOf } from "#engine";
import type { BudgetUse } from "./budgets.ts";

export interface TreeUse extends BudgetUse {
  /** Model calls that run now, in any session. */
  requests: number;
  /** Tool calls that were let pass and are not on the record yet. */
  passing: number;
  /** The most that one model call has used so far; undefined before the first. */
  largest: { readonly tokens: number; readonly costUsd: number } | undefined;
  /** Called when something of this changed. */
  readonly waiting: Set<() => void>;
}

/** `spent`: what the session at its root and its delegates have used in earlier runs. */
export function newTreeUse(spent: Spent = sumOf()): TreeUse {
  const { cost_usd: costUsd, tokens, steps, calls } = spent;
  return {
    ...{ costUsd, tokens, steps, calls },
    begun: 0,
    startedMs: undefined,
    requests: 0,
    passing: 0,
    largest: undefined,
    waiting: new Set(),
  };
}

/** Whether the model calls that run now could use up what is left. */
export function mayBeUsedUp(use: TreeUse, { maxSteps, maxTokens, maxCostUsd }: BudgetConfig): boolean {
  if (use.requests === 0) return false;
  if (maxSteps !== undefined && use.steps + use.requests >= maxSteps) return true;
  if (maxTokens === undefined && maxCostUsd === undefined) return false;
  // Nobody knows yet what a call takes.
  if (use.largest === undefined) return true;
  const { tokens, costUsd } = use.largest;
  return (
    (maxTokens !== undefined && use.tokens + use.requests * tokens >= maxTokens) ||
    (maxCostUsd !== undefined && use.costUsd + use.requests * costUsd >= maxCostUsd)
  );
}

export function mayBeCalledOut({ calls, passing }: TreeUse, { maxCalls }: BudgetConfig): boolean {
  return passing > 0 && maxCalls !== undefined && calls + passing >= maxCalls;
}

/** Resolves with the next change, or when the signal aborts. */
export function nextChange({ waiting }: TreeUse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      waiting.delete(done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    waiting.add(done);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}

export function tellChange({ waiting }: TreeUse): void {
  for (const done of [...waiting]) done();
}
