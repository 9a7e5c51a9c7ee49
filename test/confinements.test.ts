/** Where commands run in the whole program: chosen by who allowed them, shown in the question, kept in the receipt. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answered } from "./fakes/answered-turn.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const runs = (command: string, args = {}) => [calls(["exec", { command, ...args }]), says("done")];
const allow = (rule: string) => ({ permissions: [{ effect: "allow" as const, rule, source: "test" }] });
const confinements = (rig: HarnessRig) => rig.of("ToolIntent").map(({ allowed_by }) => allowed_by?.confinement);
const text = (rig: HarnessRig) => JSON.stringify(rig.of("ToolResult").at(-1)?.content);

describe.runIf(hasSandbox)("a command", () => {
  test("that nobody was asked about runs in the reader, and is told the way out when it fails", async () => {
    const rig = await createHarnessRig(runs("ls missing"));
    await rig.send();
    expect(confinements(rig)).toEqual(["reader"]);
    expect(text(rig)).toContain("call exec with ask: true to ask the user");
  });

  test("that a rule allows runs in the workspace confinement", async () => {
    const rig = await createHarnessRig(runs("touch made"), { settings: allow("Bash(touch *)") });
    await rig.send();
    expect(confinements(rig)).toEqual(["workspace"]);
    expect(existsSync(join(rig.workspace.root, "made"))).toBe(true);
  });

  test("that asks for a person is not quiet, and headless it is refused", async () => {
    const rig = await createHarnessRig(runs("ls", { ask: true }));
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
    const asked = await createHarnessRig(runs("ls", { ask: true }), { interactive: true });
    const [question] = await answered(asked, "allow_once");
    expect(question).toMatchObject({ confinement: "workspace", confinement_text: expect.stringContaining("sandbox") });
    expect(confinements(asked)).toEqual(["workspace"]);
  });

  test("runs outside only when a person allows that, once", async () => {
    const beside = "touch ../beside";
    for (const options of [{ settings: allow("Bash") }, { autoApprove: true }]) {
      const rig = await createHarnessRig(runs(beside, { outside: true }), options);
      await rig.send();
      expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
      expect(text(rig)).toContain('set sandbox = \\"off\\"');
      expect(existsSync(join(rig.workspace.outside, "beside"))).toBe(false);
    }
    const rig = await createHarnessRig([...runs(beside, { outside: true }), ...runs(beside, { outside: true })], {
      interactive: true,
    });
    const [first] = await answered(rig, "allow_tool");
    expect(first).toMatchObject({
      confinement: "outside",
      confinement_text: expect.stringContaining("OUTSIDE"),
      offers: ["allow_once", "deny"],
    });
    expect(confinements(rig)).toEqual(["outside"]);
    expect(existsSync(join(rig.workspace.outside, "beside"))).toBe(true);
    expect(await answered(rig, "deny")).toHaveLength(2);
  });

  test("of a project that says off is confined all the same", async () => {
    const rig = await createProjectRig({ "harness.md": "---\nsandbox: off\n---\n" }, runs("touch ../beside"), {
      settings: allow("Bash"),
    });
    await rig.send();
    expect(confinements(rig)).toEqual(["workspace"]);
    expect(rig.of("SandboxStatus")).toMatchObject([{ mode: "auto", active: true }]);
  });

  test("inside a script runs where the judge says, never wider", async () => {
    const tool =
      "---\ndescription: d\nclass: mutating\n---\n```starlark\ndef run(args):\n  return exec.run('touch', ['../beside', 'made']).exit_code\n```\n";
    const rig = await createProjectRig({ ".harness/tools/maker.md": tool }, [calls(["maker", {}]), says("done")], {
      settings: { permissions: [...allow("maker").permissions, ...allow("Bash(touch * *)").permissions] },
    });
    await rig.send();
    expect(existsSync(join(rig.workspace.outside, "beside"))).toBe(false);
  });

  test("cannot start a program that a rule denies, whatever leads to it", async () => {
    const permissions = [
      { effect: "allow" as const, rule: "Bash", source: "test" },
      { effect: "deny" as const, rule: "Bash(curl *)", source: "test" },
    ];
    const rig = await createHarnessRig(
      runs('python3 -c \'import os; os.execvp("cu" + "rl", ["curl", "--version"])\''),
      {
        settings: { permissions },
      },
    );
    await rig.send();
    expect(text(rig)).not.toContain("libcurl");
  });
});

describe("with the sandbox off", () => {
  test("nothing is quiet, and rules allow", async () => {
    const quiet = await createHarnessRig(runs("ls"), { settings: { sandbox: "off" } });
    await quiet.send();
    expect(quiet.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
    const ruled = await createHarnessRig(runs("ls"), { settings: { sandbox: "off", ...allow("Bash(ls)") } });
    await ruled.send();
    expect(confinements(ruled)).toEqual(["outside"]);
    expect(ruled.of("ToolResult")).toMatchObject([{ outcome: "ok", judged_on: { sandbox: "off" } }]);
  });
});
