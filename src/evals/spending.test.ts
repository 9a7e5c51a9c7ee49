/** The budget of a suite: whatever runs side by side, at most one call goes over it. */
import { expect, test } from "vitest";
import type { ModelOutcome, RequestCall } from "#engine";
import { createSpending } from "./spending.ts";

const call = {} as RequestCall; // the gate hands it on
const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
const done = (costUsd?: number): ModelOutcome => {
  return { type: "done", model: "openai:mock", stop: "end", usage, ...(costUsd === undefined ? {} : { costUsd }) };
};

test("of many calls at once only those are made that the budget has room for, and one", async () => {
  const spending = createSpending(0.1);
  let made = 0;
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, () =>
      spending.gate(call, async () => {
        made += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return done(0.03);
      }),
    ),
  );
  expect(made).toBe(4);
  expect(spending.spentUsd).toBeCloseTo(0.12);
  expect(spending.exhausted).toBe("the budget is used up: $0.1200 of $0.1");
  expect(outcomes.filter(({ type }) => type === "failed")).toHaveLength(46);
  expect(outcomes[4]).toMatchObject({ type: "failed", reason: "BudgetExceeded", retryable: false });
});

test("a call that throws lets the next one in", async () => {
  const spending = createSpending(1);
  await expect(spending.gate(call, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await spending.gate(call, async () => done(0.1))).toMatchObject({ type: "done" });
});

test("without a price no budget can be held, so nothing more is spent", async () => {
  const spending = createSpending(1);
  await spending.gate(call, async () => done());
  expect(spending.exhausted).toContain("no price is known for openai:mock");
  expect(await spending.gate(call, async () => done(0.1))).toMatchObject({ type: "failed" });
});

test("without a budget calls run side by side, and are still counted", async () => {
  const spending = createSpending(undefined);
  let running = 0;
  let most = 0;
  const one = async (): Promise<ModelOutcome> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return done(0.5);
  };
  await Promise.all([spending.gate(call, one), spending.gate(call, one)]);
  expect({ most, spent: spending.spentUsd, exhausted: spending.exhausted }).toEqual({
    most: 2,
    spent: 1,
    exhausted: undefined,
  });
});
