/** What hooks change: a payload field by field, the record, and the values that conditions read. */
import { describe, expect, test } from "vitest";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { agentFile, answers, delegates } from "./fakes/roles.ts";

const HARNESS = "---\npermissions: { allow: ['*'] }\n---\n";
const ECHO = `---
parameters: { text: { type: string }, extra: { type: string } }
script: |
  def run(args):
      return args.get("text", "") + "/" + args.get("extra", "-")
---
Repeats.
`;

function hook(event: string, priority: number, body: readonly string[], fields = ""): string {
  const lines = body.map((line) => `      ${line}\n`).join("");
  return `---\nevent: ${event}\npriority: ${priority}\n${fields}script: |\n  def handle(event, payload):\n${lines}---\n`;
}

async function echo(hooks: Readonly<Record<string, string>>) {
  const files = Object.fromEntries(Object.entries(hooks).map(([name, text]) => [`.harness/hooks/${name}.md`, text]));
  const rig = await createProjectRig({ "harness.md": HARNESS, ".harness/tools/echo.md": ECHO, ...files }, [
    calls(["echo", { text: "a" }]),
    says("done"),
  ]);
  await rig.send();
  return rig;
}

describe("modify", () => {
  const reads = hook("tool.pre", 20, [
    'log(payload["name"] + " " + json.encode(payload["args"]) + json.encode(payload["arguments"]) + payload["arguments_json"])',
    "return allow()",
  ]);

  test.each(["args", "arguments"])("of %s alone keeps the rest, and later hooks read one thing", async (field) => {
    const sets = hook("tool.pre", 10, [`return modify({"${field}": {"text": "b"}})`]);
    const rig = await echo({ sets, reads });
    expect(rig.results()).toEqual(["b/-"]);
    expect(rig.of("ScriptLogged")).toMatchObject([{ message: 'echo {"text":"b"}{"text":"b"}{"text":"b"}' }]);
  });

  test("of two hooks, each in its own spelling, is what both say", async () => {
    const first = hook("tool.pre", 10, ['return modify({"args": {"text": "b"}})']);
    const second = hook("tool.pre", 11, [
      'args = payload["arguments"]',
      'args["extra"] = "c"',
      'return modify({"arguments": args})',
    ]);
    expect((await echo({ first, second, reads })).results()).toEqual(["b/c"]);
  });

  test("of a result is read by later hooks in both spellings", async () => {
    const sets = hook("tool.post", 10, ['return modify({"result": {"n": 1}})']);
    const after = hook("tool.post", 20, ['log(payload["content"])', "return allow()"]);
    const rig = await echo({ sets, after });
    expect(rig.results()).toEqual(['{"n":1}']);
    expect(rig.of("ScriptLogged")).toMatchObject([{ message: '{"n":1}' }]);
  });

  test.each([
    [
      "names nothing that can be changed",
      'return modify({"arg": {}})',
      "it names arg, and only args, arguments can be",
    ],
    ["is empty", "return modify({})", "it names nothing, and only args, arguments can be"],
    ["is no dict", 'return modify("b")', "got string, want a dict"],
    ["renames the tool", 'return modify({"name": "x", "args": {}})', "the name of the tool was changed"],
    ["makes no arguments", 'return modify({"args": 1})', "args is not a dict"],
    [
      "says two things",
      'return modify({"args": {"text": "b"}, "arguments": {"text": "c"}})',
      "args and arguments were changed differently",
    ],
  ])("that %s is an error of its hook, and a guard that fails blocks", async (_what, body, why) => {
    const rig = await echo({ sets: hook("tool.pre", 10, [body]) });
    expect(rig.of("HookError")).toMatchObject([{ hook: "sets", message: expect.stringContaining(why) }]);
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
    expect(rig.results()[0]).toContain(why);
  });

  test("of a result that cannot be used keeps the result back", async () => {
    const rig = await echo({ sets: hook("tool.post", 10, ['return modify({"contents": "x"})']) });
    expect(rig.of("HookError")).toMatchObject([{ hook: "sets", event: "tool.post" }]);
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
    expect(rig.results()[0]).not.toContain("a/-");
  });

  test("that names nothing is passed over with on_error: allow", async () => {
    const rig = await echo({ sets: hook("tool.pre", 10, ['return modify({"arg": {}})'], "on_error: allow\n") });
    expect(rig.results()).toEqual(["a/-"]);
    expect(rig.of("HookError")).toMatchObject([{ hook: "sets" }]);
  });
});

