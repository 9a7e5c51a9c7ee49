import { expect, test } from "vitest";
import type { ModelCall, ModelOutcome, Provider } from "#engine";
import { callModel, userRequest, zeroRandom } from "../../test/fakes/call-model.ts";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { withFallback } from "./fallback.ts";
import { defaultRetryPolicy, withRetry } from "./retry.ts";
import { withStepBudget } from "./step-budget.ts";

const usage = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 0, cache_write_tokens: 0 };
const cancelled: ModelOutcome = { type: "failed", reason: "Cancelled", message: "stopped", retryable: false };

function provider(chat: (call: ModelCall) => Promise<ModelOutcome>): Provider {
  return { name: "vendor", chat, models: async () => [], countTokens: () => 1 };
}

const done = ({ request: { model } }: ModelCall): ModelOutcome => ({ type: "done", model, stop: "end", usage });
const silent = provider(
  ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(cancelled))),
);
const answering = provider(async (call) => done(call));

/** Begins to write after a while and then takes its time, a word a second. */
function slowToBegin(clock: ManualClock, beginMs: number, words: number): Provider {
  return provider(async (call) => {
    await clock.sleep(beginMs, call.signal);
    for (let word = 0; word < words && !call.signal.aborted; word += 1) {
      if (word === 0) call.budget?.progressed();
      else call.emit({ type: "text", block: 0, text: "a" });
      await clock.sleep(1_000, call.signal);
    }
    return call.signal.aborted ? cancelled : done(call);
  });
}

/** How the chain answers with a step of 300 s, and when. */
async function ask(clock: ManualClock, chain: readonly Provider[]) {
  const models = chain.map((provider, index) => ({ model: `vendor:${index + 1}`, provider }));
  const budgeted = withStepBudget(withFallback(models, { clock }), {}, { clock });
  const startMs = clock.monotonicMs();
  let over = false;
  const pending = callModel(budgeted, userRequest("vendor:1")).finally(() => {
    over = true;
  });
  await clock.advance(0);
  while (!over) await clock.advance(1_000);
  const { events, outcome } = await pending;
  const told = events.filter(({ type }) => type === "retrying" || type === "model_changed");
  return { told, outcome, tookMs: clock.monotonicMs() - startMs };
}

test("a silent model leaves its fallback half of the step", async () => {
  const clock = createManualClock();
  const message =
    "vendor:1 did not answer in time: nothing came within 150 s, its share of the step while other models are left (timeouts.step_s).";
  expect(await ask(clock, [silent, answering])).toEqual({
    told: [
      { type: "retrying", reason: "ProviderTimeout", message, retryAfterMs: 0 },
      { type: "model_changed", model: "vendor:2", previous: "vendor:1" },
    ],
    outcome: { type: "done", model: "vendor:2", stop: "end", usage },
    tookMs: 150_000,
  });
  expect(clock.sleeping).toBe(0);
});

test("what one model does not use is shared by those behind it; the last has all that is left", async () => {
  const clock = createManualClock();
  const failing = provider(async () => ({
    type: "failed",
    reason: "ProviderRefused",
    message: "no",
    retryable: false,
  }));
  const { outcome, tookMs } = await ask(clock, [failing, silent, slowToBegin(clock, 140_000, 3)]);
  expect(outcome).toMatchObject({ type: "done", model: "vendor:3" });
  expect(tookMs).toBe(150_000 + 143_000);
  const { outcome: none, tookMs: allMs } = await ask(clock, [silent, silent, silent]);
  expect(none).toMatchObject({ reason: "ProviderTimeout" });
  expect(allMs).toBe(300_000);
});

test("an answer that began within its share is not cut off", async () => {
  const clock = createManualClock();
  const { outcome, tookMs } = await ask(clock, [slowToBegin(clock, 149_000, 400), answering]);
  expect(outcome).toMatchObject({ type: "done", model: "vendor:1" });
  expect(tookMs).toBe(549_000);
});

test("retries of a model end with its share", async () => {
  const clock = createManualClock();
  let asked = 0;
  const refusing = provider(async ({ signal }) => {
    asked += 1;
    await clock.sleep(140_000, signal);
    return signal.aborted
      ? cancelled
      : { type: "failed", reason: "RateLimited", message: "later.", retryable: true, retryAfterMs: 30_000 };
  });
  const retried = withRetry(refusing, defaultRetryPolicy, { clock, random: zeroRandom });
  const { told, outcome, tookMs } = await ask(clock, [retried, answering]);
  expect(outcome).toMatchObject({ type: "done", model: "vendor:2" });
  expect({ asked, tookMs }).toEqual({ asked: 1, tookMs: 140_000 });
  expect(told[0]).toMatchObject({ message: expect.stringContaining("10 s are left for it") });
});
