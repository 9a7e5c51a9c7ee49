/** Calls side by side inside a turn: launched by scripts, or declared by a tool; all have ended before the next step. */
import { describe, expect, test } from "vitest";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig, type ProjectRig } from "./fakes/project-rig.ts";

const settings = { sandbox: "off" } as const;

function project(body: readonly string[], more: readonly string[] = []): Record<string, string> {
  return {
    "harness.md": [
      "---",
      "permissions: { allow: [main, slow, note, fail, 'exec'] }",
      "tools:",
      "  - name: main",
      "    description: Launches.",
      "    script: |",
      "      def run(args):",
      ...body.map((line) => `          ${line}`),
      "  - name: slow",
      "    description: Waits.",
      "    parameters: { text: { type: string, required: true } }",
      "    script: |",
      "      def run(args):",
      "          sleep(0.05)",
      '          return "slow " + args["text"]',
      "  - name: note",
      "    description: Says something at once.",
      "    script: |",
      "      def run(args):",
      '          return "noted"',
      "  - name: fail",
      "    description: Fails.",
      "    script: |",
      "      def run(args):",
      '          return {"error": "broken"}',
      ...more,
      "---",
      "You test.",
      "",
    ].join("\n"),
  };
}

async function run(body: readonly string[]): Promise<ProjectRig> {
  const rig = await createProjectRig(project(body), [calls(["main", {}]), says("ok")], { settings });
  await rig.send();
  return rig;
}

/** Names of calls in the order in which they began and ended. */
function order(rig: ProjectRig): readonly string[] {
  return rig.events.flatMap((event) => {
    if (event.kind === "ToolCallStarted") return [`+${event.payload.name}`];
    return event.kind === "ToolResult" ? [`-${event.payload.name}`] : [];
  });
}

describe("async", () => {
  test("calls run side by side, and their results come in the order that is asked for", async () => {
    const rig = await run([
      'a = async.launch("slow", {"text": "a"})',
      'b = async.launch("slow", {"text": "b"})',
      "return async.wait_all([b, a])",
    ]);
    expect(JSON.parse(rig.results().at(-1) ?? "")).toEqual([
      { id: "task-2", result: "slow b", is_error: false },
      { id: "task-1", result: "slow a", is_error: false },
    ]);
    expect(order(rig)).toEqual(["+main", "+slow", "+slow", "-slow", "-slow", "-main"]);
  });

  test("one begins when what it depends on has ended, also when that is launched later", async () => {
    const rig = await run([
      'async.launch("note", {}, id="last", depends_on=["first"])',
      'async.launch("slow", {"text": "1"}, id="first")',
      'return async.wait_all(["last"])',
    ]);
    expect(order(rig)).toEqual(["+main", "+slow", "-slow", "+note", "-note", "-main"]);
  });

  test("what depends on a failure does not run", async () => {
    const rig = await run([
      'async.launch("fail", {}, id="first")',
      'async.launch("note", {}, id="last", depends_on=["first"])',
      'return async.wait_all(["last"])[0]["result"]',
    ]);
    expect(rig.results().at(-1)).toBe('not run: "first", which it depends on, failed');
    expect(order(rig)).not.toContain("+note");
  });

  test.each([
    [
      'async.launch("note", {}, id="a", depends_on=["b"])\nasync.launch("note", {}, id="b", depends_on=["a"])',
      "b → a → b",
    ],
    ['async.launch("note", {}, id="a", depends_on=["a"])', "a → a"],
    [
      'async.launch("note", {}, id="a", depends_on=["z"])\nasync.wait_all(["a"])',
      'depends on "z", which was not launched',
    ],
    ['async.wait_any(["x"])', 'nothing was launched with the id "x"'],
    ['async.launch("note", {}, id="a")\nasync.launch("note", {}, id="a")', 'the id "a" is taken'],
    ['[async.launch("note", {}) for i in range(70)]', "at most 64 calls"],
  ])("%s is refused", async (body, why) => {
    const rig = await run([...body.split("\n"), 'return "not reached"']);
    expect(rig.of("ToolResult").at(-1)).toMatchObject({ name: "main", outcome: "error" });
    expect(rig.results().at(-1)).toContain(why);
  });

  test("many that all depend on each other are looked through at once", async () => {
    const rig = await run([
      "ids = []",
      "for i in range(60):",
      '    ids.append(async.launch("note", {}, id="n%d" % i, depends_on=ids[:] + ["z"]))',
      'async.launch("note", {}, id="z")',
      'return len(async.wait_all(["n59"]))',
    ]);
    expect(rig.results().at(-1)).toBe("1");
  });

  test("wait_any gives the first and lets the others end; race cancels them", async () => {
    const both = ['async.launch("slow", {"text": "x"}, id="slow")', 'async.launch("note", {}, id="fast")'];
    const any = await run([...both, 'return async.wait_any(["slow", "fast"])["id"]']);
    expect(any.results().at(-1)).toBe("fast");
    expect(any.of("ToolResult").map(({ name, outcome }) => [name, outcome])).toContainEqual(["slow", "ok"]);
    const race = await run([...both, 'return async.race(["slow", "fast"])["id"]']);
    expect(race.results().at(-1)).toBe("fast");
    expect(race.of("ToolResult").map(({ name, outcome }) => [name, outcome])).toContainEqual(["slow", "cancelled"]);
  });

  test("what nobody waits for has ended before the call has, and its failure is told", async () => {
    const rig = await run([
      'async.launch("slow", {"text": "x"})',
      'async.launch("fail", {})',
      'async.launch("note", {}, depends_on=["never"])',
      'return "done"',
    ]);
    expect(order(rig).at(-1)).toBe("-main");
    expect(order(rig)).toContain("-slow");
    expect(rig.of("ScriptLogged").map(({ message }) => message)).toEqual([
      "task-2, which nobody waited for, failed",
      'task-3, which nobody waited for, failed: not run: "never", which it depends on, was never launched',
    ]);
  });

  test("each call is judged as any other", async () => {
    const rig = await run([
      'async.launch("fs.write", {"path": "x", "content": "y"}, id="w")',
      'return async.wait_all(["w"])[0]["is_error"]',
    ]);
    expect(rig.results().at(-1)).toBe("true");
    expect(rig.of("ToolResult")[0]).toMatchObject({ name: "fs.write", outcome: "denied" });
  });
});

describe("async: true", () => {
  const work = (isAsync: boolean) => [
    "  - name: work",
    "    description: Changes something, slowly.",
    `    async: ${isAsync}`,
    "    script: |",
    "      def run(args):",
    '          return exec.run("sleep", ["0.1"])["exit_code"]',
  ];
  const replies = [calls(["work", {}], ["note", {}], ["slow", { text: "x" }]), says("ok")];

  test.each([
    [true, ["+work", "+note", "+slow", "-note", "-slow", "-work"]],
    [false, ["+work", "-work", "+note", "+slow", "-note", "-slow"]],
  ])("%s: calls behind it wait or not, and the next step comes when all have ended", async (isAsync, expected) => {
    const files = project(['return ""'], work(isAsync));
    files["harness.md"] = files["harness.md"]!.replace("[main,", "[main, work,");
    const rig = await createProjectRig(files, replies, { settings });
    await rig.send();
    expect(order(rig)).toEqual(expected);
    expect(rig.of("ToolResult").every(({ outcome }) => outcome === "ok")).toBe(true);
    expect(rig.vendor.requests).toHaveLength(2);
  });
});
