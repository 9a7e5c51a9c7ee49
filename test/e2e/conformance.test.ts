/** Our own program conforms over the quick wires, and a server that lies is found out. All wires and lies: `test/campaigns`. */
import { expect, test } from "vitest";
import { httpTarget, runConformance } from "#conformance";
import { createSystemClock } from "#world";
import { brokenRequirements, QUICK_WIRES } from "../fakes/conformance-matrix.ts";
import { ownServer, TOKENS } from "../fakes/conformance-targets.ts";
import { startLyingServer } from "../fakes/lying-server.ts";

/** A server that does not lie answers much sooner. */
const WAIT_MS = 20_000;

test.each([...QUICK_WIRES])("every requirement of its own passes over %s", async (wire) => {
  expect(await brokenRequirements(wire)).toEqual([]);
});

test.each([
  ["without a lie", (frame: string) => [frame], "pass"],
  ["that drops an event", (frame: string) => (frame.includes("event: CostIncremented") ? [] : [frame]), "fail"],
])("a server %s", async (_name, onFrame, verdict) => {
  const { socketPath, abilities } = await ownServer();
  const path = await startLyingServer(socketPath, { onFrame });
  const clock = createSystemClock();
  const target = {
    ...httpTarget("rest", { place: { kind: "unix", path }, clock, waitMs: WAIT_MS, tokens: TOKENS }),
    ...abilities,
  };
  const { findings } = await runConformance({ targets: [target], clock, only: (id) => id === "stream:order" });
  expect(findings).toEqual([expect.objectContaining({ requirement: "stream:order", verdict })]);
});
