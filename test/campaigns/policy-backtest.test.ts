/** Hundreds of calls of every kind, decided again by a backtest; `test/policy-backtest.test.ts` says what else it has to do. */
import { expect, test } from "vitest";
import { policyAgreement } from "../fakes/policy-agreement.ts";

const CALLS = 600;

test("agrees with live decisions of every kind, and finds mutations of the policy", async () => {
  const { decided, ...wrong } = await policyAgreement(CALLS);
  expect(wrong).toEqual({ differing: [], missed: [] });
  expect(decided).toBeGreaterThanOrEqual(CALLS);
});
