/** Every event says how many secrets of which kind were replaced in it and by which rules, and health says the same in total. */
import { expect, test } from "vitest";
import { defaultSettings } from "#artifacts";
import { parseEvent } from "#protocol/schemas";
import { createRedactor } from "#redaction";
import { subsystemsOf } from "../src/program/subsystems.ts";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";

const SECRET = "ghp_Zt7Qm2Lx9Wc4Rv8Ks1Bn6Hd3Fy5Gp0JtVaEu";

test("of the input, of a result, and of what the model writes", async () => {
  const rig = await createHarnessRig([calls(["fs.read", { path: "notes.txt" }]), says(`It says ${SECRET}.`)], {
    prepare: (workspace) => void workspace.put("notes.txt", `first ${SECRET}\nsecond ${SECRET}\n`),
  });
  const { policy_version } = createRedactor().status();
  await rig.send(`use ${SECRET}`);
  const counted = rig.events.flatMap(({ kind, payload }) =>
    payload.redaction === undefined ? [] : [[kind, payload.redaction] as const],
  );
  const summary = (count: number) => ({ policy_version, redacted_count: count, counts: { "github-pat": count } });
  expect(counted).toContainEqual(["TurnStarted", summary(1)]);
  expect(counted).toContainEqual(["ToolResult", summary(2)]);
  expect(counted).toContainEqual(["TextDelta", summary(1)]);
  for (const event of rig.events) {
    expect(JSON.stringify(event).includes("«redacted:")).toBe(event.payload.redaction !== undefined);
    expect(parseEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
  }
  expect((await subsystemsOf(rig.harness, defaultSettings)).redaction).toMatchObject({
    state: "loaded",
    policy_version,
    redacted_count: expect.any(Number),
    counts: { "github-pat": expect.any(Number) },
  });
});

test("nothing is said where nothing was replaced", async () => {
  const rig = await createHarnessRig([says("Hello.")]);
  await rig.send("hello");
  expect(rig.events.filter(({ payload }) => "redaction" in payload)).toEqual([]);
});
