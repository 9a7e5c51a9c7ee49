/** Tries a model call again after failures that may pass. Bounded in attempts and in waiting; deaf to nothing. */
import { type Clock, defined, type Random } from "#base";
import type { ModelOutcome, Provider } from "#engine";
import { reasonText } from "#protocol";
import { type Failure, failure, inSeconds } from "./failure.ts";
import { addUsage } from "./wire-family.ts";
import { wrapProvider } from "./wrapped-provider.ts";

export interface RetryPolicy {
  /** 0 switches retrying off. */
  readonly maxRetries: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly multiplier: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxRetries: 3,
  initialBackoffMs: 250,
  maxBackoffMs: 8_000,
  multiplier: 2,
};

/** A vendor that wants a longer wait than this is not waited for. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * `retrying` is emitted before each wait, and voids what the failed attempt wrote. The outcome's usage and cost include what
 * failed attempts have used. An answer that was cut at its cap is asked for again with a larger one.
 */
export function withRetry(
  provider: Provider,
  policy: RetryPolicy,
  ports: { readonly clock: Clock; readonly random: Random },
): Provider {
  return wrapProvider(provider, async (call) => {
    let spent: Pick<Failure, "usage" | "costUsd"> = {};
    let asked = call;
    for (let retries = 0; ; retries += 1) {
      const outcome = withSpent(await provider.chat(asked), spent);
      if (outcome.type === "done" || !outcome.retryable || retries >= policy.maxRetries) return outcome;
      if (call.request.isCapFinal && outcome.reason === "OutputTruncated") return outcome;
      if (call.signal.aborted) return cancelled(outcome);
      const leftMs = call.budget?.leftMs() ?? Number.POSITIVE_INFINITY;
      const { retryAfterMs, retryMaxTokens } = outcome;
      if (retryAfterMs !== undefined && retryAfterMs > Math.min(MAX_RETRY_AFTER_MS, leftMs)) {
        return tooLong(outcome, retryAfterMs, leftMs);
      }
      const waitMs = retryAfterMs ?? backoffMs(policy, retries, ports.random);
      if (waitMs >= leftMs) return noTime(outcome);
      const message = againText(provider.name, outcome, waitMs);
      const retry = { attempt: retries + 1, of: policy.maxRetries };
      call.emit({ type: "retrying", reason: outcome.reason, message, retryAfterMs: waitMs, retry });
      if (waitMs > 0) await ports.clock.sleep(waitMs, call.signal);
      if (call.signal.aborted) return cancelled(outcome);
      spent = outcome;
      if (retryMaxTokens !== undefined) asked = { ...call, request: { ...call.request, maxTokens: retryMaxTokens } };
    }
  });
}

/** What a person reads while the next attempt waits. */
function againText(name: string, { reason, message, retryMaxTokens }: Failure, waitMs: number): string {
  if (retryMaxTokens !== undefined) {
    return `The response reached its limit of output tokens; retrying with ${retryMaxTokens}.`;
  }
  if (reason !== "RateLimited") return message;
  // The vendor's own words stand behind it, without what it says already.
  const detail = message.replace(`${name} rate-limited the request.`, "").trim();
  return `${reasonText(reason, { name, "retry-after": Math.ceil(waitMs / 1000) })} ${detail}`.trimEnd();
}

/** Between half and all of the step's backoff, so that clients that failed together do not come back together. */
function backoffMs(policy: RetryPolicy, retries: number, random: Random): number {
  const fullMs = Math.min(policy.maxBackoffMs, policy.initialBackoffMs * policy.multiplier ** retries);
  const fraction = (random.bytes(1)[0] ?? 0) / 255;
  return Math.round(fullMs / 2 + (fullMs / 2) * fraction);
}

/** A cost with one unknown part is unknown. */
function withSpent(outcome: ModelOutcome, { usage, costUsd }: Pick<Failure, "usage" | "costUsd">): ModelOutcome {
  if (usage === undefined) return outcome;
  const { costUsd: last, ...rest } = outcome;
  const total =
    costUsd === undefined || (last === undefined && rest.usage !== undefined) ? undefined : costUsd + (last ?? 0);
  return { ...rest, usage: addUsage(usage, outcome.usage), ...defined({ costUsd: total }) };
}

/** Ends here instead of at the end of the budget: the wait would be for nothing, and another model may answer. */
function tooLong(outcome: Failure, waitMs: number, leftMs: number): Failure {
  const longest =
    leftMs < MAX_RETRY_AFTER_MS
      ? `${inSeconds(Math.max(0, leftMs))} are left for it (timeouts.step_s)`
      : `the longest wait is ${inSeconds(MAX_RETRY_AFTER_MS)}`;
  const message = `${outcome.message} It asks to wait ${Math.ceil(waitMs / 1000)} s; ${longest}.`;
  return { ...outcome, retryable: false, message };
}

function noTime(outcome: Failure): Failure {
  const message = `${outcome.message} No time is left to try again (timeouts.step_s).`;
  return { ...outcome, retryable: false, message };
}

function cancelled({ usage }: Failure): Failure {
  return { ...failure("Cancelled", false), ...defined({ usage }) };
}