test("a guard that fails is told, and blocks", async () => {
  const rig = await echo({ guard: hook("tool.pre", 10, ['fail("odd")']) });
  expect(rig.of("HookError")).toMatchObject([
    { hook: "guard", event: "tool.pre", message: expect.stringMatching("odd") },
  ]);
  expect(rig.of("ToolResult")).toMatchObject([{ reason: "HookBlocked" }]);
});

test("a hook can answer with attributes for the record", async () => {
  const cost = hook("turn.end", 10, [
    'return {"action": "annotate", "attributes": {"turn.tokens": payload["total_tokens"], "turn.kind": "short"}}',
  ]);
  const rig = await echo({ cost });
  const [asked] = rig.of("HooksAsked");
  const [ended] = rig.of("TurnEnded");
  const tokens = (ended?.usage.input_tokens ?? 0) + (ended?.usage.output_tokens ?? 0);
  expect(tokens).toBeGreaterThan(0);
  expect(asked).toMatchObject({
    event: "turn.end",
    decisions: [{ action: "allow" }],
    attrs: { "turn.tokens": tokens, "turn.kind": "short" },
  });
});

describe("when: with a dot", () => {
  test("reads a field of the payload", async () => {
    const guard = (when: string) => hook("tool.pre", 10, ['return block("no")'], `when: ${when}\n`);
    expect((await echo({ guard: guard('payload.name == "echo"') })).results()[0]).toContain("no");
    expect((await echo({ guard: guard('payload.name == "other"') })).results()).toEqual(["a/-"]);
    expect((await echo({ guard: guard('payload.args.text == "a"') })).results()[0]).toContain("no");
    expect((await echo({ guard: guard('payload.args.get("extra") == None') })).results()[0]).toContain("no");
  });

  test("chooses the agent that is delegated to", async () => {
    const rig = await createDelegationRig(
      {
        ".harness/agents/scout.md": agentFile("scout"),
        ".harness/agents/clerk.md": agentFile("clerk"),
        ".harness/hooks/guard.md": hook(
          "delegation.pre",
          10,
          ['return block("no scouts")'],
          'when: payload.agent == "scout"\n',
        ),
      },
      {
        root: [
          delegates({ agent: "scout", task: "Look." }),
          delegates({ agent: "clerk", task: "Write." }),
          answers("done"),
        ],
        clerk: [answers("written")],
      },
    );
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
  });
});

test.each([
  ["tool.pre", "at the next step", [false, true]],
  ["turn.start", "at the first step", [true, true]],
])("ctx.set in a hook on %s turns conditions on %s, until the turn ends", async (event, _when, expected) => {
  const bundle = `---
type: plugin
condition: ctx.get("mode") == "careful"
tools:
  - name: careful_tool
    description: Careful.
    script: |
      def run(args):
          return "ok"
---
Work with care.
`;
  const rig = await createProjectRig(
    {
      "harness.md": HARNESS,
      ".harness/tools/echo.md": ECHO,
      ".harness/plugins/careful.md": bundle,
      ".harness/hooks/mode.md": hook(
        event,
        10,
        ['ctx.set("mode", "careful")', "return allow()"],
        'when: ctx.get("again") == None\n',
      ),
    },
    [calls(["echo", { text: "a" }]), says("done"), says("again")],
  );
  await rig.send();
  const seen = () =>
    rig.vendor.requests.map(({ body }) =>
      [/careful_tool/, /Work with care/].map((text) => text.test(JSON.stringify(body))),
    );
  expect(seen()).toEqual(expected.map((isOn) => [isOn, isOn]));
  await rig.submit({ kind: "SetContext", values: { again: true } });
  await rig.send();
  expect(seen()[2]).toEqual([false, false]);
});
