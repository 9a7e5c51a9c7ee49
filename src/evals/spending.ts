/**
 * The money of a whole suite. With a budget, model calls of all cases are made one after another, so that each is begun knowing what
 * the last one has cost: the most a budget can be overshot by is the call that crossed it.
 */
import type { ModelOutcome, RequestMiddleware } from "#engine";
import { reasonText } from "#protocol";

export interface Spending {
  readonly spentUsd: number;
  /** Why no further call is made; undefined while there is money left. */
  readonly exhausted: string | undefined;
  readonly gate: RequestMiddleware;
}

export function createSpending(budgetUsd: number | undefined): Spending {
  let spentUsd = 0;
  let exhausted: string | undefined;
  let last: Promise<void> = Promise.resolve();

  function tally(outcome: ModelOutcome): void {
    spentUsd += outcome.costUsd ?? 0;
    if (outcome.type === "failed" && outcome.reason === "PriceUnknown") exhausted = outcome.message;
    if (budgetUsd === undefined || outcome.type === "failed") return;
    if (outcome.costUsd === undefined) exhausted = reasonText("PriceUnknown", { model: outcome.model });
    else if (spentUsd >= budgetUsd) {
      exhausted = `the budget is used up: $${spentUsd.toFixed(4)} of $${budgetUsd}`;
    }
  }

  const refused = (message: string): ModelOutcome => {
    return { type: "failed", reason: "BudgetExceeded", message, retryable: false };
  };

  return {
    get spentUsd() {
      return spentUsd;
    },
    get exhausted() {
      return exhausted;
    },
    async gate(call, next) {
      if (budgetUsd === undefined) {
        const outcome = await next(call);
        tally(outcome);
        return outcome;
      }
      const before = last;
      const { promise, resolve: leave } = Promise.withResolvers<void>();
      last = promise;
      if (!(await comesBefore(before, call.signal))) {
        // Whoever waits behind still waits for those in front.
        void before.then(leave);
        return { type: "failed", reason: "Cancelled", message: "Cancelled.", retryable: false };
      }
      try {
        if (exhausted !== undefined) return refused(exhausted);
        const outcome = await next({ ...call, needsPrice: true });
        tally(outcome);
        return outcome;
      } finally {
        leave();
      }
    },
  };
}

/** False when the signal aborts first. */
async function comesBefore(turn: Promise<void>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const { promise: aborted, resolve } = Promise.withResolvers<boolean>();
  const onAbort = (): void => resolve(false);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([turn.then(() => true), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
