/** What a delegate claims is held against the facts before its parent hears of it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { agentFile, answers, delegates, lastText, makes, type Role, textsOf } from "./fakes/roles.ts";

const IS_THERE =
  'verify: |\n  def run(result):\n      there = fs.exists("out.txt")\n      return json.encode({"verified": there, "reason": "" if there else "out.txt does not exist"})\n';
const writer = (head = IS_THERE) => ({
  ".harness/agents/writer.md": agentFile("writer", `tools: [fs.write]\n${head}`),
});
const hook = (body: string, head = "") => ({
  ".harness/hooks/check.md": `---\nevent: delegation.post_verify\npriority: 1\n${head}script: |\n  def handle(event, payload):\n      ${body}\n---\n`,
});
const root = (args = {}): Role => [
  delegates({ agent: "writer", task: "Write out.txt.", ...args }),
  (call) => answers(lastText(call))(call),
];
const lies: Role = [answers("I wrote out.txt. Done!")];
const TEMPLATE =
  "VERIFICATION FAILED on the previous attempt: out.txt does not exist\n\nThe task is NOT complete. Re-examine the actual state of the world and finish the work. Do not just claim success — actually verify the side effects exist before responding.";

describe("a verifier of an agent", () => {
  test("sends the same delegate back, in its own conversation, until the work is there", async () => {
    const conversation: string[] = [];
    const rig = await createDelegationRig(
      writer(),
      {
        root: root(),
        writer: (call, step) => {
          if (step === 1) conversation.push(...call.request.messages.map(textsOf));
          if (step === 0) return answers("Done!");
          return step === 1 ? makes(["fs.write", { path: "out.txt", content: "x" }]) : answers("Now it is there.");
        },
      },
      { autoApprove: true },
    );
    await rig.send("go");
    expect(conversation).toEqual(["Write out.txt.", "Done!", TEMPLATE]);
    expect(rig.parsed()).toMatchObject([
      { status: "ok", result: "Now it is there.", verification: { outcome: "passed", attempts: 2 } },
    ]);
    expect(rig.children()).toHaveLength(1);
    const [child] = rig.children();
    expect(rig.ofSession(child, "Reprompted")).toMatchObject([{ text: TEMPLATE, source: "delegation.verify" }]);
    expect(rig.of("DelegationVerified")).toMatchObject([
      { session: child, attempt: 1, verified: false, reason: "out.txt does not exist" },
      { session: child, attempt: 2, verified: true },
    ]);
    expect(rig.of("ToolResult")[0]?.attrs).toMatchObject({
      "delegation.kind": "writer",
      "delegation.verify_attempts": 2,
      "delegation.verify_passed": true,
      "delegation.verify_outcome": "passed",
    });
    // What the verifier did is on the record of the delegate, as every call is.
    expect(rig.ofSession(child, "ToolIntent").map(({ name }) => name)).toEqual([
      ...["delegation.verify", "fs.write", "delegation.verify"],
    ]);
    expect(await rig.counters()).toMatchObject({ "delegation.verify_attempts": 2, "delegation.verify_passed": 1 });
  });

  test.each([
    ["three attempts when nothing is written", "", {}, 3],
    ["as many as the agent says", "max_verify_retries: 1\n", {}, 2],
    ["fewer when the request says so", "", { max_verify_retries: 0 }, 1],
    ["not more than the agent says", "max_verify_retries: 1\n", { max_verify_retries: 9 }, 2],
  ])("that never accepts ends it: %s", async (_, head, args, attempts) => {
    const rig = await createDelegationRig(writer(`${IS_THERE}${head}`), { root: root(args), writer: lies });
    await rig.send("go");
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true, reason: "KindVerificationFailed" }]);
    const [told] = rig.parsed();
    expect(told).toMatchObject({
      status: "failed",
      reason: "KindVerificationFailed",
      verification: { outcome: "failed", attempts },
    });
    expect(rig.results()[0]).not.toContain("Done!");
    expect(rig.of("DelegationEnded")).toMatchObject([{ status: "failed", reason: "KindVerificationFailed" }]);
    expect(rig.ofSession(rig.children()[0], "TurnEnded")).toMatchObject([
      { outcome: "error", reason: "KindVerificationFailed" },
    ]);
  });

  test("gives each attempt the steps of a turn", async () => {
    const busy: Role = (_, step) =>
      step % 3 === 2 ? answers("Done!") : makes(["fs.write", { path: `f${step}.txt`, content: "x" }]);
    const rig = await createDelegationRig(
      writer(),
      { root: root({ max_iterations: 3 }), writer: busy },
      { autoApprove: true },
    );
    await rig.send("go");
    expect(rig.parsed()).toMatchObject([{ reason: "KindVerificationFailed", metrics: { steps: 9 } }]);
  });

  test.each([
    ["raises", 'fail("oops")', /oops/],
    ["answers something else", 'return "looks fine to me"', /not a JSON object/],
    ["answers without a verdict", "return {}", /not a JSON object/],
    ["wants what nobody allows", 'return exec.run("true", [])["exit_code"] == 0', /denied|delegation\.verify/],
  ])("that %s is a failure, never a yes", async (_, body, told) => {
    const rig = await createDelegationRig(writer(`verify: |\n  def run(result):\n      ${body}\n`), {
      root: root(),
      writer: lies,
    });
    await rig.send("go");
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true, reason: "VerifierBroken" }]);
    expect(rig.results()[0]).toMatch(told);
    expect(rig.of("DelegationVerified")).toMatchObject([{ verified: false, broken: true }]);
  });

  test.each([
    ["True", "passed"],
    ["False", "failed"],
    ['json.encode({"verified": True})', "passed"],
    ['{"verified": False}', "failed"],
  ])("may answer %s", async (answer, outcome) => {
    const rig = await createDelegationRig(writer(`verify: |\n  def run(result):\n      return ${answer}\n`), {
      root: root(),
      writer: lies,
    });
    await rig.send("go");
    expect(rig.parsed()).toMatchObject([{ verification: { outcome } }]);
  });

  test("sees the claim with its calls and their results", async () => {
    const check =
      'verify: |\n  def run(result):\n      log(json.encode([result["response"], [c["name"] for c in result["tool_calls"]], [r["is_error"] for r in result["tool_results"]], result["task"]]))\n      return True\n';
    const rig = await createDelegationRig(
      writer(check),
      { root: root(), writer: [makes(["fs.write", { path: "out.txt", content: "x" }]), answers("Written.")] },
      { autoApprove: true },
    );
    await rig.send("go");
    const [line] = rig.ofSession(rig.children()[0], "ScriptLogged");
    expect(JSON.parse(line?.message ?? "")).toEqual(["Written.", ["fs.write"], [false], "Write out.txt."]);
  });

  test("that does not compile is found when the project is loaded", async () => {
    await expect(
      createDelegationRig(writer("verify: |\n  def check(result):\n      return True\n"), {}),
    ).rejects.toThrow(/run/);
  });
});

describe("hooks on delegation.post_verify", () => {
  test("and the script both have to agree, their reasons are told together", async () => {
    const rig = await createDelegationRig(
      { ...writer(), ...hook('return block("no path named") if payload["attempt"] < 3 else allow()') },
      { root: root(), writer: lies },
    );
    await rig.send("go");
    expect(rig.of("DelegationVerified").map(({ reason }) => reason)).toEqual([
      "out.txt does not exist; no path named",
      "out.txt does not exist; no path named",
      "out.txt does not exist",
    ]);
    expect(rig.parsed()).toMatchObject([{ status: "failed" }]);
  });

  test("alone are enough, come before delegation.post, and may put the claim into shape", async () => {
    const rig = await createDelegationRig(
      {
        ".harness/agents/writer.md": agentFile("writer"),
        ...hook('return modify(dict(payload, response="shaped: " + payload["response"]))'),
        ".harness/hooks/post.md":
          '---\nevent: delegation.post\npriority: 1\nscript: |\n  def handle(event, payload):\n      return modify(dict(payload, result=payload["result"] + " (seen)"))\n---\n',
      },
      { root: root(), writer: [answers("done")] },
    );
    await rig.send("go");
    expect(rig.parsed()).toMatchObject([
      { result: "shaped: done (seen)", verification: { outcome: "passed", attempts: 1 } },
    ]);
    expect(rig.of("HooksAsked").map(({ event }) => event)).toEqual(["delegation.post_verify", "delegation.post"]);
  });

  test("that fail are a broken verifier", async () => {
    const rig = await createDelegationRig(
      { ".harness/agents/writer.md": agentFile("writer"), ...hook('return block(payload["missing"])') },
      { root: root(), writer: lies },
    );
    await rig.send("go");
    expect(rig.of("ToolResult")).toMatchObject([{ reason: "VerifierBroken" }]);
  });

  test("of the agent's own file are asked too", async () => {
    const own =
      'hooks:\n  - name: own\n    event: delegation.post_verify\n    priority: 1\n    script: |\n      def handle(event, payload):\n          return block("own says no")\n';
    const rig = await createDelegationRig(
      { ".harness/agents/writer.md": agentFile("writer", own) },
      { root: root({ max_verify_retries: 0 }), writer: lies },
    );
    await rig.send("go");
    expect(rig.results()[0]).toContain("own says no");
  });
});

test("a verifier of the request holds besides the one of the agent", async () => {
  const verify = 'def run(result):\n    return json.encode({"verified": False, "reason": "the request says no"})';
  const rig = await createDelegationRig(
    writer(),
    { root: root({ verify, max_verify_retries: 0 }), writer: lies },
    { autoApprove: true },
  );
  await rig.send("go");
  expect(rig.of("DelegationVerified")).toMatchObject([{ reason: "out.txt does not exist; the request says no" }]);
});

test("a delegate that lies is caught in every one of 20 runs", async () => {
  const rig = await createDelegationRig(writer("max_verify_retries: 1\n".concat(IS_THERE)), {
    root: (_, step) =>
      step % 2 === 0 ? delegates({ agent: "writer", task: `Write out.txt (${step}).` }) : answers("ok"),
    writer: lies,
  });
  for (let run = 0; run < 20; run++) await rig.send("go");
  expect(rig.of("ToolResult").filter(({ is_error }) => !is_error)).toEqual([]);
  expect(rig.of("ToolResult")).toHaveLength(20);
  expect(existsSync(join(rig.workspace.root, "out.txt"))).toBe(false);
});
