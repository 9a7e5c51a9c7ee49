/** Token buckets in front of a provider: so many requests and so many tokens a minute, with a bounded queue. */
import type { Clock } from "#base";
import type { ModelCall, Provider } from "#engine";
import { type Failure, failure } from "./failure.ts";
import { wrapProvider } from "./wrapped-provider.ts";

const MINUTE_MS = 60_000;
const DEFAULT_MAX_WAITERS = 64;

export interface RateLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** How many calls may wait; one more is refused. */
  readonly maxWaiters?: number;
}

export interface RateLimiter {
  /** In order of arrival. `onWait` is called only when it really waits, with the time it expects to. */
  acquire(tokens: number, signal: AbortSignal, onWait: (waitMs: number) => void): Promise<"ok" | "full" | "cancelled">;
  /** Corrects an estimate once the true number is known; may leave a debt. */
  settle(estimatedTokens: number, actualTokens: number): void;
}

/** One limiter serves whoever shares it: make one for a model, one for all models, and hand both to `withRateLimit`. */
export function createRateLimiter(limits: RateLimits, ports: { readonly clock: Clock }): RateLimiter {
  const requests = createBucket(limits.requestsPerMinute, ports.clock);
  const tokens = createBucket(limits.tokensPerMinute, ports.clock);
  const maxWaiters = limits.maxWaiters ?? DEFAULT_MAX_WAITERS;
  let waiting = 0;
  let tail: Promise<void> = Promise.resolve();

  const waitMs = (amount: number): number => Math.max(requests.waitMs(1), tokens.waitMs(amount));
  const take = (amount: number): void => {
    requests.take(1);
    tokens.take(amount);
  };
  return {
    async acquire(amount, signal, onWait) {
      if (signal.aborted) return "cancelled";
      if (waiting === 0 && waitMs(amount) === 0) {
        take(amount);
        return "ok";
      }
      if (waiting >= maxWaiters) return "full";
      waiting += 1;
      const turn = tail;
      const { promise, resolve } = Promise.withResolvers<void>();
      tail = promise;
      onWait(waitMs(amount));
      try {
        await untilAborted(turn, signal);
        for (let ms = waitMs(amount); ms > 0 && !signal.aborted; ms = waitMs(amount)) {
          await ports.clock.sleep(ms, signal);
        }
        if (signal.aborted) return "cancelled";
        take(amount);
        return "ok";
      } finally {
        waiting -= 1;
        // Whoever is behind one that gave up still waits for those before it.
        void turn.then(resolve);
      }
    },
    settle: (estimated, actual) => tokens.take(actual - estimated),
  };
}

/** Resolves with the promise or the abort, whichever comes first. */
async function untilAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = (): void => resolve();
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([turn, promise]);
  signal.removeEventListener("abort", stop);
}

/** Every attempt passes all the limiters, in order; a call that has to wait says so with a `retrying` notice. */
export function withRateLimit(provider: Provider, limiters: readonly RateLimiter[]): Provider {
  return wrapProvider(provider, async (call) => {
    const estimate = provider.countTokens(call.request);
    for (const limiter of limiters) {
      const passed = await limiter.acquire(estimate, call.signal, (waitMs) => {
        const message = `Waiting ${Math.ceil(waitMs / 1000)} s for the configured rate limit.`;
        call.emit({ type: "retrying", reason: "RateLimited", message, retryAfterMs: waitMs });
      });
      if (passed === "cancelled") return isUsedUp(call) ? noTurn() : failure("Cancelled", false);
      if (passed === "full") {
        const message = "Too many calls are waiting for the configured rate limit.";
        return { type: "failed", reason: "RateLimited", message, retryable: false };
      }
    }
    const outcome = await provider.chat(call);
    const { usage } = outcome;
    if (usage !== undefined) {
      const actual = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
      for (const limiter of limiters) limiter.settle(estimate, actual);
    }
    return outcome;
  });
}

function isUsedUp({ budget }: ModelCall): boolean {
  return budget !== undefined && budget.leftMs() <= 0;
}

function noTurn(): Failure {
  const message =
    "The configured rate limit did not allow this call within the time limit of the step (rate_limits, timeouts.step_s).";
  return { type: "failed", reason: "RateLimited", message, retryable: false };
}

interface Bucket {
  /** 0 when the amount is there now. An amount above the capacity waits for a full bucket. */
  waitMs(amount: number): number;
  take(amount: number): void;
}

/** Holds one minute's worth and fills evenly. Without a rate it is never empty. */
/** The limiter for a model, or for all of them. */
export type LimiterFor = (what: string, limits: RateLimits) => RateLimiter;

/** One for a program: whoever asks for the same, with the same limits, waits in the same line. */
export function createLimiters(ports: { readonly clock: Clock }): LimiterFor {
  const made = new Map<string, { readonly limits: string; readonly limiter: RateLimiter }>();
  return (what, limits) => {
    const text = JSON.stringify(limits);
    const known = made.get(what);
    if (known?.limits === text) return known.limiter;
    const limiter = createRateLimiter(limits, ports);
    made.set(what, { limits: text, limiter });
    return limiter;
  };
}

function createBucket(perMinute: number | undefined, clock: Clock): Bucket {
  if (perMinute === undefined) return { waitMs: () => 0, take: () => {} };
  let level = perMinute;
  let atMs = clock.monotonicMs();
  const fill = (): void => {
    const nowMs = clock.monotonicMs();
    level = Math.min(perMinute, level + ((nowMs - atMs) * perMinute) / MINUTE_MS);
    atMs = nowMs;
  };
  return {
    waitMs(amount) {
      fill();
      const missing = Math.min(amount, perMinute) - level;
      return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / perMinute);
    },
    take(amount) {
      fill();
      level = Math.min(perMinute, level - amount);
    },
  };
}
