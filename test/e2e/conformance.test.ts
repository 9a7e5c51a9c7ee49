/** Our own program conforms: every requirement passes on every wire that it holds for, with real sockets and processes. */
import { expect, test } from "vitest";
import { type RequirementId, requirements, runConformance, wires } from "#conformance";
import { createSystemClock } from "#world";
import { ownTarget } from "../fakes/conformance-targets.ts";

const ids = Object.keys(requirements) as RequirementId[];

test.each(wires)("every requirement of its own passes over %s", { timeout: 180_000 }, async (wire) => {
  const { findings } = await runConformance({ targets: [await ownTarget(wire)], clock: createSystemClock() });
  const wanted = ids.filter((id) => requirements[id].wires.includes(wire));
  const wrong = findings.filter(({ requirement, verdict }) => verdict !== "pass" && wanted.includes(requirement));
  expect(wrong).toEqual([]);
  const passed = new Set(findings.filter(({ verdict }) => verdict === "pass").map(({ requirement }) => requirement));
  expect(wanted.filter((id) => !passed.has(id))).toEqual([]);
});
