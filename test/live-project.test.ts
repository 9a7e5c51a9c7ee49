/**
 * Files of a project change while a session runs: what they say holds from the next step on, whole or not at all. The edits are made
 * by a command of the turn itself, so that each falls exactly between two steps; in a sandbox it could not reach these files. At the
 * terminal sits somebody who acks each change when it is shown.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Event, EventKind, EventPayload } from "#protocol";
import { calls, says } from "./fakes/harness-rig.ts";
import { createInProcessCli, type InProcessCli } from "./fakes/in-process-cli.ts";
import { projectsUnder } from "./fakes/open-projects.ts";
import { createProjectRig } from "./fakes/project-rig.ts";

const HARNESS = "---\ntools_policy: { mode: denylist, deny: [nothing] }\n---\n\nBe brief.\n";
const ECHO =
  '---\nparameters: { text: { type: string } }\nscript: |\n  def run(args):\n      return args["text"]\n---\n\nSays it again.\n';
const HOOK =
  '---\nevent: tool.pre\npriority: 5\nwhen: payload["name"] == "echo"\nscript: |\n  def handle(event, payload):\n      return block("not now")\n---\n';

/** Calls echo, runs the edit, calls echo again, twice over when there is a second edit. */
function playing(...edits: string[]): string {
  const steps = ["echo", ...edits.flatMap((edit) => [edit, "echo"])];
  const rules = steps.map((step, index) => {
    const call =
      step === "echo"
        ? `{ tool: echo, args: { text: said ${index} } }`
        : `{ tool: exec, args: { command: ${JSON.stringify(step)} } }`;
    return `  - when: { step: ${index + 1} }\n    reply: [${call}]\n`;
  });
  return `name: live\nrules:\n${rules.join("")}otherwise: [{ text: done }]\n`;
}

