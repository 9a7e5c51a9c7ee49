import { expect, test } from "vitest";
import { createCacheBudget, textBytes } from "./cache-budget.ts";

/** Of a key with one character. */
const KEY_BYTES = 130;

test("what was used longest ago makes room, whichever cache it is in", () => {
  const budget = createCacheBudget(4 * (KEY_BYTES + 100));
  const [one, other] = [budget.open<number>("one"), budget.open<number>("other")];
  one.set("a", 1, 100);
  other.set("a", 2, 100);
  one.set("b", 3, 100);
  other.set("b", 4, 100);
  expect(one.get("a")).toBe(1);
  budget.open<number>("third").set("a", 5, 100);
  expect([one.get("a"), other.get("a"), one.get("b"), other.get("b")]).toEqual([1, undefined, 3, 4]);
  const { bytes, maxBytes, caches } = budget.counters();
  expect(bytes).toBe(maxBytes);
  expect(caches.other).toMatchObject({ entries: 1, hits: 1, misses: 1, evictions: 1 });
});

test("no cache takes more than half of it, however many instances it has", () => {
  const budget = createCacheBudget(4 * (KEY_BYTES + 100));
  const first = budget.open<number>("texts");
  const second = budget.open<number>("texts");
  first.set("a", 1, 100);
  second.set("a", 2, 100);
  first.set("b", 3, 100);
  expect([first.get("a"), second.get("a"), first.get("b")]).toEqual([undefined, 2, 3]);
  expect(budget.counters().caches.texts).toMatchObject({ entries: 2, maxBytes: 2 * (KEY_BYTES + 100), evictions: 1 });
});

test("an entry that is larger than the share is not kept, and takes the place of no other", () => {
  const budget = createCacheBudget(1_000);
  const cache = budget.open<string>("texts");
  cache.set("a", "x", 10);
  cache.set("b", "y", 1_000);
  expect([cache.get("a"), cache.get("b")]).toEqual(["x", undefined]);
});

test("a value that is replaced or cleared gives its bytes back", () => {
  const budget = createCacheBudget(10_000);
  const cache = budget.open<string>("texts");
  for (let round = 0; round < 100; round++) cache.set("a", "x", 100);
  expect(budget.counters().bytes).toBe(KEY_BYTES + 100);
  cache.clear();
  expect([budget.counters().bytes, cache.get("a")]).toEqual([0, undefined]);
});

test("the budget holds over ten thousand entries of any size", () => {
  const budget = createCacheBudget(100_000);
  const caches = ["a", "b", "c"].map((name) => budget.open<number>(name));
  for (let index = 0; index < 10_000; index++) {
    caches[index % 3]?.set(`${index % 700}`, index, (index * 7919) % 20_000);
    expect(budget.counters().bytes).toBeLessThanOrEqual(100_000);
  }
  const { bytes, caches: counted } = budget.counters();
  expect(Object.values(counted).reduce((sum, one) => sum + one.bytes, 0)).toBe(bytes);
  expect(textBytes("ab", "c")).toBe(6);
});

test("estimated sizes are counted in whole bytes", () => {
  const budget = createCacheBudget(1000);
  const cache = budget.open<string>("texts");
  cache.set("a", "one", 10.1);
  cache.set("b", "two", 10.2);
  expect(budget.counters().bytes).toBe(2 * (KEY_BYTES + 11));
});
