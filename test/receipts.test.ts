/** Nothing happens without a receipt: a short version of `bench/receipts.ts`, and that the campaign would notice. */
import { expect, test } from "vitest";
import { measureGate } from "./fakes/gate-cost.ts";
import { runReceiptCampaign } from "./fakes/receipts.ts";

const CALLS = 300;

test("every effect of some hundred calls, hooks and calls inside calls is on a receipt, and nothing else is", async () => {
  const campaign = await runReceiptCampaign(CALLS);
  expect(campaign.unreceipted).toEqual([]);
  expect(campaign.unseen).toEqual([]);
  expect(campaign.calls).toBeGreaterThanOrEqual(CALLS);
  // It would prove nothing if little had happened.
  expect(Object.keys(campaign.effects).toSorted()).toEqual(["connect", "move", "process", "remove", "server", "write"]);
  expect(Object.keys(campaign.outcomes)).toEqual(expect.arrayContaining(["ok", "denied", "error"]));
  expect(campaign.hookEffects).toBeGreaterThan(0);
  expect(campaign.lookupEffects).toBeGreaterThan(0);
});

test("an effect past the gate is noticed", async () => {
  const campaign = await runReceiptCampaign(40, { past: true });
  expect(campaign.unreceipted).toEqual(["write past-the-gate.txt: in no receipt (call none)"]);
});

test("the chain around a call can be timed", async () => {
  const { mutating, readOnly } = await measureGate(80);
  expect([mutating.length, readOnly.length]).toEqual([20, 20]);
});