async function play(cli: InProcessCli, ...flags: string[]) {
  const flagged = ["--store", "jsonl", "--allow", "Bash", "--sandbox", "off", ...flags];
  const threads = join(cli.workspace, ".harness/threads");
  const before = existsSync(threads) ? readdirSync(threads) : [];
  const { code } = await cli.run("run", "-m", "scripted:./s.yaml", ...flagged, "go");
  const [latest = ""] = readdirSync(threads).filter((name) => name.startsWith("sess_") && !before.includes(name));
  const events: Event[] = readFileSync(join(threads, latest, "events.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  // Chosen by its kind.
  const of = <Kind extends EventKind>(kind: Kind) =>
    events.filter((event) => event.kind === kind).map(({ payload }) => payload as EventPayload<Kind>);
  const echoes = of("ToolResult").filter(({ name }) => name === "echo");
  const changes = of("ProjectChanged").filter(
    ({ problems }) => !problems.some((text) => text.includes("needs your ack")),
  );
  return { code, of, changes, echoes: echoes.map(({ outcome }) => outcome) };
}

function openProject(...edits: string[]): InProcessCli {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" }, "a");
  cli.put("harness.md", HARNESS);
  cli.put(".harness/tools/echo.md", ECHO);
  cli.put("s.yaml", playing(...edits));
  return cli;
}

describe("between two steps of one turn", () => {
  test("a one-line change of the policy takes a tool away, and another gives it back", async () => {
    const cli = openProject("sed -i s/nothing/echo/ harness.md", "sed -i s/echo/nothing/ harness.md");
    const { code, of, echoes, changes } = await play(cli);
    expect({ code, echoes }).toEqual({ code: 0, echoes: ["ok", "denied", "ok"] });
    expect(of("CallJudged")).toMatchObject([{ name: "echo", judged: { by: "tools_policy", source: "harness.md:2" } }]);
    expect(changes).toMatchObject([
      { in_force: true, files: ["harness.md"], problems: [] },
      { in_force: true, files: ["harness.md"] },
    ]);
  });

  test("a new hook is in force, and one that was removed is gone", async () => {
    const cli = openProject(
      "mkdir -p .harness/hooks && cp hook.txt .harness/hooks/guard.md",
      "rm .harness/hooks/guard.md",
    );
    cli.put("hook.txt", HOOK);
    const { echoes, of, changes } = await play(cli);
    expect(echoes).toEqual(["ok", "denied", "ok"]);
    expect(changes.map(({ files }) => files)).toEqual([[".harness/hooks/guard.md"], [".harness/hooks/guard.md"]]);
    expect(of("HooksAsked")).toMatchObject([{ blocked: true, decisions: [{ source: ".harness/hooks/guard.md:1" }] }]);
  });

  test("a broken edit keeps the last good version in force and is told with its place; its repair is taken", async () => {
    const cli = openProject("cp broken.txt .harness/hooks/guard.md", "cp open.txt .harness/hooks/guard.md");
    cli.put(".harness/hooks/guard.md", HOOK);
    cli.put("broken.txt", HOOK.replace("(event, payload)", "(event payload)"));
    cli.put("open.txt", HOOK.replace('block("not now")', "allow()"));
    const { echoes, changes } = await play(cli);
    expect(echoes).toEqual(["denied", "denied", "ok"]);
    expect(changes).toMatchObject([
      { in_force: false, problems: [expect.stringMatching(/^\.harness\/hooks\/guard\.md:6:\d+: /)] },
      { in_force: true, files: [".harness/hooks/guard.md"], problems: [] },
    ]);
  });

  test("of two files that change together, neither takes effect when one is broken", async () => {
    const cli = openProject(
      "sed -i s/nothing/echo/ harness.md && printf -- '---\\nevent: nonsense\\n---\\n' > .harness/hooks.md; mkdir -p .harness/hooks; mv .harness/hooks.md .harness/hooks/x.md",
    );
    const { echoes, changes } = await play(cli);
    expect(echoes).toEqual(["ok", "ok"]);
    expect(changes).toMatchObject([{ in_force: false }]);
  });

  test("a changed script of a tool runs as it is written now", async () => {
    const cli = openProject('sed -i \'s/return args."text".$/return "new"/\' .harness/tools/echo.md');
    const { of } = await play(cli);
    const texts = of("ToolResult").filter(({ name }) => name === "echo");
    expect(texts.map(({ content }) => content)).toMatchObject([[{ text: "said 0" }], [{ text: "new" }]]);
  });
});

describe("the run context", () => {
  const PLUGIN =
    '---\ntype: plugin\ncondition: ctx.get("mode") == "review"\ntools:\n  - name: approve\n    description: Approves.\n    parameters: {}\n    script: |\n      def run(args):\n          return "approved"\n---\n\nYou review a change now.\n';
  const WHEN = HOOK.replace(
    'payload["name"] == "echo"',
    'payload["name"] == "echo" and ctx.get("env") == "production"',
  );

  test("--set switches a plugin and a when:", async () => {
    const cli = openProject();
    cli.put(".harness/plugins/review.md", PLUGIN);
    cli.put(".harness/hooks/guard.md", WHEN);
    expect((await play(cli)).echoes).toEqual(["ok"]);
    const set = await play(cli, "--set", "env=production");
    expect(set.echoes).toEqual(["denied"]);
    expect(set.of("ContextSet")).toEqual([{ values: { env: "production" } }]);
    const names = async (...flags: string[]) =>
      ((await cli.json("run", "--list-tools", ...flags)) as { name: string }[]).map(({ name }) => name);
    expect(await names()).not.toContain("approve");
    expect(await names("--set", "mode=review")).toContain("approve");
  });

  test("SetContext switches them in a running session, from the next step on", async () => {
    const rig = await createProjectRig(
      {
        "harness.md": HARNESS,
        ".harness/tools/echo.md": ECHO,
        ".harness/plugins/review.md": PLUGIN,
        ".harness/hooks/guard.md": WHEN,
      },
      [
        calls(["echo", { text: "a" }], ["approve", {}]),
        says("done"),
        calls(["echo", { text: "b" }], ["approve", {}]),
        says("done"),
        calls(["approve", {}]),
        says("done"),
      ],
    );
    const prompts = () => JSON.stringify(rig.vendor.requests.at(-1)?.body).includes("You review a change now.");
    await rig.send();
    expect(
      rig
        .of("ToolResult")
        .map(({ name, outcome }) => [name, outcome])
        .toSorted(),
    ).toEqual([
      ["approve", "error"],
      ["echo", "ok"],
    ]);
    expect(prompts()).toBe(false);
    await rig.submit({ kind: "SetContext", values: { mode: "review", env: "production" } });
    await rig.send();
    expect(
      rig
        .of("ToolResult")
        .slice(2)
        .map(({ name, outcome }) => [name, outcome])
        .toSorted(),
    ).toEqual([
      ["approve", "ok"],
      ["echo", "denied"],
    ]);
    expect(prompts()).toBe(true);
    // null takes a value away.
    await rig.submit({ kind: "SetContext", values: { mode: null } });
    await rig.send();
    expect(rig.of("ToolResult").at(-1)).toMatchObject({ name: "approve", outcome: "error" });
    expect(rig.of("ContextSet").at(-1)).toEqual({ values: { env: "production" } });
  });
});

test("a script sees what the program was started with", async () => {
  const cli = openProject();
  cli.put(".harness/tools/echo.md", ECHO.replace('args["text"]', "os.args()"));
  const { of } = await play(cli);
  const [block] = of("ToolResult")[0]?.content ?? [];
  const args = JSON.parse(block?.type === "text" ? block.text : "") as string[];
  expect([...args.slice(0, 4), args.at(-1)]).toEqual(["harness", "run", "-m", "scripted:./s.yaml", "go"]);
});

test("budgets hold as the file says now, raised or lowered", async () => {
  const edit = (from: number, to: number) => `sed -i 's/max_steps: ${from}/max_steps: ${to}/' harness.md`;
  for (const [edits, limit, echoes] of [
    [[edit(3, 5), "true", "true"], 5, 3],
    [[edit(3, 2), "true", "true"], 2, 1],
  ] as const) {
    const cli = openProject(...edits);
    cli.put("harness.md", "---\nbudgets: { turn: { max_steps: 3 } }\n---\n");
    const played = await play(cli);
    expect(played.of("BudgetLeft")).toMatchObject([{ budgets: [{ kind: "steps", used: limit, limit }] }]);
    expect(played.echoes).toHaveLength(echoes);
  }
});

describe("meta", () => {
  const MADE = [
    "meta.register_tool",
    { name: "made", description: "d", parameters: {}, script: "def run(args): return 1" },
  ];
  const ON = "---\nmeta: { enabled: true }\npermissions: { allow: ['meta.*', made] }\n---\n";

  test("that is switched off takes away what was registered, at the next step", async () => {
    const made = calls(["made", {}]);
    const rig = await createProjectRig({ "harness.md": ON }, [
      calls(MADE as [string, unknown]),
      made,
      says("done"),
      made,
      says("done"),
    ]);
    await rig.send();
    rig.write("harness.md", ON.replace("true", "false"));
    await rig.send();
    const outcomes = rig.of("ToolResult").map(({ name, outcome, reason }) => [name, outcome, reason]);
    expect(outcomes).toEqual([
      ["meta.register_tool", "ok", undefined],
      ["made", "ok", undefined],
      ["made", "error", "UnknownTool"],
    ]);
  });

  test("registers hooks that are asked before those of files, by their priority, and after those of the admin policy", async () => {
    const allow = "def handle(event, payload): return allow()";
    const inline = (name: string, priority: number) =>
      `  - name: ${name}\n    event: tool.pre\n    priority: ${priority}\n    script: |\n      ${allow}\n`;
    const register = (name: string, priority: number) =>
      calls(["meta.register_hook", { name, event: "tool.pre", script: allow, priority }]);
    const head = ON.replace(/---\n$/, `hooks:\n${inline("written5", 5)}${inline("written20", 20)}---\n`);
    const rig = await createProjectRig(
      { "harness.md": head, "policy.md": `---\nhooks:\n${inline("machine", 90)}---\n` },
      [register("registered20", 20), register("registered1", 1), calls(["fs_list", { path: "." }]), says("done")],
      { projects: projectsUnder("policy.md") },
    );
    await rig.send();
    const asked = rig
      .of("HooksAsked")
      .at(-1)
      ?.decisions.map(({ hook }) => hook);
    expect(asked).toEqual(["machine", "registered1", "registered20", "written5", "written20"]);
  });
});

test("a hook of the admin policy is asked again about what others have changed", async () => {
  const guard =
    '  - name: guard\n    event: tool.pre\n    priority: 0\n    script: |\n      def handle(event, payload):\n          if payload["args"].get("path") == "secret":\n              return block("not that")\n          return allow()\n';
  const changing =
    '  - name: changing\n    event: tool.pre\n    priority: 0\n    script: |\n      def handle(event, payload):\n          return modify(dict(payload, args={"path": "secret"}))\n';
  const rig = await createProjectRig(
    {
      "harness.md": HARNESS.replace("---\n\n", `hooks:\n${changing}---\n\n`),
      "policy.md": `---\nhooks:\n${guard}---\n`,
    },
    [calls(["fs_list", { path: "." }]), says("done")],
    { projects: projectsUnder("policy.md") },
  );
  await rig.send();
  expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
  expect(rig.of("HooksAsked").map(({ decisions }) => decisions.map(({ hook, action }) => `${hook} ${action}`))).toEqual(
    [["guard allow", "changing modify", "guard block"]],
  );
});

test("a hook that refuses every turn is gone with its file", async () => {
  const wall = HOOK.replace("tool.pre", "turn.start").replace(/when: .*\n/, "");
  const rig = await createProjectRig({ "harness.md": HARNESS, ".harness/hooks/wall.md": wall }, [says("hello")]);
  expect(await rig.send()).toMatchObject({ outcome: "error", reason: "HookBlocked" });
  rig.remove(".harness/hooks/wall.md");
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
});
