import { expect, test } from "vitest";
import type { ModelCall, ModelOutcome, Provider } from "#engine";
import type { Reason } from "#protocol";
import { callModel, userRequest } from "../../test/fakes/call-model.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { type FallbackModel, withFallback } from "./fallback.ts";

const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
const request = userRequest("a:one");
const fallback = (chain: readonly FallbackModel[]): Provider => withFallback(chain, { clock: createManualClock() });

function failing(reason: Reason, write = false): Provider {
  const outcome: ModelOutcome = { type: "failed", reason, message: reason, retryable: false };
  return answering(outcome, write);
}

function answering(outcome: ModelOutcome | undefined, write = false): Provider {
  return {
    name: "fake",
    async chat(call: ModelCall) {
      if (write) call.emit({ type: "text", block: 0, text: "half" });
      return outcome ?? { type: "done", model: call.request.model, stop: "end", usage };
    },
    models: async () => [],
    countTokens: () => 0,
  };
}

test("the next model answers, under its own name, until one can", async () => {
  const provider = fallback([
    { model: "a:one", provider: failing("ProviderUnauthorized") },
    { model: "b:two", provider: failing("UnknownModel") },
    { model: "c:three", provider: answering(undefined) },
    { model: "d:four", provider: failing("ProviderUnavailable") },
  ]);
  expect(await callModel(provider, request)).toEqual({
    events: [
      { type: "retrying", reason: "ProviderUnauthorized", message: "ProviderUnauthorized", retryAfterMs: 0 },
      { type: "model_changed", model: "b:two", previous: "a:one" },
      { type: "retrying", reason: "UnknownModel", message: "UnknownModel", retryAfterMs: 0 },
      { type: "model_changed", model: "c:three", previous: "b:two" },
    ],
    outcome: { type: "done", model: "c:three", stop: "end", usage },
  });
});

test("what a failed model wrote is voided first", async () => {
  const provider = fallback([
    { model: "a:one", provider: failing("ProviderStreamCut", true) },
    { model: "b:two", provider: answering(undefined, true) },
  ]);
  expect((await callModel(provider, request)).events).toEqual([
    { type: "text", block: 0, text: "half" },
    { type: "retrying", reason: "ProviderStreamCut", message: "ProviderStreamCut", retryAfterMs: 0 },
    { type: "model_changed", model: "b:two", previous: "a:one" },
    { type: "text", block: 0, text: "half" },
  ]);
});

test("the last failure is told when none can", async () => {
  const provider = fallback([
    { model: "a:one", provider: failing("ProviderUnavailable") },
    { model: "b:two", provider: failing("RateLimited") },
  ]);
  expect((await callModel(provider, request)).outcome).toMatchObject({ reason: "RateLimited" });
});

test.each(["Cancelled", "ContentFiltered", "OutputLimit"] as const)("%s is final", async (reason) => {
  const provider = fallback([
    { model: "a:one", provider: failing(reason) },
    { model: "b:two", provider: answering(undefined) },
  ]);
  expect(await callModel(provider, request)).toMatchObject({ events: [], outcome: { reason } });
});

test("a cancel that came too late for the first model stops the second", async () => {
  const cancel = new AbortController();
  const first: Provider = {
    ...failing("ProviderUnavailable"),
    async chat(call) {
      cancel.abort();
      return failing("ProviderUnavailable").chat(call);
    },
  };
  const provider = fallback([
    { model: "a:one", provider: first },
    { model: "b:two", provider: answering(undefined) },
  ]);
  const { events, outcome } = await callModel(provider, request, cancel.signal);
  expect(events).toEqual([]);
  expect(outcome).toMatchObject({ type: "failed", reason: "Cancelled" });
});
