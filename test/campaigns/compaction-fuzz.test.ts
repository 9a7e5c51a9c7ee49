/** A short run of the fuzzer of compactions; `bench/compaction-fuzz.ts` is the long one. */
import { expect, test } from "vitest";
import type { Event } from "#protocol";
import { fuzzCompaction } from "../fakes/compaction-fuzz.ts";
import { createRequestCheck } from "../fakes/request-check.ts";

test.each([
  [1, "anthropic"],
  [2, "openai"],
  [3, "anthropic"],
  [4, "openai"],
] as const)("requests stay legal and keep what they must, seed %i begun on %s", async (seed, vendor) => {
  const report = await fuzzCompaction({ seed, vendor, actions: 20 });
  expect(report.problems).toEqual([]);
  expect(Object.keys(report.compactions).length).toBeGreaterThan(1);
});

test("were a fact, a reference or the beginning of a request to change, the fuzzer would find it", () => {
  const events = [
    { id: 1, kind: "TurnStarted", payload: { content: [{ type: "text", text: "SAID-1- go on" }] } },
    { id: 2, kind: "PlanChanged", payload: { state: "agreed", plan: "FACT-plan-1" } },
  ] as unknown as Event[]; // what the check reads of them
  const check = createRequestCheck({ identity: "FACT-identity", events });
  const body = (...texts: readonly string[]): object => ({
    system: [{ type: "text", text: "FACT-identity" }],
    messages: [{ role: "user", content: texts.map((text) => ({ type: "text", text })) }],
  });
  expect(check.problemsOf(body("SAID-1- go on", "FACT-plan-1"))).toEqual([]);
  expect(check.problemsOf(body("SAID-1- go on", "FACT-plan-1", "more"))).toEqual([]);
  expect(check.problemsOf(body("SAID-1- go on", "FACT-plan-12", "more"))).toEqual([
    "FACT-plan-1 is missing",
    expect.stringContaining("block 1 of the last request changed"),
  ]);
  const wrong = '[harness: This result was removed. Read it again with reread {"event": 2} if you need it.]';
  expect(check.problemsOf(body("SAID-1- go on", "FACT-plan-12", "more", wrong, "FACT-plan-1"))).toEqual([
    "a reference names event 2, which is PlanChanged",
  ]);
});
