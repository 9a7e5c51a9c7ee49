/** `delegate(…)` of scripts: the tool of that name, through the same gate, from inside another call. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { agentFile, answers, HARNESS, makes, type Roles } from "./fakes/roles.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

const harness = (head = "") =>
  HARNESS.replace("model: roles:one\n", `model: roles:one\npermissions: { allow: [survey] }\n${head}`);
const survey = (...body: readonly string[]) =>
  [
    "---",
    "name: survey",
    "description: Asks the scout.",
    "script: |",
    "  def run(args):",
    ...body.map((line) => `      ${line}`),
    "---",
    "",
  ].join("\n");
const project = (script: string, head?: string) => ({
  "harness.md": harness(head),
  ".harness/agents/scout.md": agentFile("scout", "tools: [fs.write, fs.list]\n"),
  ".harness/tools/survey.md": script,
});
const roles = (scout: Roles["scout"] = [answers("three teapots")]): Roles => ({
  root: [makes(["survey", {}]), answers("done")],
  scout,
});

test("gives the structured result to the script, and nothing of it to the model but what the script returns", async () => {
  const script = survey('found = delegate("Count.", agent="scout")', 'return found["status"] + ": " + found["result"]');
  const rig = await createDelegationRig(project(script), roles());
  await rig.send("go");
  expect(rig.of("ToolResult").at(-1)?.content).toEqual([{ type: "text", text: "ok: three teapots" }]);
  expect(rig.of("DelegationStarted")).toMatchObject([{ agent: "scout", task: "Count.", mode: "sync", depth: 1 }]);
});

test("a tool that names it is a mutating one, and so waits for a yes like any other", async () => {
  const files = { ...project(survey('return delegate("Count.", agent="scout")')), "harness.md": HARNESS };
  const rig = await createDelegationRig(files, roles());
  await rig.send("go");
  expect(rig.of("ToolResult").at(-1)).toMatchObject({ outcome: "denied" });
  expect(rig.of("DelegationStarted")).toEqual([]);
});

test.each([
  ["an agent that is not there", 'delegate("Count.", agent="scuot")', /There is no agent "scuot"/],
  ["an argument that is not one", 'delegate("Count.", agents="scout")', /agents/],
  ["code of its own, with nobody to look at it", 'delegate("Count.", verify="def run(r):\\n  return True")', /verify/],
  ["nothing to do", 'delegate(" ")', /the task is empty/],
])("is refused in words for %s", async (_what, call, why) => {
  const rig = await createDelegationRig(project(survey(`return ${call}`)), roles());
  await rig.send("go");
  const told = JSON.parse(rig.results().at(-1) ?? "") as unknown;
  expect(told).toMatchObject({ status: "failed", error: expect.stringMatching(why) });
  expect(rig.of("DelegationStarted")).toEqual([]);
});

test("limits and hooks hold: a policy against delegate is one against the built-in", async () => {
  const script = survey('return delegate("Count.", agent="scout")');
  const denied = await createDelegationRig(project(script, "tools_policy: { deny: [delegate] }\n"), roles());
  await denied.send("go");
  expect(denied.of("DelegationStarted")).toEqual([]);
  const shallow = await createDelegationRig(project(script, "delegation: { max_depth: 0 }\n"), roles());
  await shallow.send("go");
  expect(shallow.of("DelegationStarted")).toEqual([]);
});

test.each([
  ["delegate", 'return delegate("Write.", agent="scout")'],
  ["meta.call_tool", 'return meta.call_tool("delegate", {"agent": "scout", "task": "Write."})'],
  [
    "delegate_async",
    'meta.call_tool("delegate_async", {"agent": "scout", "task": "Write."})\n      return meta.call_tool("task.await", {})',
  ],
])(
  "what the delegate of %s changes belongs to the call around it, and nobody waits for it forever",
  async (_by, line) => {
    const { outside } = createTemporaryWorkspace();
    const rig = await createDelegationRig(
      project(survey(line), "meta: { enabled: true }\n"),
      roles([makes(["fs.write", { path: "made.txt", content: "x" }]), answers("written")]),
      { autoApprove: true, undo: { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) } },
    );
    await rig.send("go");
    const made = () => existsSync(join(rig.workspace.root, "made.txt"));
    expect(rig.of("DelegationEnded")).toMatchObject([{ status: "ok" }]);
    expect(made()).toBe(true);
    await rig.submit({ kind: "UndoTurn" });
    expect(made()).toBe(false);
  },
);
