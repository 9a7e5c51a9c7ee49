/** `harness eval` on cases of somebody else: none runs before its owner has looked at it. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ackProject } from "../../test/fakes/ack-project.ts";
import { evalReport, goodCase, openStrangersEvals, scriptedCase } from "../../test/fakes/eval-rig.ts";

describe("a case that nobody has agreed to", () => {
  const bait = scriptedCase("bait", ["{ type: no_errors }"], '- { tool: exec, args: { command: "touch $HOME/taken" } }')
    .replace("allow: [Write]", "allow: [exec]")
    .replace("category: smoke\n", "");

  test("does not run; after an ack it does, until a byte of it is another", async () => {
    const cli = openStrangersEvals();
    cli.put("evals/testdata/01.yaml", bait.replace("touch $HOME/taken", "pwd"));
    const refused = await cli.run("eval");
    expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("NonInteractiveAckRefused") });
    expect(refused.err).toContain("new     evals/testdata/01.yaml");
    await ackProject(cli);
    expect((await evalReport(cli)).cases).toMatchObject([{ status: "passed" }]);
    cli.put("evals/testdata/01.yaml", bait);
    expect(await cli.run("eval")).toMatchObject({
      code: 2,
      err: expect.stringContaining("changed evals/testdata/01.yaml"),
    });
    expect(existsSync(join(cli.env.HOME ?? "", "taken"))).toBe(false);
  });

  test("may be looked at: --dry-run, and ack, which shows it", async () => {
    const cli = openStrangersEvals();
    cli.put("evals/testdata/01.yaml", bait);
    expect(await cli.run("eval", "--dry-run")).toMatchObject({ code: 0 });
    expect(await cli.run("ack")).toMatchObject({ code: 2, err: expect.stringContaining("evals/testdata/01.yaml") });
    const denied = openStrangersEvals({}, "d");
    denied.put("evals/testdata/01.yaml", bait);
    expect(await denied.run("eval")).toMatchObject({ code: 2, err: expect.stringContaining("AckDenied") });
    const accepted = openStrangersEvals({}, "a");
    accepted.put("evals/testdata/01.yaml", goodCase);
    const { code, err } = await accepted.run("eval");
    expect(code).toBe(0);
    expect(err).toContain("eval case: calls, rules and scripts that harness eval runs");
  });

  test("stands for its scenario as well, which lies in a file of its own", async () => {
    const cli = openStrangersEvals();
    const plays =
      "name: plays\nsetup: { scenario: plays.scenario }\nturns: [{ content: Hi }]\ngrade: [{ type: no_errors }]\n";
    cli.put("evals/testdata/01.yaml", plays);
    cli.put("evals/testdata/plays.scenario", "name: plays\nrules: []\notherwise: [{ text: Hello. }]\n");
    expect((await cli.run("eval")).err).toContain("new     evals/testdata/plays.scenario");
    const acking = openStrangersEvals({}, "a");
    acking.put("evals/testdata/01.yaml", plays);
    acking.put("evals/testdata/plays.scenario", "name: plays\nrules: []\notherwise: [{ text: Hello. }]\n");
    expect(await acking.run("eval")).toMatchObject({ code: 0 });
  });

  test("is replayed all the same, for a replay reaches nothing", async () => {
    const cli = openStrangersEvals();
    cli.put("evals/testdata/01.yaml", goodCase);
    await ackProject(cli);
    expect(await cli.run("eval", "--record")).toMatchObject({ code: 0 });
    cli.put("evals/testdata/01.yaml", `# by somebody else\n${goodCase}`);
    expect(await cli.run("eval")).toMatchObject({ code: 2 });
    expect(await cli.run("eval", "--replay")).toMatchObject({ code: 0 });
  });

  test("is what a lock file lists, and no other", async () => {
    const cli = openStrangersEvals();
    cli.put("harness.md", "---\nstrict_permissions: true\n---\nYou are careful.\n");
    cli.put("evals/testdata/01.yaml", goodCase);
    await ackProject(cli);
    expect(await cli.run("ack", "--emit-lockfile")).toMatchObject({ code: 0 });
    const lock = readFileSync(join(cli.workspace, "approved.lock"), "utf8");
    expect(lock).toContain('"evals/testdata/01.yaml"');
    const ci = openStrangersEvals();
    ci.put("harness.md", "---\nstrict_permissions: true\n---\nYou are careful.\n");
    ci.put("evals/testdata/01.yaml", goodCase);
    ci.put("approved.lock", lock);
    expect(await ci.run("verify-ack", "--lockfile", "approved.lock")).toMatchObject({ code: 0 });
    expect(await ci.run("eval", "--lockfile", "approved.lock")).toMatchObject({ code: 0 });
    ci.put("evals/testdata/02.yaml", bait);
    expect(await ci.run("eval", "--lockfile", "approved.lock")).toMatchObject({
      code: 2,
      err: expect.stringContaining("new     evals/testdata/02.yaml"),
    });
    expect(await ci.run("verify-ack", "--lockfile", "approved.lock")).toMatchObject({ code: 1 });
  });

  test("that is gone, or waits, holds up no session", async () => {
    const cli = openStrangersEvals();
    cli.put("harness.md", "---\nstrict_permissions: true\n---\nYou are careful.\n");
    cli.put("model.yml", "name: short\nrules: []\notherwise: [{ text: Done. }]\n");
    const file = cli.put("evals/testdata/01.yaml", goodCase);
    await ackProject(cli);
    rmSync(file);
    cli.put("evals/testdata/02.yaml", bait);
    expect(await cli.run("run", "-m", "scripted:model.yml", "Hello")).toMatchObject({ code: 0 });
  });
});
