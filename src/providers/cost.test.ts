import { expect, test } from "vitest";
import { costUsd, priceOf } from "./cost.ts";

const usage = { input_tokens: 1_000_000, output_tokens: 1_000_000, cache_read_tokens: 0, cache_write_tokens: 0 };

test("each kind of token has its price; caches without one cost what input costs", () => {
  const cached = { input_tokens: 1_000, output_tokens: 2_000, cache_read_tokens: 3_000, cache_write_tokens: 4_000 };
  expect(costUsd(cached, { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 })).toBeCloseTo(0.0293, 10);
  expect(costUsd(cached, { input: 1, output: 10 })).toBeCloseTo(0.028, 10);
});

test("an unknown price gives no cost, a price of zero gives zero", () => {
  expect(costUsd(usage, undefined)).toBeUndefined();
  expect(priceOf("openai", "gpt-99")).toBeUndefined();
  expect(priceOf("ollama", "gpt-4o")).toBeUndefined();
  expect(costUsd(usage, { input: 0, output: 0 })).toBe(0);
});

test("the longest prefix counts, so a snapshot has its model's price and not that of an older one", () => {
  expect(priceOf("anthropic", "claude-opus-5-5-20260922")).toMatchObject({ input: 4, output: 20 });
  expect(priceOf("anthropic", "claude-opus-5-20260724")).toMatchObject({ input: 5, output: 25 });
  expect(priceOf("openai", "gpt-4o-mini-2024-07-18")).toMatchObject({ input: 0.15 });
});

test("a long prompt moves the whole request to the higher price", () => {
  const haiku = priceOf("anthropic", "claude-haiku-5-5");
  const prompt = (input_tokens: number) => ({ ...usage, input_tokens, output_tokens: 0 });
  expect(costUsd(prompt(100_000), haiku)).toBeCloseTo(0.01, 10);
  expect(costUsd(prompt(100_001), haiku)).toBeCloseTo(0.0500005, 10);
});

test("what the user says wins over the vendor's list, which wins over the table", () => {
  const listed = { input: 7, output: 7 };
  const mine = { input: 1, output: 1 };
  expect(priceOf("openai", "gpt-4o", {}, listed)).toBe(listed);
  expect(priceOf("openai", "gpt-4o", { "openai:": { input: 2, output: 2 }, "openai:gpt-4o": mine }, listed)).toBe(mine);
  expect(priceOf("openai", "gpt-4o", { "zai:": mine }, listed)).toBe(listed);
});
