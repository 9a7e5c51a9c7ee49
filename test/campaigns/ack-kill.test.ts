/** What was acknowledged outlives kill -9 a moment later; `bench/ack-kill.ts` does the same many more times and for everything. */
import { expect, test } from "vitest";
import { type KillPlan, killAfterAcks } from "../fakes/ack-kills.ts";

/** Inputs over every wire, and the answers of people: what is easiest to promise too early. */
const plans: readonly KillPlan[] = [
  { wire: "rest", kind: "input" },
  { wire: "ws", kind: "input" },
  { wire: "prompt", kind: "input" },
  { wire: "client", kind: "input" },
  { wire: "rpc", kind: "input" },
  { wire: "rest", kind: "permission given" },
  { wire: "rpc", kind: "answered question" },
  { wire: "ws", kind: "rule kept" },
];

test("a server that is killed right after an acknowledgement", async () => {
  const { findings, failures, total } = await killAfterAcks(plans.length, Math.random, plans);
  expect([...findings, ...failures]).toEqual([]);
  expect(total).toMatchObject({ kills: plans.length, lost: 0, twice: 0 });
});
