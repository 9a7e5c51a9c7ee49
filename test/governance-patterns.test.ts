/** Six patterns that most governed projects are made of, each as small as it can be, at depths 0 and 1 alike. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig, type ProjectFiles } from "./fakes/project-rig.ts";

const SCRIPT_TOOL = (body: string, parameters = "{}") =>
  `---\nparameters: ${parameters}\nscript: |\n  def run(args):\n      ${body}\n---\n\nA tool.\n`;
const HOOK = (event: string, priority: number, body: string, extra = "") =>
  `---\nevent: ${event}\npriority: ${priority}\n${extra}script: |\n  def handle(event, payload):\n      ${body.replaceAll("\n", "\n      ")}\n---\n`;

const HARNESS = `---
permissions: { allow: [run_command, echo, exec, "meta.*"] }
meta: { enabled: true }
---
`;
const base: ProjectFiles = {
  "harness.md": HARNESS,
  ".harness/tools/echo.md": SCRIPT_TOOL('return args["text"]', "{ text: { type: string, required: true } }"),
  ".harness/tools/run_command.md": SCRIPT_TOOL(
    'return exec.run("sh", ["-c", args["command"]])',
    "{ command: { type: string, required: true } }",
  ),
};
const AUDIT = {
  ".harness/hooks/audit_pre.md": HOOK("tool.pre", 1, 'metrics.incr("audit.tool.pre")\nreturn allow()'),
  ".harness/hooks/audit_post.md": HOOK("tool.post", 1, 'metrics.incr("audit.tool.post")\nreturn allow()'),
};
const GUARD = HOOK(
  "tool.pre",
  10,
  'for bad in ["rm -rf /", "mkfs"]:\n    if bad in payload["args"].get("command", ""):\n        metrics.incr("audit.policy.deny")\n        return block("dangerous: " + bad)\nreturn allow()',
  'when: payload["name"] == "run_command"\n',
);

describe.each([0, 1])("at depth %i", (depth) => {
  test.each([
    ["in its arguments", 'exec.run("sh", ["-c", "touch made.txt"])'],
    ["on standard input", 'exec.run("sh", [], stdin="touch made.txt")'],
    ["on standard input behind a wrapper", 'exec.run("env", ["bash", "-s"], stdin="touch made.txt\\n")'],
    ["on a long standard input", 'exec.run("sh", [], stdin="touch made.txt\\n" + "#" * 50000)'],
    ["behind a long standard input", 'exec.run("sh", [], stdin="#" * 50000 + "\\ntouch made.txt\\n")'],
    ["behind much that does nothing", 'exec.run("env", ["bash", "-s"], stdin=":\\n" * 5000 + "touch made.txt\\n")'],
    ["in a variable", 'exec.run("git", ["-p", "log"], env={"GIT_PAGER": "touch made.txt"})'],
    ["in a variable that a shell runs", 'exec.run("bash", ["-c", "ls"], env={"BASH_ENV": "touch made.txt"})'],
  ])("a deny rule holds inside a script: %s", async (_, run) => {
    const rig = await createProjectRig(
      {
        "harness.md": `---\npermissions: { allow: [maker], deny: ["Bash(touch *)"] }\n---\n`,
        ".harness/tools/maker.md": SCRIPT_TOOL(`return ${run}`),
      },
      [calls(["maker", {}]), says("done")],
      { depth },
    );
    await rig.send();
    expect(rig.results()[0]).toMatch(/exec inside maker was denied/);
    expect(existsSync(join(rig.workspace.root, "made.txt"))).toBe(false);
  });

  test("audit-everything counts calls that are blocked too", async () => {
    const rig = await createProjectRig(
      { ...base, ...AUDIT, ".harness/hooks/guard.md": GUARD },
      [
        calls(["echo", { text: "a" }], ["run_command", { command: "rm -rf / --no-preserve-root" }]),
        calls(["echo", { text: "b" }]),
        says("done"),
      ],
      { depth },
    );
    await rig.send();
    expect(rig.results()).toEqual([
      "a",
      expect.stringMatching(/^blocked by hook "guard": dangerous: rm -rf \/\n/),
      "b",
    ]);
    expect(await rig.counters()).toEqual({ "audit.tool.pre": 3, "audit.tool.post": 2, "audit.policy.deny": 1 });
  });

  test("a deny-list refuses known damage and nothing else", async () => {
    const rig = await createProjectRig(
      { ...base, ".harness/hooks/guard.md": GUARD },
      [
        calls(["run_command", { command: "mkfs.ext4 /dev/sda1" }]),
        calls(["run_command", { command: "echo fine > made.txt" }]),
        says("done"),
      ],
      { depth },
    );
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["denied", "ok"]);
    expect(existsSync(join(rig.workspace.root, "made.txt"))).toBe(true);
    expect(rig.of("HooksAsked")[0]).toMatchObject({ depth, decisions: [{ hook: "guard", action: "block" }] });
  });

  test("channel narrowing: raw exec is refused, the same command inside run_command runs", async () => {
    const narrow = HOOK("tool.pre", 20, 'return block("use run_command")', 'when: payload["name"] == "exec"\n');
    const rig = await createProjectRig(
      { ...base, ".harness/hooks/narrow.md": narrow },
      [calls(["exec", { command: "echo raw" }]), calls(["run_command", { command: "echo named" }]), says("done")],
      { depth },
    );
    await rig.send();
    expect(rig.results()[0]).toMatch(/^blocked by hook "narrow": use run_command\n/);
    expect(JSON.parse(rig.results()[1] ?? "")).toMatchObject({ stdout: "named\n", exit_code: 0 });
    // By policy instead of a hook: the model does not see exec, the script still has it.
    const hidden = HARNESS.replace("---\n", "---\ntools_policy: { mode: denylist, deny: [exec] }\n");
    const policy = await createProjectRig(
      { ...base, "harness.md": hidden },
      [calls(["exec", { command: "echo raw" }]), calls(["run_command", { command: "echo named" }]), says("done")],
      { depth },
    );
    await policy.send();
    expect(policy.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PolicyDenied" }, { outcome: "ok" }]);
  });

  test("self-augmentation: a registration passes its guard, and what was registered obeys the same policy", async () => {
    const guard = HOOK(
      "meta.register_tool",
      5,
      'if payload["name"].startswith("exec"):\n    metrics.incr("audit.meta.deny")\n    return block("banned name")\nreturn allow()',
    );
    const tool = (name: string, body: string) => ({
      name,
      description: "x",
      parameters: {},
      script: `def run(args):\n    return ${body}\n`,
    });
    const denied = HARNESS.replace("---\n", '---\ntools_policy: { mode: denylist, deny: ["secret_*"] }\n');
    const rig = await createProjectRig(
      { ...base, ...AUDIT, "harness.md": denied, ".harness/hooks/guard.md": guard },
      [
        calls(["meta.register_tool", tool("exec_all", "1")], ["meta.register_tool", tool("echo", "1")]),
        calls(["meta.register_tool", tool("note_one", "1")]),
        calls(["meta.register_tool", tool("secret_one", "1")]),
        calls(["meta.register_tool", tool("note_shell", 'exec.run("sh", ["-c", "id"])')]),
        calls(["note_one", {}]),
        calls(["secret_one", {}]),
        calls(["note_shell", {}]),
        says("done"),
      ],
      { depth, settings: { tools: { execution: "auto", onError: "continue" } } },
    );
    await rig.send();
    const results = rig.results();
    expect(results[0]).toBe('blocked by hook "guard": banned name');
    expect(results[1]).toContain("the tool echo already exists");
    expect(results.slice(2, 5)).toEqual([
      '{"registered":"note_one"}',
      '{"registered":"secret_one"}',
      '{"registered":"note_shell"}',
    ]);
    expect(results[5]).toBe("1");
    expect(results[6]).toContain("tools_policy");
    // A registered tool that changes things asks like any other, and here is nobody to ask.
    expect(rig.of("ToolResult")[7]).toMatchObject({ outcome: "denied", reason: "PermissionDenied" });
    expect(await rig.counters()).toMatchObject({ "audit.meta.deny": 1 });
  });

  test("shape enforcement: tool.post redacts and truncates what the model reads", async () => {
    const redact = HOOK(
      "tool.post",
      40,
      'clean = re.replace("[0-9]{3}-[0-9]{4}", "«phone»", payload["content"])\nif clean == payload["content"]:\n    return allow()\npayload["content"] = clean\nreturn modify(payload)',
    );
    const truncate = HOOK(
      "tool.post",
      50,
      'if len(payload["content"]) <= 40:\n    return allow()\npayload["content"] = string.truncate(payload["content"], 40)\nreturn modify(payload)',
    );
    const rig = await createProjectRig(
      { ...base, ".harness/hooks/redact.md": redact, ".harness/hooks/truncate.md": truncate },
      [
        calls(["echo", { text: "call 555-1234" }]),
        calls(["echo", { text: `555-1234 ${"x".repeat(500)}` }]),
        says("done"),
      ],
      { depth },
    );
    await rig.send();
    const [short, long] = rig.results();
    expect(short).toBe("call «phone»");
    expect(long).toMatch(/^«phone» x+/);
    expect(long?.length).toBeLessThanOrEqual(43);
    const body = rig.vendor.requests.at(-1)?.body as { messages: { role: string; content: string }[] } | undefined;
    const shown = body?.messages.filter(({ role }) => role === "tool").map(({ content }) => content.split("\n")[1]);
    expect(shown).toEqual([short, long]);
    expect(rig.of("HooksAsked").map(({ decisions }) => decisions.map(({ action }) => action))).toEqual([
      ["modify", "allow"],
      ["modify", "modify"],
    ]);
  });

  test("propagation: hooks are told the depth, and a rule about it holds", async () => {
    const deep = HOOK(
      "agent.start",
      5,
      'if payload["depth"] > 0 and "deploy" in payload["task"]:\n    return block("children do not deploy")\nreturn allow()',
    );
    const rig = await createProjectRig({ ...base, ".harness/hooks/deep.md": deep }, [says("deployed")], { depth });
    const { outcome, reason, message } = await rig.send("deploy it");
    if (depth === 0) expect(outcome).toBe("answered");
    else
      expect({ outcome, reason, message }).toMatchObject({
        outcome: "error",
        reason: "HookBlocked",
        message: expect.stringContaining("children do not deploy"),
      });
    expect(rig.of("HooksAsked")).toMatchObject([{ event: "agent.start", depth }]);
  });
});
