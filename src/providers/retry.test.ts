import { describe, expect, test } from "vitest";
import type { ModelCall, ModelOutcome, Provider } from "#engine";
import { callModel, userRequest, zeroRandom } from "../../test/fakes/call-model.ts";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { defaultRetryPolicy, withRetry } from "./retry.ts";

const request = userRequest("vendor:model");
const usage = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4 };
const done: ModelOutcome = { type: "done", model: "vendor:model", stop: "end", usage };
const busy: ModelOutcome = { type: "failed", reason: "ProviderUnavailable", message: "busy", retryable: true };

/** Answers with the outcomes in order, the last one for ever; counts the calls. */
function scripted(outcomes: readonly ModelOutcome[], onCall?: (call: ModelCall) => void): Provider & { calls: number } {
  const provider = {
    name: "vendor",
    calls: 0,
    async chat(call: ModelCall) {
      onCall?.(call);
      const outcome = outcomes[Math.min(provider.calls, outcomes.length - 1)];
      provider.calls += 1;
      return outcome ?? busy;
    },
    models: async () => [],
    countTokens: () => 7,
  };
  return provider;
}

async function settle<Value>(clock: ManualClock, pending: Promise<Value>): Promise<{ value: Value; tookMs: number }> {
  const startMs = clock.monotonicMs();
  let over = false;
  void pending.then(() => {
    over = true;
  });
  await clock.advance(0);
  while (!over) await clock.advance(25);
  return { value: await pending, tookMs: clock.monotonicMs() - startMs };
}

describe("withRetry", () => {
  test("tries again with growing, announced waits until it works", async () => {
    const clock = createManualClock();
    const inner = scripted([busy, busy, busy, done]);
    const provider = withRetry(inner, defaultRetryPolicy, { clock, random: zeroRandom });
    const { value, tookMs } = await settle(clock, callModel(provider, request));
    const waits = [125, 250, 500].map((retryAfterMs, index) => ({
      type: "retrying",
      reason: "ProviderUnavailable",
      message: "busy",
      retryAfterMs,
      retry: { attempt: index + 1, of: 3 },
    }));
    expect(value).toEqual({ events: waits, outcome: done });
    expect(tookMs).toBe(875);
    expect(provider.countTokens(request)).toBe(7);
  });

  test("jitter reaches up to the full backoff, and backoff up to its bound", async () => {
    const clock = createManualClock();
    const random = { bytes: (count: number) => new Uint8Array(count).fill(255) };
    const policy = { maxRetries: 3, initialBackoffMs: 1_000, maxBackoffMs: 3_000, multiplier: 2 };
    const { value } = await settle(clock, callModel(withRetry(scripted([busy]), policy, { clock, random }), request));
    expect(value.events.map((event) => event.type === "retrying" && event.retryAfterMs)).toEqual([1_000, 2_000, 3_000]);
  });

  test("gives up with the last failure after the last retry", async () => {
    const clock = createManualClock();
    const last: ModelOutcome = { ...busy, message: "still busy" };
    const inner = scripted([busy, busy, busy, last]);
    const { value } = await settle(
      clock,
      callModel(withRetry(inner, defaultRetryPolicy, { clock, random: zeroRandom }), request),
    );
    expect(value.outcome).toEqual(last);
    expect(inner.calls).toBe(4);
  });

  test("what cannot succeed is not tried again, and maxRetries 0 means never", async () => {
    const clock = createManualClock();
    const refused: ModelOutcome = { type: "failed", reason: "ProviderRefused", message: "no", retryable: false };
    const ports = { clock, random: zeroRandom };
    const first = scripted([refused]);
    expect(await callModel(withRetry(first, defaultRetryPolicy, ports), request)).toEqual({
      events: [],
      outcome: refused,
    });
    const second = scripted([busy]);
    const policy = { ...defaultRetryPolicy, maxRetries: 0 };
    expect(await callModel(withRetry(second, policy, ports), request)).toEqual({ events: [], outcome: busy });
    expect([first.calls, second.calls]).toEqual([1, 1]);
  });

  test("waits as long as the vendor asks, up to a minute", async () => {
    const clock = createManualClock();
    const limited: ModelOutcome = { type: "failed", reason: "RateLimited", message: "slow.", retryable: true };
    const ports = { clock, random: zeroRandom };
    const short = scripted([{ ...limited, retryAfterMs: 7_000 }, done]);
    const waited = await settle(clock, callModel(withRetry(short, defaultRetryPolicy, ports), request));
    expect(waited).toMatchObject({ tookMs: 7_000, value: { outcome: done } });

    const long = scripted([{ ...limited, retryAfterMs: 61_000 }]);
    expect(await callModel(withRetry(long, defaultRetryPolicy, ports), request)).toEqual({
      events: [],
      outcome: {
        ...limited,
        retryAfterMs: 61_000,
        retryable: false,
        message: "slow. It asks to wait 61 s; the longest wait is 60 s.",
      },
    });
    expect(long.calls).toBe(1);
  });

  test("ends instead of waiting for longer than the step has left, and says how long the vendor asked for", async () => {
    const clock = createManualClock();
    const limited: ModelOutcome = { type: "failed", reason: "RateLimited", message: "slow.", retryable: true };
    const ports = { clock, random: zeroRandom };
    const budget = { leftMs: () => 5_000, progressed: () => undefined };
    const ask = (outcome: ModelOutcome, policy = defaultRetryPolicy): Promise<ModelOutcome> => {
      const { signal } = new AbortController();
      return withRetry(scripted([outcome]), policy, ports).chat({ request, signal, emit: () => undefined, budget });
    };
    expect(await ask({ ...limited, retryAfterMs: 86_400_000 })).toMatchObject({
      reason: "RateLimited",
      message: "slow. It asks to wait 86400 s; 5 s are left for it (timeouts.step_s).",
      retryable: false,
    });
    const slow = { maxRetries: 3, initialBackoffMs: 20_000, maxBackoffMs: 20_000, multiplier: 1 };
    expect(await ask(busy, slow)).toMatchObject({
      reason: "ProviderUnavailable",
      message: "busy No time is left to try again (timeouts.step_s).",
      retryable: false,
    });
  });

  test("a cancel ends the wait at once", async () => {
    const clock = createManualClock();
    const cancel = new AbortController();
    const inner = scripted([busy]);
    const pending = callModel(
      withRetry(inner, defaultRetryPolicy, { clock, random: zeroRandom }),
      request,
      cancel.signal,
    );
    await clock.advance(0);
    cancel.abort();
    expect((await pending).outcome).toMatchObject({ type: "failed", reason: "Cancelled", retryable: false });
    expect(inner.calls).toBe(1);
  });

  test("usage of failed attempts is counted", async () => {
    const clock = createManualClock();
    const inner = scripted([{ ...busy, usage }, done]);
    const { value } = await settle(
      clock,
      callModel(withRetry(inner, defaultRetryPolicy, { clock, random: zeroRandom }), request),
    );
    const twice = { input_tokens: 2, output_tokens: 4, cache_read_tokens: 6, cache_write_tokens: 8 };
    expect(value.outcome).toEqual({ ...done, usage: twice });
  });
});
