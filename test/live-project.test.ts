/**
 * Files of a project change while a session runs: what they say holds from the next step on, whole or not at all. The edits are made
 * by a command of the turn itself, so that each falls exactly between two steps.
 */
import { describe, expect, test } from "vitest";
import type { Event, EventKind, EventPayload } from "#protocol";
import { calls, says } from "./fakes/harness-rig.ts";
import { createInProcessCli, type InProcessCli } from "./fakes/in-process-cli.ts";
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
  // In a sandbox a command could not edit the files of the project.
  const usual = ["-m", "scripted:./s.yaml", "--json", "--allow", "Bash", "--sandbox", "off"];
  const { code, out } = await cli.run("run", ...usual, ...flags, "go");
  const events: Event[] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  // Chosen by its kind.
  const of = <Kind extends EventKind>(kind: Kind) =>
    events.filter((event) => event.kind === kind).map(({ payload }) => payload as EventPayload<Kind>);
  const echoes = of("ToolResult").filter(({ name }) => name === "echo");
  return { code, of, echoes: echoes.map(({ outcome }) => outcome) };
}

function openProject(...edits: string[]): InProcessCli {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
  cli.put("harness.md", HARNESS);
  cli.put(".harness/tools/echo.md", ECHO);
  cli.put("s.yaml", playing(...edits));
  return cli;
}

describe("between two steps of one turn", () => {
  test("a one-line change of the policy takes a tool away, and another gives it back", async () => {
    const cli = openProject("sed -i s/nothing/echo/ harness.md", "sed -i s/echo/nothing/ harness.md");
    const { code, of, echoes } = await play(cli);
    expect({ code, echoes }).toEqual({ code: 0, echoes: ["ok", "denied", "ok"] });
    expect(of("CallJudged")).toMatchObject([{ name: "echo", judged: { by: "tools_policy", source: "harness.md:2" } }]);
    expect(of("ProjectChanged")).toMatchObject([
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
    const { echoes, of } = await play(cli);
    expect(echoes).toEqual(["ok", "denied", "ok"]);
    expect(of("ProjectChanged").map(({ files }) => files)).toEqual([
      [".harness/hooks/guard.md"],
      [".harness/hooks/guard.md"],
    ]);
    expect(of("HooksAsked")).toMatchObject([{ blocked: true, decisions: [{ source: ".harness/hooks/guard.md:1" }] }]);
  });

  test("a broken edit keeps the last good version in force and is told with its place; its repair is taken", async () => {
    const cli = openProject("cp broken.txt .harness/hooks/guard.md", "cp open.txt .harness/hooks/guard.md");
    cli.put(".harness/hooks/guard.md", HOOK);
    cli.put("broken.txt", HOOK.replace("(event, payload)", "(event payload)"));
    cli.put("open.txt", HOOK.replace('block("not now")', "allow()"));
    const { echoes, of } = await play(cli);
    expect(echoes).toEqual(["denied", "denied", "ok"]);
    expect(of("ProjectChanged")).toMatchObject([
      { in_force: false, problems: [expect.stringMatching(/^\.harness\/hooks\/guard\.md:6:\d+: /)] },
      { in_force: true, files: [".harness/hooks/guard.md"], problems: [] },
    ]);
  });

  test("of two files that change together, neither takes effect when one is broken", async () => {
    const cli = openProject(
      "sed -i s/nothing/echo/ harness.md && printf -- '---\\nevent: nonsense\\n---\\n' > .harness/hooks.md; mkdir -p .harness/hooks; mv .harness/hooks.md .harness/hooks/x.md",
    );
    const { echoes, of } = await play(cli);
    expect(echoes).toEqual(["ok", "ok"]);
    expect(of("ProjectChanged")).toMatchObject([{ in_force: false }]);
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

test("a hook that refuses every turn is gone with its file", async () => {
  const wall = HOOK.replace("tool.pre", "turn.start").replace(/when: .*\n/, "");
  const rig = await createProjectRig({ "harness.md": HARNESS, ".harness/hooks/wall.md": wall }, [says("hello")]);
  expect(await rig.send()).toMatchObject({ outcome: "error", reason: "HookBlocked" });
  rig.remove(".harness/hooks/wall.md");
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
});
