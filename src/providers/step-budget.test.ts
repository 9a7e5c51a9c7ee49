import { describe, expect, test } from "vitest";
import type { ModelCall, ModelEvent, ModelOutcome, Provider } from "#engine";
import { callModel, userRequest, zeroRandom } from "../../test/fakes/call-model.ts";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { withFallback } from "./fallback.ts";
import { defaultRetryPolicy, withRetry } from "./retry.ts";
import { withStepBudget } from "./step-budget.ts";

const request = userRequest("vendor:model");
const usage = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 0, cache_write_tokens: 0 };
const done: ModelOutcome = { type: "done", model: "vendor:model", stop: "end", usage };
const timeout: ModelOutcome = { type: "failed", reason: "ProviderTimeout", message: "slow.", retryable: true };
const cancelled: ModelOutcome = { type: "failed", reason: "Cancelled", message: "stopped", retryable: false };
const aWord: ModelEvent = { type: "text", block: 0, text: "a" };

function provider(chat: (call: ModelCall) => Promise<ModelOutcome>): Provider {
  return { name: "vendor", chat, models: async () => [], countTokens: () => 1 };
}

/** Says nothing until its signal aborts. */
const silent = provider(
  (call) => new Promise((resolve) => call.signal.addEventListener("abort", () => resolve(cancelled))),
);

/** Writes a word every so often. */
function dripping(clock: ManualClock, everyMs: number, words: number): Provider {
  return provider(async ({ emit, signal }) => {
    for (let at = 0; at < words && !signal.aborted; at += 1) {
      await clock.sleep(everyMs, signal);
      emit(aWord);
    }
    return signal.aborted ? cancelled : done;
  });
}

async function settle<Value>(clock: ManualClock, pending: Promise<Value>): Promise<{ value: Value; tookMs: number }> {
  const startMs = clock.monotonicMs();
  let over = false;
  void pending.then(() => {
    over = true;
  });
  await clock.advance(0);
  while (!over) await clock.advance(1_000);
  return { value: await pending, tookMs: clock.monotonicMs() - startMs };
}

describe("the budget of a step", () => {
  test("ends a call that stays silent, with the reason and what to do", async () => {
    const clock = createManualClock();
    const { value, tookMs } = await settle(clock, callModel(withStepBudget(silent, {}, { clock }), request));
    expect(tookMs).toBe(300_000);
    expect(value.outcome).toEqual({
      type: "failed",
      reason: "ProviderTimeout",
      message:
        "vendor:model did not answer in time: no complete answer within 300 s, all attempts and waits together (timeouts.step_s). Try again later, or choose another model.",
      retryable: false,
    });
  });

  test("is shared by retries, their waits and fallbacks", async () => {
    const clock = createManualClock();
    let asked = 0;
    const slow = provider(async ({ signal }) => {
      asked += 1;
      await clock.sleep(100_000, signal);
      return signal.aborted ? cancelled : timeout;
    });
    const retried = withRetry(slow, defaultRetryPolicy, { clock, random: zeroRandom });
    const chain = withFallback(
      [
        { model: "vendor:model", provider: retried },
        { model: "other:model", provider: retried },
      ],
      { clock },
    );
    const { value, tookMs } = await settle(clock, callModel(withStepBudget(chain, {}, { clock }), request));
    expect(tookMs).toBe(300_000);
    // Each has half of the time: one whole attempt and the beginning of another.
    expect(asked).toBe(4);
    expect(value.outcome).toMatchObject({ reason: "ProviderTimeout", retryable: false });
    expect(value.outcome).toHaveProperty("message", expect.stringContaining("Before that: slow."));
  });

  test("is not used up by an answer that flows, however long it is", async () => {
    const clock = createManualClock();
    const { value, tookMs } = await settle(
      clock,
      callModel(withStepBudget(dripping(clock, 1_000, 900), {}, { clock }), request),
    );
    expect(value.outcome).toEqual(done);
    expect(tookMs).toBe(900_000);
  });

  test("is used up by an answer that drips", async () => {
    const clock = createManualClock();
    const drip = withStepBudget(dripping(clock, 5_000, 1_000), {}, { clock });
    const { value, tookMs } = await settle(clock, callModel(drip, request));
    expect(value.outcome).toMatchObject({ reason: "ProviderTimeout" });
    expect(tookMs).toBe(300_000);
  });

  test("ends an answer that flows without an end", async () => {
    const clock = createManualClock();
    const endless = withStepBudget(dripping(clock, 2_000, Number.POSITIVE_INFINITY), {}, { clock });
    const { value, tookMs } = await settle(clock, callModel(endless, request));
    expect(value.outcome).toMatchObject({ reason: "ProviderTimeout" });
    expect(tookMs).toBe(3_600_000 + 300_000);
  });

  test("leaves a provider behind that does not listen to its signal", async () => {
    const clock = createManualClock();
    const late = Promise.withResolvers<void>();
    const deaf = provider(async ({ emit }) => {
      await late.promise;
      emit(aWord);
      return done;
    });
    const { value, tookMs } = await settle(
      clock,
      callModel(withStepBudget(deaf, { stepMs: 5_000 }, { clock }), request),
    );
    expect(value.outcome).toMatchObject({ reason: "ProviderTimeout" });
    expect(tookMs).toBe(6_000);
    late.resolve();
    await clock.advance(0);
    expect(value.events).toEqual([]);
  });

  test("a cancel ends it at once, as a cancel", async () => {
    const clock = createManualClock();
    const cancel = new AbortController();
    const pending = callModel(withStepBudget(silent, {}, { clock }), request, cancel.signal);
    await clock.advance(5_000);
    cancel.abort();
    expect((await pending).outcome).toEqual(cancelled);
    expect(clock.sleeping).toBe(0);
  });
});

describe("whoever waits", () => {
  test("is told after 10 s and then every 15 s", async () => {
    const clock = createManualClock();
    const stepMs = 60_000;
    const { value } = await settle(clock, callModel(withStepBudget(silent, { stepMs }, { clock }), request));
    expect(value.events).toEqual(
      [10_000, 25_000, 40_000, 55_000].map((waitedMs) => ({ type: "waiting", waitedMs, leftMs: stepMs - waitedMs })),
    );
  });

  test("is not told while something comes; a new silence begins anew", async () => {
    const clock = createManualClock();
    const halting = provider(async ({ emit, signal }) => {
      await clock.sleep(9_000, signal);
      emit(aWord);
      await clock.sleep(12_000, signal);
      emit(aWord);
      return done;
    });
    const { value } = await settle(clock, callModel(withStepBudget(halting, {}, { clock }), request));
    expect(value.events.map(({ type }) => type)).toEqual(["text", "waiting", "text"]);
    expect(value.events[1]).toMatchObject({ waitedMs: 10_000 });
  });

  test("is not told without a bound", async () => {
    const clock = createManualClock();
    const patient = withStepBudget(silent, { stepMs: 86_400_000 }, { clock });
    const { value } = await settle(clock, callModel(patient, request));
    expect(value.events.length).toBe(64);
  });
});

test("a failed step says what to do, and keeps what the last attempt said", async () => {
  const clock = createManualClock();
  const refused = provider(async () => ({ ...timeout, reason: "ProviderGarbled", message: "noise.", retryable: true }));
  const { outcome } = await callModel(withStepBudget(refused, {}, { clock }), request);
  expect(outcome).toHaveProperty("message", "noise. Check base_url and family of the model, or choose another model.");
});
