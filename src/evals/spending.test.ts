/** The budget of a suite: whatever runs side by side, at most one call goes over it. */

import { expect, test } from "vitest";
import { defined } from "#base";
import type { ModelOutcome, RequestCall } from "#engine";
import { createSpending } from "./spending.ts";

const call = { signal: new AbortController().signal } as RequestCall; // the gate hands it on
const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
const done = (costUsd?: number): ModelOutcome => {
  return { type: "done", model: "openai:mock", stop: "end", usage, ...defined({ costUsd }) };
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

test("a call that is cancelled while it waits leaves at once, and lets nobody past those in front", async () => {
  const spending = createSpending(1);
  const first = Promise.withResolvers<ModelOutcome>();
  const cancel = new AbortController();
  const made: string[] = [];
  const running = spending.gate(call, () => first.promise);
  const waiting = spending.gate({ ...call, signal: cancel.signal }, async () => {
    made.push("cancelled");
    return done(0.1);
  });
  const behind = spending.gate(call, async () => {
    made.push("behind");
    return done(0.1);
  });
  cancel.abort();
  expect(await waiting).toMatchObject({ type: "failed", reason: "Cancelled" });
  expect(made).toEqual([]);
  first.resolve(done(0.1));
  expect(await running).toMatchObject({ type: "done" });
  expect(await behind).toMatchObject({ type: "done" });
  expect(made).toEqual(["behind"]);
});

test("without a price no budget can be held, so nothing more is spent", async () => {
  const spending = createSpending(1);
  await spending.gate(call, async () => done());
  expect(spending.exhausted).toContain("The price of openai:mock is unknown");
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
