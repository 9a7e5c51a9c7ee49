/** `harness eval` as people use it: files in, a report and an exit code out. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Event } from "#protocol";
import { ackProject } from "../../test/fakes/ack-project.ts";
import {
  badCase,
  evalReport,
  goodCase,
  liveCase,
  openEvals,
  openStrangersEvals,
  scriptedCase,
} from "../../test/fakes/eval-rig.ts";

describe("a suite", () => {
  test("that passes is exit code 0, one that does not is 1, with the reason and the place", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01_good.yaml", goodCase);
    expect(await cli.run("eval")).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^✓ good \(smoke\) · scripted · 1 turn .*\n {4}✓ response_contains well: the response contains it\n/,
      ),
    });
    cli.put("evals/testdata/02_bad.yaml", badCase);
    const { code, out } = await cli.run("eval");
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ response_contains ill: the response does not contain it: "All is well\."\n {6}evals\/testdata\/02_bad\.yaml:\d+ · sess_\w+ event \d+\n/,
    );
    expect(out).toMatch(/\n1 passed, 1 failed of 2 · \$0\.0000 spent/);
  });

  test("is told in its order, whatever is done first", async () => {
    const cli = openEvals();
    const names = Array.from({ length: 12 }, (_, index) => `case-${String(index).padStart(2, "0")}`);
    for (const name of names) cli.put(`evals/testdata/${name}.yaml`, scriptedCase(name, ["{ type: no_errors }"]));
    const { cases, counts } = await evalReport(cli, "--jobs", "5");
    expect(cases.map(({ name }) => name)).toEqual(names);
    expect(counts).toEqual({ passed: 12, failed: 0, broken: 0, not_run: 0 });
  });

  test("is chosen by path, case and category; a slip is told", async () => {
    const cli = openEvals();
    cli.put("a/good.yaml", goodCase);
    cli.put("a/bad.yaml", badCase.replace("category: smoke", "category: hooks"));
    cli.put("b/other.yaml", scriptedCase("other", ["{ type: no_errors }"]));
    const names = async (...args: string[]): Promise<string[]> =>
      (await evalReport(cli, ...args)).cases.map(({ name }) => name);
    expect(await names("a", "b")).toEqual(["bad", "good", "other"]);
    expect(await names("a", "b", "--case", "good", "--case", "other")).toEqual(["good", "other"]);
    expect(await names("a", "b", "--category", "hooks")).toEqual(["bad"]);
    expect(await names("b/other.yaml")).toEqual(["other"]);
    expect(await cli.run("eval", "a", "--case", "god")).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no case "god". Did you mean "good"?'),
    });
    expect(await cli.run("eval")).toMatchObject({ code: 2, err: expect.stringContaining("there is no") });
    expect(await cli.run("eval", "nowhere")).toMatchObject({ code: 2 });
    expect(await cli.run("eval", "a", "--record", "--replay")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--record and --replay cannot be combined"),
    });
  });

  test("with an error in any file is not begun, and every problem is told with its line", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01_good.yaml", goodCase);
    cli.put("evals/testdata/02_bad.yaml", badCase.replace("response_contains", "response_contain"));
    cli.put("evals/testdata/03_twin.yaml", goodCase);
    const { code, out, err } = await cli.run("eval");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/evals\/testdata\/02_bad\.yaml:\d+:\d+: .* Did you mean "response_contains"\?/);
    expect(err).toContain('There is another case "good" in evals/testdata/01_good.yaml.');
    cli.put("evals/testdata/01_good.yml", scriptedCase("better", ["{ type: no_errors }"]));
    expect((await cli.run("eval")).err).toContain("evals/testdata/01_good.yaml would use the same cassette");
  });

  test("that names what is not there is refused before anything is run", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01.yaml", scriptedCase("names", ["{ type: tool_not_called, tool: fs.romove }"]));
    cli.put("evals/testdata/02.yaml", scriptedCase("hooks", ["{ type: hook_not_blocked, value: guard }"]));
    cli.put("evals/testdata/03.yaml", scriptedCase("events", ["{ type: event_emitted, event: TurnEnds }"]));
    const { code, err } = await cli.run("eval", "--dry-run");
    expect(code).toBe(2);
    expect(err).toContain('There is no tool "fs.romove" here. Did you mean "fs.remove"?');
    expect(err).toContain('There is no hook "guard" here.');
    expect(err).toContain('There is no event "TurnEnds" here. Did you mean "TurnEnded"?');
  });

  test("a wrong scenario is told at its line in the case", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01.yaml", goodCase.replace("- text: All is well.", "- txt: All is well."));
    const { code, err } = await cli.run("eval");
    expect(code).toBe(2);
    expect(err).toContain("ScenarioInvalid");
    expect(err).toContain("evals/testdata/01.yaml:11:");
  });

  test("--dry-run runs nothing and says how each case would be run", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01_good.yaml", goodCase);
    cli.put("evals/testdata/02_live.yaml", liveCase("live"));
    const { code, out } = await cli.run("eval", "--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("good · evals/testdata/01_good.yaml · 1 turn, 2 assertions · scripted\n");
    expect(out).toContain(
      "live · evals/testdata/02_live.yaml · 1 turn, 1 assertion · would not run: the case has no cassette",
    );
  });

  test("--repeat runs each case so often, and all have to pass", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01_good.yaml", goodCase);
    const { cases, passed } = await evalReport(cli, "--repeat", "3");
    expect(cases.map(({ name, run }) => `${name} ${run}`)).toEqual(["good 1", "good 2", "good 3"]);
    expect(new Set(cases.map(({ session }) => session)).size).toBe(3);
    expect(passed).toBe(true);
    expect(await cli.run("eval", "--repeat", "0")).toMatchObject({ code: 2 });
    expect(await cli.run("eval", "--repeat", "2", "--record")).toMatchObject({ code: 2 });
  });

  test.runIf(process.platform === "linux")(
    "is told where its report cannot be written, after what it found",
    async () => {
      const cli = openEvals();
      cli.put("evals/testdata/01_good.yaml", goodCase);
      expect(await cli.run("eval", "--junit", "/proc/nope/x.xml")).toMatchObject({
        code: 2,
        out: expect.stringContaining("1 passed of 1"),
        err: expect.stringContaining("cannot write /proc/nope/x.xml: ENOENT"),
      });
    },
  );

  test("as JUnit XML, and with its logs", async () => {
    const cli = openEvals();
    cli.put("evals/testdata/01_good.yaml", goodCase);
    cli.put("evals/testdata/02_bad.yaml", scriptedCase("bad", ['{ type: response_contains, value: "<&>" }']));
    cli.put("evals/testdata/03_live.yaml", liveCase("live"));
    expect(await cli.run("eval", "--junit", "out/junit.xml", "--logs", "out/logs")).toMatchObject({ code: 1 });
    const xml = readFileSync(join(cli.workspace, "out/junit.xml"), "utf8");
    expect(xml).toContain('<testsuites name="evals" tests="4" failures="1" errors="1"');
    expect(xml).toMatch(
      /<testcase name="response_contains &lt;&amp;&gt;" classname="bad" file="evals\/testdata\/02_bad\.yaml" line="\d+">/,
    );
    expect(xml).toMatch(/<failure type="response_contains" message="the response does not contain it/);
    expect(xml).toContain('<error type="not_run" message="the case has no cassette');
    const events = readFileSync(join(cli.workspace, "out/logs/good.jsonl"), "utf8").trimEnd().split("\n");
    expect(events.map((line) => (JSON.parse(line) as Event).kind)).toEqual(
      expect.arrayContaining(["SessionStarted", "TurnStarted", "TurnEnded", "SessionEnded"]),
    );
    expect(existsSync(join(cli.workspace, "out/logs/live.jsonl"))).toBe(false);
  });
});

describe("a case", () => {
  test("works in a folder of its own, which is gone afterwards, and touches nothing of the user", async () => {
    const cli = openEvals();
    cli.put("shared/notes.txt", "call Ada\n");
    const write =
      "- { tool: fs.write, args: { path: notes.txt, content: done } }\n- { tool: fs.write, args: { path: new.txt, content: done } }";
    const grade = [
      "{ type: file_contains, path: notes.txt, value: done }",
      "{ type: file_exists, path: kept/notes.txt }",
      "{ type: file_exists, path: new.txt }",
    ];
    const setup = "setup:\n  files:\n    notes.txt: before\n    kept: { from: ../../shared }";
    for (const name of ["one", "two"])
      cli.put(`evals/testdata/${name}.yaml`, scriptedCase(name, grade, write).replace("setup:", setup));
    await ackProject(cli);
    // Besides the log of the program.
    const files = () =>
      readdirSync(join(cli.workspace, ".."), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("/harness/log"))
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort();
    const before = files();
    // Its own, because other tests make such folders at the same time.
    vi.stubEnv("TMPDIR", mkdtempSync(join(tmpdir(), "harness-test-")));
    onTestFinished(() => {
      rmSync(tmpdir(), { recursive: true });
      vi.unstubAllEnvs();
    });
    expect(await evalReport(cli)).toMatchObject({ code: 0, counts: { passed: 2 } });
    expect(files()).toEqual(before);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("harness-eval-"))).toEqual([]);
  });

  test("may copy what is below it or the current folder, and nothing else", async () => {
    const cli = openEvals();
    const from = (path: string): string => goodCase.replace("setup:", `setup:\n  files:\n    x: { from: ${path} }`);
    cli.put("evals/testdata/01_good.yaml", from("/etc/hostname"));
    expect((await evalReport(cli)).cases).toMatchObject([
      { status: "broken", detail: expect.stringContaining("neither below the case nor below the current folder") },
    ]);
    cli.put("evals/testdata/01_good.yaml", from("../../../.."));
    expect((await evalReport(cli)).cases).toMatchObject([{ status: "broken" }]);
  });

  test("sees the tools that it names and no others", async () => {
    const cli = openEvals();
    const grade = ["{ type: tool_called, tool: fs.read }", "{ type: event_emitted, event: CallJudged }"];
    cli.put("evals/testdata/01.yaml", scriptedCase("closed", grade, "- { tool: fs.read, args: { path: x } }"));
    const { cases } = await evalReport(cli);
    expect(cases).toMatchObject([{ status: "passed" }]);
  });

  test("has nobody who could be asked: what no rule allows is denied", async () => {
    const cli = openEvals();
    const write = "- { tool: fs.write, args: { path: x, content: y } }";
    const denied = scriptedCase("denied", ["{ type: file_exists, path: x }", "{ type: no_errors }"], write).replace(
      "  allow: [Write]\n",
      "",
    );
    cli.put("evals/testdata/01.yaml", denied);
    const [one] = (await evalReport(cli)).cases;
    expect(one?.assertions).toMatchObject([
      { passed: false },
      { passed: false, reason: "fs.write ended with PermissionDenied" },
    ]);
    expect((await evalReport(cli, "--allow", "Write")).code).toBe(0);
    expect((await evalReport(cli, "--allow", "Write", "--deny", "Write")).code).toBe(1);
  });

  test("remembers its earlier turns", async () => {
    const cli = openEvals();
    cli.put(
      "evals/testdata/01.yaml",
      `name: two-turns
setup:
  scenario:
    name: memory
    rules:
      - when: { input: /^My name is (\\w+)/ }
        reply: [{ text: "Hello {{input.1}}." }]
    otherwise:
      - text: You said so before.
turns:
  - content: My name is Ada.
  - content: What is my name?
grade:
  - { type: response_contains, value: before }
  - { type: response_not_contains, value: Hello }
`,
    );
    expect((await evalReport(cli)).cases).toMatchObject([{ status: "passed", turns: 2 }]);
  });

  test("that hangs ends at its timeout and is broken, not passed", async () => {
    const cli = openEvals();
    const slow = scriptedCase(
      "slow",
      ["{ type: response_not_contains, value: x }"],
      "- pause_ms: 600000\n- text: late",
    );
    cli.put("evals/testdata/01.yaml", slow.replace("category: smoke", "timeout: 5s"));
    const running = evalReport(cli);
    await until(() => cli.clock.sleeping >= 2);
    await cli.clock.advance(5_000);
    expect((await running).cases).toMatchObject([{ status: "broken", detail: "turn 1 took longer than 5000 ms" }]);
  });

  test("whose model fails is broken: nothing was shown about the agent", async () => {
    const cli = openEvals();
    cli.put(
      "evals/testdata/01.yaml",
      scriptedCase("down", ["{ type: tool_not_called, tool: exec }"], "- { fault: unauthorized }"),
    );
    const { code, cases } = await evalReport(cli);
    expect(code).toBe(1);
    expect(cases).toMatchObject([{ status: "broken", detail: expect.stringContaining("ProviderUnauthorized") }]);
  });

  test("whose turn is ended by a hook is graded like any other", async () => {
    const cli = openEvals();
    const hook = `setup:
  hooks:
    - name: closed
      event: completion.pre
      script: |
        def handle(event, payload):
          return block("closed today")`;
    cli.put(
      "evals/testdata/01.yaml",
      scriptedCase("closed", ["{ type: hook_blocked, value: closed }"]).replace("setup:", hook),
    );
    expect((await evalReport(cli)).cases).toMatchObject([{ status: "passed" }]);
  });

  test("with a project runs the whole agent, when its files are acked", async () => {
    const cli = openStrangersEvals();
    cli.put("harness.md", "---\ntools_policy:\n  deny: [fs.remove]\n---\nYou are careful.\n");
    cli.put(
      "evals/testdata/01.yaml",
      `name: governed
setup:
  config: harness.md
  scenario:
    name: careful
    rules:
      - when: { step: 1 }
        reply: [{ tool: fs.remove, args: { path: x } }]
    otherwise:
      - text: I cannot delete files.
turns:
  - content: Delete it.
grade:
  - { type: tool_called, tool: fs.remove }
  - { type: event_emitted, event: CallJudged }
  - { type: response_contains, value: cannot }
`,
    );
    expect(await cli.run("eval")).toMatchObject({ code: 2, err: expect.stringContaining("NonInteractiveAckRefused") });
    await ackProject(cli);
    expect((await evalReport(cli)).cases).toMatchObject([{ status: "passed" }]);
    cli.put("evals/testdata/01.yaml", goodCase.replace("  tools: [fs.write, exec]\n", "  config: hraness.md\n"));
    await ackProject(cli);
    expect(await cli.run("eval")).toMatchObject({ code: 2, err: expect.stringContaining("there is no hraness.md") });
  });
});

test("delegates are part of the run: their events, their depth and what verifiers said", async () => {
  const cli = openEvals();
  cpSync(resolve(import.meta.dirname, "../../examples/caught"), cli.workspace, { recursive: true });
  await ackProject(cli);
  const put = (name: string, input: string, grade: readonly string[]): string =>
    cli.put(
      `evals/testdata/${name}.yaml`,
      `name: ${name}\nsetup:\n  config: harness.md\n  scenario: ../../model.yaml\nturns: [{ content: ${input} }]\ngrade:\n${grade.map((one) => `  - ${one}\n`).join("")}`,
    );
  const both = ["{ type: verified }", "{ type: verified, agent: builder }"];
  const depths = ["{ type: delegation_depth, value: 1 }", "{ type: delegation_depth, value: 0 }"];
  put("honest", "Build honest.txt", [
    ...both,
    ...depths,
    "{ type: tool_called, tool: fs.write }",
    "{ type: file_exists, path: honest.txt }",
    "{ type: event_emitted, event: DelegationEnded, payload: { status: ok } }",
  ]);
  put("lying", "Build never.txt", [...both, "{ type: no_errors }"]);
  const [honest, lying] = (await evalReport(cli)).cases;
  expect(honest?.assertions.map(({ label, passed }) => `${label} ${passed}`)).toEqual([
    "verified true",
    "verified builder true",
    "delegation_depth 1 true",
    "delegation_depth 0 false",
    "tool_called fs.write true",
    "file_exists honest.txt true",
    "event_emitted DelegationEnded true",
  ]);
  expect(lying?.assertions).toMatchObject([
    { passed: false, reason: expect.stringContaining("the verifiers did not accept the work of builder: ") },
    { passed: false },
    { passed: false, reason: expect.stringContaining("KindVerificationFailed") },
  ]);
  expect(await cli.run("eval", "--record", "--case", "lying")).toMatchObject({ code: 1 });
  expect((await evalReport(cli, "--replay", "--case", "lying")).cases).toMatchObject([
    { status: "failed", mode: "replay" },
  ]);
});

test("Ctrl-C reports what is done", async () => {
  const cli = openEvals();
  cli.put("evals/testdata/01_good.yaml", goodCase);
  cli.put("evals/testdata/02_slow.yaml", scriptedCase("slow", ["{ type: no_errors }"], "- pause_ms: 600000"));
  cli.put("evals/testdata/03_later.yaml", scriptedCase("later", ["{ type: no_errors }"]));
  const running = evalReport(cli, "--jobs", "1");
  await until(() => cli.clock.sleeping >= 2);
  cli.interrupt();
  const suite = await running;
  expect(suite).toMatchObject({ code: 130, stopped: "interrupted" });
  expect(suite.cases.map(({ name, status, detail }) => [name, status, detail])).toEqual([
    ["good", "passed", undefined],
    ["slow", "not_run", "it was interrupted"],
    ["later", "not_run", "it was interrupted"],
  ]);
});

/** Lets everything else run until something has happened. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setImmediate(resolve));
}

test("no report holds a secret of a case: not in the words of an assertion, not where they are cut, not in its name", async () => {
  const known = "plain-words-only-44";
  const token = "ghp_Zk3vQ9mX2pLr7TnB5yHd8WcJ4sFg6Ae1Ru0i";
  const cli = openEvals({ MY_SERVICE_TOKEN: known });
  const grade = [
    `{ type: response_contains, value: "wanted: ${token} and ${known}" }`,
    `{ type: response_not_contains, value: "${known}" }`,
  ];
  cli.put("evals/testdata/01.yaml", scriptedCase(`case-${known}`, grade, `- text: "use ${token}, ${known}"`));
  const shown = await cli.run("eval", "--junit", "evals.xml", "--logs", "logs");
  const json = await cli.run("eval", "--json");
  const plan = await cli.run("eval", "--dry-run");
  const logs = readdirSync(join(cli.workspace, "logs")).map(
    (name) => name + readFileSync(join(cli.workspace, "logs", name), "utf8"),
  );
  const texts = { shown, json, plan, junit: readFileSync(join(cli.workspace, "evals.xml"), "utf8"), logs };
  expect(shown).toMatchObject({ code: 1, out: expect.stringContaining("«redacted:github-pat»") });
  // The log holds a marker in its place: that it is not found there as it is says nothing.
  expect(shown.out).toContain("✗ response_not_contains");
  for (const [where, text] of Object.entries(texts)) {
    expect(JSON.stringify(text), where).not.toContain("plain-words");
    expect(JSON.stringify(text), where).not.toContain(token.slice(0, 12));
  }
});
