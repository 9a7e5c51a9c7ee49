/** Going in circles is noticed, whoever is there: a person is asked, and without one the turn ends. */
import { describe, expect, test } from "vitest";
import { calls, createHarnessRig, type RigOptions, says } from "./fakes/harness-rig.ts";

const A = ["fs_list", { path: "." }] as const;
const B = ["fs_glob", { pattern: "*.ts" }] as const;
const C = ["fs_search", { pattern: "x" }] as const;
const LONG = 30;

/** The model makes these calls over and over, one in each step. */
async function round(pattern: readonly (readonly [string, object])[], options: RigOptions = {}) {
  const replies = Array.from({ length: LONG }, (_, index) => calls(pattern[index % pattern.length] ?? A));
  const rig = await createHarnessRig(replies, { settings: { maxSteps: LONG }, ...options });
  const turn = await rig.send();
  return { turn, outcomes: rig.of("ToolResult").map(({ outcome, reason }) => reason ?? outcome) };
}

const ended = { outcome: "error", reason: "LoopDetected" };

describe("without anybody to ask, a loop", () => {
  test("of one call is refused at the third and ends the turn at the fourth", async () => {
    const { turn, outcomes } = await round([A]);
    expect(turn).toMatchObject({ ...ended, message: expect.stringContaining("fs.list") });
    expect(outcomes).toEqual(["ok", "ok", "PermissionDenied", "LoopDetected"]);
  });

  test("of two calls is refused when it has gone round twice", async () => {
    const { turn, outcomes } = await round([A, B]);
    expect(turn).toMatchObject({ ...ended, message: expect.stringMatching(/fs\.(list|glob), fs\.(list|glob)/) });
    expect(outcomes).toEqual(["ok", "ok", "ok", "PermissionDenied", "LoopDetected"]);
  });

  test("of three calls as well", async () => {
    const { turn, outcomes } = await round([A, B, C]);
    expect(turn).toMatchObject(ended);
    expect(outcomes).toEqual(["ok", "ok", "ok", "ok", "ok", "PermissionDenied", "LoopDetected"]);
  });

  test("of a call that is denied every time ends, too", async () => {
    const { turn, outcomes } = await round([["fs_write", { path: "x", content: "y" }]]);
    expect(turn).toMatchObject(ended);
    expect(outcomes).toEqual(["PermissionDenied", "PermissionDenied", "PermissionDenied", "LoopDetected"]);
  });

  test("ends with --auto-approve, which lets it go round once more", async () => {
    const { turn, outcomes } = await round([A, B], { autoApprove: true });
    expect(turn).toMatchObject(ended);
    expect(outcomes).toEqual([...Array(7).fill("ok"), "LoopDetected"]);
  });
});

test("what is said to end it is on the record of the call", async () => {
  const rig = await createHarnessRig([calls(A), calls(A), calls(A), calls(A), says("never")]);
  await rig.send();
  expect(rig.of("CallJudged").map(({ judged }) => `${judged.effect} ${judged.by}`)).toEqual([
    "ask repeated calls",
    "deny repeated calls",
  ]);
});

test("a loop that was given up does not count against another one", async () => {
  const steps = [A, A, A, B, B, B].map((one) => calls(one));
  const rig = await createHarnessRig([...steps, says("done")]);
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
  const refused = rig.of("ToolResult").map(({ reason }) => reason ?? "ok");
  expect(refused).toEqual(["ok", "ok", "PermissionDenied", "ok", "ok", "PermissionDenied"]);
});

test("calls of one response are no rounds, and end nothing before the model has read a refusal", async () => {
  // Calls that change something run one after the other, in their order.
  const x = ["fs_write", { path: "x", content: "z" }] as const;
  const y = ["fs_write", { path: "y", content: "z" }] as const;
  const settings = { permissions: [{ effect: "allow", rule: "fs.write", source: "test" }] } as const;
  const rig = await createHarnessRig([calls(x, y, x, y, x, y), says("done")], { settings });
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
  expect(rig.of("ToolResult").every(({ outcome }) => outcome === "ok")).toBe(true);
  const same = await createHarnessRig([calls(A, A, A, A, A), says("done")]);
  expect(await same.send()).toMatchObject({ outcome: "answered" });
  const outcomes = same.of("ToolResult").map(({ outcome }) => outcome);
  expect(outcomes.toSorted()).toEqual(["denied", "denied", "denied", "ok", "ok"]);
});

test("calls that go on are no loop, and a new turn begins anew", async () => {
  const steps = [A, B, A, C, A, B].map((one) => calls(one));
  const rig = await createHarnessRig([...steps, says("done"), calls(A), says("done")]);
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
  expect(rig.of("ToolResult").every(({ outcome }) => outcome === "ok")).toBe(true);
});

test("a person who is asked decides, as often as they are asked", async () => {
  const rig = await createHarnessRig([...Array.from({ length: 6 }, () => calls(A)), says("done")], {
    interactive: true,
  });
  const turn = rig.send();
  for (let asked = 1; asked <= 2; asked++) {
    await expect.poll(() => rig.of("PermissionRequested")).toHaveLength(asked);
    const { call_id } = rig.of("PermissionRequested").at(-1) ?? {};
    if (call_id === undefined) throw new Error("nobody asked");
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
  }
  expect(await turn).toMatchObject({ outcome: "answered" });
});

test("a command that runs out of time is a timeout, with what it printed", async () => {
  const rig = await createHarnessRig(
    [calls(["exec", { command: "echo begun; sleep 60", timeout_ms: 300 }]), says("done")],
    { autoApprove: true, settings: { sandbox: "off" } },
  );
  await rig.send();
  expect(rig.of("ToolResult")).toMatchObject([
    {
      outcome: "timeout",
      reason: "ToolTimeout",
      is_error: true,
      content: [{ text: expect.stringMatching(/^begun\n\[timed out after 300 ms/) }],
    },
  ]);
});
