/** The short version of `bench/provider-faults.ts`: every fault on both families, and on the way of the key some of each kind. */
import { describe, expect, test } from "vitest";
import { cancelInEachPhase } from "../fakes/cancelled-calls.ts";
import { type FaultTurn, runFaults } from "../fakes/fault-turns.ts";
import { providerFaults } from "../fakes/provider-faults.ts";

/** A busy machine adds to every figure; a turn that is not ended by its limits takes far longer. */
const BUSY_MS = 3_000;

function endings(turns: readonly FaultTurn[]): readonly string[] {
  const late = turns.filter(({ tookMs }) => tookMs > 2_500 + BUSY_MS).map(({ name }) => `${name}: late`);
  return [...turns.flatMap(({ name, problem }) => (problem === undefined ? [] : `${name}: ${problem}`)), ...late];
}

describe.each(["anthropic", "openai"] as const)("%s", (family) => {
  test("every fault of a vendor ends the turn within its budget, with its reason", async () => {
    expect(endings(await runFaults(providerFaults, family, "held"))).toEqual([]);
  });
});

test("the limits hold where the credential helper sends the request", async () => {
  const kinds = /^(silence|half a status|a slow drip|a reset|headers larger|429 with a|529|a body that)/;
  const some = providerFaults.filter(({ name }) => kinds.test(name));
  expect(some.length).toBeGreaterThan(10);
  expect(endings(await runFaults(some, "anthropic", "helper"))).toEqual([]);
});

test.each(["held", "helper"] as const)("a cancel ends the turn at once in every phase (%s)", async (road) => {
  const cancelled = await cancelInEachPhase("openai", road);
  expect(cancelled.length).toBe(road === "held" ? 7 : 9);
  // 100 ms are required and measured by the campaign; what was not ended by the cancel takes the grace of 900 ms or more.
  expect(cancelled.filter(({ tookMs }) => tookMs > 500)).toEqual([]);
});
