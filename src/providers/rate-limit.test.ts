import { describe, expect, test } from "vitest";
import type { ModelCall, Provider } from "#engine";
import { callModel, userRequest } from "../../test/fakes/call-model.ts";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { createRateLimiter, withRateLimit } from "./rate-limit.ts";

const request = userRequest("a:one");

/** Needs 100 tokens by estimate and really uses `used`; remembers when it was asked. */
function provider(clock: ManualClock, used = 100): Provider & { askedMs: number[] } {
  const askedMs: number[] = [];
  const usage = { input_tokens: used, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
  return {
    name: "fake",
    askedMs,
    async chat(call: ModelCall) {
      askedMs.push(clock.monotonicMs());
      return { type: "done", model: call.request.model, stop: "end", usage };
    },
    models: async () => [],
    countTokens: () => 100,
  };
}

describe("withRateLimit", () => {
  test("passes what is within the limits without a word", async () => {
    const clock = createManualClock();
    const inner = provider(clock);
    const limited = withRateLimit(inner, [createRateLimiter({ requestsPerMinute: 2 }, { clock })]);
    const results = await Promise.all([callModel(limited, request), callModel(limited, request)]);
    expect(results.map(({ events }) => events)).toEqual([[], []]);
    expect(inner.askedMs).toEqual([0, 0]);
  });

  test("further requests wait in order of arrival and say so", async () => {
    const clock = createManualClock();
    const inner = provider(clock);
    const limited = withRateLimit(inner, [createRateLimiter({ requestsPerMinute: 1 }, { clock })]);
    const results = [callModel(limited, request), callModel(limited, request), callModel(limited, request)];
    await clock.advance(120_000);
    expect(inner.askedMs).toEqual([0, 60_000, 120_000]);
    expect((await results[1])?.events).toEqual([
      {
        type: "retrying",
        reason: "RateLimited",
        message: "Waiting 60 s for the configured rate limit.",
        retryAfterMs: 60_000,
      },
    ]);
  });

  test("tokens are limited too, by the estimate and then by what was really used", async () => {
    const clock = createManualClock();
    const inner = provider(clock, 160);
    const limited = withRateLimit(inner, [createRateLimiter({ tokensPerMinute: 200 }, { clock })]);
    await callModel(limited, request);
    const second = callModel(limited, request);
    await clock.advance(17_999);
    expect(inner.askedMs).toEqual([0]);
    await clock.advance(1);
    await second;
    expect(inner.askedMs).toEqual([0, 18_000]);
  });

  test("a request larger than a whole minute's tokens waits for a full bucket, not for ever", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ tokensPerMinute: 50 }, { clock });
    expect(await limiter.acquire(1_000, new AbortController().signal, () => {})).toBe("ok");
  });

  test("a small request does not overtake a large one", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ tokensPerMinute: 100 }, { clock });
    const { signal } = new AbortController();
    const order: string[] = [];
    const ask = async (name: string, tokens: number): Promise<void> => {
      await limiter.acquire(tokens, signal, () => {});
      order.push(name);
    };
    const pending = [ask("first", 100), ask("large", 90), ask("small", 1)];
    await clock.advance(60_000);
    await Promise.all(pending);
    expect(order).toEqual(["first", "large", "small"]);
  });

  test("a global limiter is shared by models", async () => {
    const clock = createManualClock();
    const global = createRateLimiter({ requestsPerMinute: 1 }, { clock });
    const inner = provider(clock);
    const one = withRateLimit(inner, [global, createRateLimiter({ requestsPerMinute: 100 }, { clock })]);
    const two = withRateLimit(inner, [global]);
    const pending = [callModel(one, request), callModel(two, request)];
    await clock.advance(60_000);
    await Promise.all(pending);
    expect(inner.askedMs).toEqual([0, 60_000]);
  });

  test("the queue is bounded", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ requestsPerMinute: 1, maxWaiters: 1 }, { clock });
    const limited = withRateLimit(provider(clock), [limiter]);
    await callModel(limited, request);
    const waiting = callModel(limited, request);
    expect((await callModel(limited, request)).outcome).toEqual({
      type: "failed",
      reason: "RateLimited",
      message: "Too many calls are waiting for the configured rate limit.",
      retryable: false,
    });
    await clock.advance(60_000);
    expect((await waiting).outcome).toMatchObject({ type: "done" });
  });

  test("a cancelled waiter leaves at once and takes nothing", async () => {
    const clock = createManualClock();
    const inner = provider(clock);
    const limited = withRateLimit(inner, [createRateLimiter({ requestsPerMinute: 1 }, { clock })]);
    await callModel(limited, request);
    const cancel = new AbortController();
    const waiting = callModel(limited, request, cancel.signal);
    await clock.advance(30_000);
    cancel.abort();
    expect((await waiting).outcome).toMatchObject({ reason: "Cancelled" });
    const next = callModel(limited, request);
    await clock.advance(30_000);
    expect((await next).outcome).toMatchObject({ type: "done" });
    expect(inner.askedMs).toEqual([0, 60_000]);
  });

  test("one that waits behind another leaves at once when it is cancelled, and nobody overtakes", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ requestsPerMinute: 1 }, { clock });
    const order: string[] = [];
    const ask = async (name: string, signal = new AbortController().signal): Promise<string> => {
      const passed = await limiter.acquire(1, signal, () => {});
      order.push(name);
      return passed;
    };
    await ask("first");
    const cancel = new AbortController();
    const pending = [ask("second"), ask("third", cancel.signal), ask("fourth")];
    await clock.advance(1_000);
    cancel.abort();
    expect(await pending[1]).toBe("cancelled");
    await clock.advance(59_000);
    expect(order).toEqual(["first", "third", "second"]);
    await clock.advance(60_000);
    await Promise.all(pending);
    expect(order).toEqual(["first", "third", "second", "fourth"]);
  });

  test("a wait that takes the whole budget of the step ends as a rate limit, not as a cancel", async () => {
    const clock = createManualClock();
    const limited = withRateLimit(provider(clock), [createRateLimiter({ requestsPerMinute: 1 }, { clock })]);
    await callModel(limited, request);
    const expired = new AbortController();
    const budget = { leftMs: () => 30_000 - clock.monotonicMs(), progressed: () => undefined };
    const waiting = limited.chat({ request, signal: expired.signal, emit: () => undefined, budget });
    await clock.advance(30_000);
    expired.abort();
    expect(await waiting).toMatchObject({ reason: "RateLimited", retryable: false });
  });
});
