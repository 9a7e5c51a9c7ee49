/** `harness eval` as people use it: files in, a report and an exit code out. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Event } from "#protocol";
import { ackProject } from "../../test/fakes/ack-project.ts";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";

interface Report {
  readonly passed: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly spent_usd: number;
  readonly stopped?: string;
  readonly cases: readonly {
    readonly name: string;
    readonly status: string;
    readonly mode?: string;
    readonly model?: string;
    readonly detail?: string;
    readonly run: number;
    readonly turns: number;
    readonly session?: string;
    readonly assertions: readonly { readonly label: string; readonly passed: boolean; readonly reason: string }[];
  }[];
}

/** Its owner has looked at every case that is run. */
function openCli(env: Readonly<Record<string, string>> = {}): InProcessCli {
  const cli = openStrangersCli(env);
  return {
    ...cli,
    async run(...args) {
      if (args[0] === "eval") await ackProject(cli);
      return cli.run(...args);
    },
  };
}

/** With `key`, somebody answers every question with it. */
function openStrangersCli(env: Readonly<Record<string, string>> = {}, key?: string): InProcessCli {
  return createInProcessCli({ PATH: process.env.PATH ?? "", ...env }, key);
}

async function report(cli: InProcessCli, ...args: string[]): Promise<Report & { readonly code: number }> {
  const { code, out, err } = await cli.run("eval", ...args, "--json");
  if (!out.startsWith("{")) throw new Error(err);
  return { code, ...(JSON.parse(out) as Report) };
}

/** A case that plays a scenario with one reply. */
function scripted(name: string, grade: readonly string[], reply = "- text: All is well."): string {
  return `name: ${name}
category: smoke
setup:
  tools: [fs.write, exec]
  allow: [Write]
  scenario:
    name: ${name}
    rules:
      - when: { step: 1 }
        reply:
          ${reply.replaceAll("\n", "\n          ")}
    otherwise:
      - text: All is well.
turns:
  - role: user
    content: Begin.
grade:
${grade.map((one) => `  - ${one}`).join("\n")}
`;
}

const good = scripted("good", ["{ type: response_contains, value: well }", "{ type: no_errors }"]);
const bad = scripted("bad", ["{ type: response_contains, value: ill }", "{ type: no_errors }"]);

describe("a suite", () => {
  test("that passes is exit code 0, one that does not is 1, with the reason and the place", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01_good.yaml", good);
    expect(await cli.run("eval")).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^✓ good \(smoke\) · scripted · 1 turn .*\n {4}✓ response_contains well: it is in the response\n/,
      ),
    });
    cli.put("evals/testdata/02_bad.yaml", bad);
    const { code, out } = await cli.run("eval");
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ response_contains ill: the response does not have it: "All is well\."\n {6}evals\/testdata\/02_bad\.yaml:\d+ · sess_\w+ event \d+\n/,
    );
    expect(out).toMatch(/\n1 passed, 1 failed of 2 · \$0\.0000 spent/);
  });

  test("is told in its order, whatever is done first", async () => {
    const cli = openCli();
    const names = Array.from({ length: 12 }, (_, index) => `case-${String(index).padStart(2, "0")}`);
    for (const name of names) cli.put(`evals/testdata/${name}.yaml`, scripted(name, ["{ type: no_errors }"]));
    const { cases, counts } = await report(cli, "--jobs", "5");
    expect(cases.map(({ name }) => name)).toEqual(names);
    expect(counts).toEqual({ passed: 12, failed: 0, broken: 0, not_run: 0 });
  });

  test("is chosen by path, case and category; a slip is told", async () => {
    const cli = openCli();
    cli.put("a/good.yaml", good);
    cli.put("a/bad.yaml", bad.replace("category: smoke", "category: hooks"));
    cli.put("b/other.yaml", scripted("other", ["{ type: no_errors }"]));
    const names = async (...args: string[]): Promise<string[]> =>
      (await report(cli, ...args)).cases.map(({ name }) => name);
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
      err: expect.stringContaining("--record and --replay exclude each other"),
    });
  });

  test("with an error in any file is not begun, and every problem is told with its line", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01_good.yaml", good);
    cli.put("evals/testdata/02_bad.yaml", bad.replace("response_contains", "response_contain"));
    cli.put("evals/testdata/03_twin.yaml", good);
    const { code, out, err } = await cli.run("eval");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/evals\/testdata\/02_bad\.yaml:\d+:\d+: .* Did you mean "response_contains"\?/);
    expect(err).toContain('There is another case "good" in evals/testdata/01_good.yaml.');
    cli.put("evals/testdata/01_good.yml", scripted("better", ["{ type: no_errors }"]));
    expect((await cli.run("eval")).err).toContain("evals/testdata/01_good.yaml would have the same cassette");
  });

  test("that names what is not there is refused before anything is run", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01.yaml", scripted("names", ["{ type: tool_not_called, tool: fs.romove }"]));
    cli.put("evals/testdata/02.yaml", scripted("hooks", ["{ type: hook_not_blocked, value: guard }"]));
    cli.put("evals/testdata/03.yaml", scripted("events", ["{ type: event_emitted, event: TurnEnds }"]));
    const { code, err } = await cli.run("eval", "--dry-run");
    expect(code).toBe(2);
    expect(err).toContain('There is no tool "fs.romove" here. Did you mean "fs.remove"?');
    expect(err).toContain('There is no hook "guard" here.');
    expect(err).toContain('There is no event "TurnEnds" here. Did you mean "TurnEnded"?');
  });

  test("a wrong scenario is told at its line in the case", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01.yaml", good.replace("- text: All is well.", "- txt: All is well."));
    const { code, err } = await cli.run("eval");
    expect(code).toBe(2);
    expect(err).toContain("ScenarioInvalid");
    expect(err).toContain("evals/testdata/01.yaml:11:");
  });

  test("--dry-run runs nothing and says how each case would be run", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01_good.yaml", good);
    cli.put("evals/testdata/02_live.yaml", live("live"));
    const { code, out } = await cli.run("eval", "--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("good · evals/testdata/01_good.yaml · 1 turn, 2 assertions · scripted\n");
    expect(out).toContain("live · evals/testdata/02_live.yaml · 1 turn, 1 assertion · would not run: there is neither");
  });

  test("--repeat runs each case so often, and all have to pass", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01_good.yaml", good);
    const { cases, passed } = await report(cli, "--repeat", "3");
    expect(cases.map(({ name, run }) => `${name} ${run}`)).toEqual(["good 1", "good 2", "good 3"]);
    expect(new Set(cases.map(({ session }) => session)).size).toBe(3);
    expect(passed).toBe(true);
    expect(await cli.run("eval", "--repeat", "0")).toMatchObject({ code: 2 });
    expect(await cli.run("eval", "--repeat", "2", "--record")).toMatchObject({ code: 2 });
  });

  test("as JUnit XML, and with its logs", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01_good.yaml", good);
    cli.put("evals/testdata/02_bad.yaml", scripted("bad", ['{ type: response_contains, value: "<&>" }']));
    cli.put("evals/testdata/03_live.yaml", live("live"));
    expect(await cli.run("eval", "--junit", "out/junit.xml", "--logs", "out/logs")).toMatchObject({ code: 1 });
    const xml = readFileSync(join(cli.workspace, "out/junit.xml"), "utf8");
    expect(xml).toContain('<testsuites name="evals" tests="4" failures="1" errors="1"');
    expect(xml).toMatch(
      /<testcase name="response_contains &lt;&amp;&gt;" classname="bad" file="evals\/testdata\/02_bad\.yaml" line="\d+">/,
    );
    expect(xml).toMatch(/<failure type="response_contains" message="the response does not have it/);
    expect(xml).toContain('<error type="not_run" message="there is neither');
    const events = readFileSync(join(cli.workspace, "out/logs/good.jsonl"), "utf8").trimEnd().split("\n");
    expect(events.map((line) => (JSON.parse(line) as Event).kind)).toEqual(
      expect.arrayContaining(["SessionStarted", "TurnStarted", "TurnEnded", "SessionEnded"]),
    );
    expect(existsSync(join(cli.workspace, "out/logs/live.jsonl"))).toBe(false);
  });
});

describe("a case", () => {
  test("works in a folder of its own, which is gone afterwards, and touches nothing of the user", async () => {
    const cli = openCli();
    cli.put("shared/notes.txt", "call Ada\n");
    const write =
      "- { tool: fs.write, args: { path: notes.txt, content: done } }\n- { tool: fs.write, args: { path: new.txt, content: done } }";
    const grade = [
      "{ type: file_contains, path: notes.txt, value: done }",
      "{ type: file_exists, path: kept/notes.txt }",
      "{ type: file_exists, path: new.txt }",
    ];
    const files = "setup:\n  files:\n    notes.txt: before\n    kept: { from: ../../shared }";
    for (const name of ["one", "two"])
      cli.put(`evals/testdata/${name}.yaml`, scripted(name, grade, write).replace("setup:", files));
    await ackProject(cli);
    const before = readdirSync(join(cli.workspace, ".."), { recursive: true }).sort();
    const scratch = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("harness-eval-"));
    const known = new Set(scratch());
    expect(await report(cli)).toMatchObject({ code: 0, counts: { passed: 2 } });
    expect(readdirSync(join(cli.workspace, ".."), { recursive: true }).sort()).toEqual(before);
    expect(scratch().filter((name) => !known.has(name))).toEqual([]);
  });

  test("may copy what is below it or the current folder, and nothing else", async () => {
    const cli = openCli();
    const from = (path: string): string => good.replace("setup:", `setup:\n  files:\n    x: { from: ${path} }`);
    cli.put("evals/testdata/01_good.yaml", from("/etc/hostname"));
    expect((await report(cli)).cases).toMatchObject([
      { status: "broken", detail: expect.stringContaining("neither below the case nor below the current folder") },
    ]);
    cli.put("evals/testdata/01_good.yaml", from("../../../.."));
    expect((await report(cli)).cases).toMatchObject([{ status: "broken" }]);
  });

  test("sees the tools that it names and no others", async () => {
    const cli = openCli();
    const grade = ["{ type: tool_called, tool: fs.read }", "{ type: event_emitted, event: CallJudged }"];
    cli.put("evals/testdata/01.yaml", scripted("closed", grade, "- { tool: fs.read, args: { path: x } }"));
    const { cases } = await report(cli);
    expect(cases).toMatchObject([{ status: "passed" }]);
  });

  test("has nobody who could be asked: what no rule allows is denied", async () => {
    const cli = openCli();
    const write = "- { tool: fs.write, args: { path: x, content: y } }";
    const denied = scripted("denied", ["{ type: file_exists, path: x }", "{ type: no_errors }"], write).replace(
      "  allow: [Write]\n",
      "",
    );
    cli.put("evals/testdata/01.yaml", denied);
    const [one] = (await report(cli)).cases;
    expect(one?.assertions).toMatchObject([
      { passed: false },
      { passed: false, reason: "fs.write ended with PermissionDenied" },
    ]);
    expect((await report(cli, "--allow", "Write")).code).toBe(0);
    expect((await report(cli, "--allow", "Write", "--deny", "Write")).code).toBe(1);
  });

  test("remembers its earlier turns", async () => {
    const cli = openCli();
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
    expect((await report(cli)).cases).toMatchObject([{ status: "passed", turns: 2 }]);
  });

  test("that hangs ends at its timeout and is broken, not passed", async () => {
    const cli = openCli();
    const slow = scripted("slow", ["{ type: response_not_contains, value: x }"], "- pause_ms: 600000\n- text: late");
    cli.put("evals/testdata/01.yaml", slow.replace("category: smoke", "timeout: 5s"));
    const running = report(cli);
    await until(() => cli.clock.sleeping >= 2);
    await cli.clock.advance(5_000);
    expect((await running).cases).toMatchObject([{ status: "broken", detail: "turn 1 took longer than 5000 ms" }]);
  });

  test("whose model fails is broken: nothing was shown about the agent", async () => {
    const cli = openCli();
    cli.put(
      "evals/testdata/01.yaml",
      scripted("down", ["{ type: tool_not_called, tool: exec }"], "- { fault: unauthorized }"),
    );
    const { code, cases } = await report(cli);
    expect(code).toBe(1);
    expect(cases).toMatchObject([{ status: "broken", detail: expect.stringContaining("ProviderUnauthorized") }]);
  });

  test("whose turn is ended by a hook is graded like any other", async () => {
    const cli = openCli();
    const hook = `setup:
  hooks:
    - name: closed
      event: completion.pre
      script: |
        def handle(event, payload):
          return block("closed today")`;
    cli.put(
      "evals/testdata/01.yaml",
      scripted("closed", ["{ type: hook_blocked, value: closed }"]).replace("setup:", hook),
    );
    expect((await report(cli)).cases).toMatchObject([{ status: "passed" }]);
  });

  test("with a project runs the whole agent, when its files are acked", async () => {
    const cli = openStrangersCli();
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
    expect((await report(cli)).cases).toMatchObject([{ status: "passed" }]);
    cli.put("evals/testdata/01.yaml", good.replace("  tools: [fs.write, exec]\n", "  config: hraness.md\n"));
    await ackProject(cli);
    expect(await cli.run("eval")).toMatchObject({ code: 2, err: expect.stringContaining("there is no hraness.md") });
  });
});

test("delegates are part of the run: their events, their depth and what verifiers said", async () => {
  const cli = openCli();
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
  const [honest, lying] = (await report(cli)).cases;
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
    { passed: false, reason: expect.stringContaining("what builder claimed was not accepted: ") },
    { passed: false },
    { passed: false, reason: expect.stringContaining("KindVerificationFailed") },
  ]);
  expect(await cli.run("eval", "--record", "--case", "lying")).toMatchObject({ code: 1 });
  expect((await report(cli, "--replay", "--case", "lying")).cases).toMatchObject([
    { status: "failed", mode: "replay" },
  ]);
});

function live(name: string, grade = "{ type: response_contains, value: Hello }"): string {
  return `name: ${name}
model: gpt-4o-mini
max_tokens: 77
setup:
  system_prompt: Be brief.
turns:
  - content: Say hello.
grade:
  - ${grade}
`;
}

async function startModel(text = "Hello."): Promise<{ vendor: MockProviderServer; env: Record<string, string> }> {
  const usage = { input: 100_000, output: 10_000 };
  const vendor = await startMockProvider({ always: { type: "message", blocks: [{ type: "text", text }], usage } });
  onTestFinished(() => vendor.close());
  return { vendor, env: { OPENAI_API_KEY: "sk-test-key-0123456789abcdef", OPENAI_BASE_URL: `${vendor.url}/v1` } };
}

describe("a model", () => {
  test("is asked where its key is, with the cap of the case, and costs what it costs", async () => {
    const { vendor, env } = await startModel();
    const cli = openCli(env);
    cli.put("evals/testdata/01.yaml", live("hello", "{ type: cost_under, value: 0.03 }"));
    expect(await report(cli)).toMatchObject({
      code: 0,
      spent_usd: expect.closeTo(0.021),
      cases: [{ mode: "live", model: "openai:gpt-4o-mini" }],
    });
    expect(vendor.requests).toMatchObject([{ body: { model: "gpt-4o-mini", max_completion_tokens: 77 } }]);
    await report(cli, "--model", "openai:gpt-4o");
    expect(vendor.requests.at(-1)).toMatchObject({ body: { model: "gpt-4o" } });
  });

  test("is recorded once and replayed without a key, without a connection, the same every time", async () => {
    const { vendor, env } = await startModel();
    const there = openCli(env);
    there.put("evals/testdata/01.yaml", live("hello"));
    expect(await report(there, "--record")).toMatchObject({ code: 0, cases: [{ mode: "record" }] });
    const cassette = readFileSync(join(there.workspace, "evals/testdata/01.cassette"), "utf8");
    expect(cassette).not.toContain("sk-test-key");
    const asked = vendor.requests.length;

    const here = openCli();
    here.put("suite/01.yaml", live("hello"));
    here.put("suite/01.cassette", cassette);
    const logs: string[] = [];
    for (const run of ["a", "b"]) {
      expect(await report(here, "suite", "--logs", run)).toMatchObject({
        code: 0,
        spent_usd: 0,
        cases: [{ mode: "replay", model: "openai:gpt-4o-mini", status: "passed" }],
      });
      logs.push(readFileSync(join(here.workspace, run, "hello.jsonl"), "utf8"));
    }
    expect(logs[0]).toBe(logs[1]);
    expect(vendor.requests).toHaveLength(asked);
    // In CI the key is not used, even where there is one.
    const ci = openCli({ ...env, CI: "true" });
    ci.put("suite/01.yaml", live("hello"));
    ci.put("suite/01.cassette", cassette);
    expect((await report(ci, "suite")).cases).toMatchObject([{ mode: "replay" }]);
    expect(vendor.requests).toHaveLength(asked);
    expect((await report(ci, "suite", "--live")).cases).toMatchObject([{ mode: "live" }]);
    expect(vendor.requests).toHaveLength(asked + 1);
  });

  test("a case that changed since it was recorded is broken, with the first difference", async () => {
    const { env } = await startModel();
    const cli = openCli(env);
    cli.put("evals/testdata/01.yaml", live("hello"));
    await report(cli, "--record");
    cli.put("evals/testdata/01.yaml", live("hello").replace("Be brief.", "Be very brief."));
    const { code, cases } = await report(cli, "--replay");
    expect(code).toBe(1);
    expect(cases).toMatchObject([{ status: "broken", detail: expect.stringMatching(/CassetteMismatch.*system/s) }]);
  });

  test("what a user configured on this machine holds where things really happen, and not in a replay", async () => {
    const cli = openCli();
    const write = "- { tool: fs.write, args: { path: x, content: y } }";
    cli.put("evals/testdata/01.yaml", scripted("writes", ["{ type: file_exists, path: x }"], write));
    expect((await report(cli, "--record")).code).toBe(0);
    cli.put("../.config/harness/config.toml", 'system_prompt = "Be odd."\n[permissions]\ndeny = ["Write"]\n');
    expect((await report(cli)).cases).toMatchObject([{ status: "failed", mode: "scripted" }]);
    expect((await report(cli, "--replay")).cases).toMatchObject([{ status: "passed", mode: "replay" }]);
  });

  test("a recording that failed leaves the cassette that was there", async () => {
    const { env } = await startModel();
    const cli = openCli(env);
    cli.put("evals/testdata/01.yaml", live("hello"));
    await report(cli, "--record");
    const cassette = join(cli.workspace, "evals/testdata/01.cassette");
    const before = readFileSync(cassette, "utf8");
    const refusing = await startMockProvider({ always: { type: "http", status: 401, headers: {}, body: "{}" } });
    onTestFinished(() => refusing.close());
    const broken = openCli({ ...env, OPENAI_BASE_URL: `${refusing.url}/v1` });
    broken.put("evals/testdata/01.yaml", live("hello"));
    broken.put("evals/testdata/01.cassette", before);
    expect((await report(broken, "--record")).cases).toMatchObject([{ status: "broken" }]);
    expect(readFileSync(join(broken.workspace, "evals/testdata/01.cassette"), "utf8")).toBe(before);
  });

  test("without a key, a cassette and a scenario the case is not run, and that is no success", async () => {
    const cli = openCli();
    cli.put("evals/testdata/01.yaml", live("hello"));
    expect(await report(cli)).toMatchObject({
      code: 1,
      passed: false,
      cases: [
        { status: "not_run", detail: expect.stringContaining("neither a cassette, nor a scenario, nor the key") },
      ],
    });
    cli.put("evals/testdata/01.yaml", live("hello").replace("gpt-4o-mini", "openia:gpt-4o-mini"));
    expect(await cli.run("eval")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean 'openai:gpt-4o-mini'?"),
    });
  });

  test("a budget stops the suite at most one call too late; what was not run is told", async () => {
    const { vendor, env } = await startModel();
    const cli = openCli(env);
    for (let index = 0; index < 12; index++) cli.put(`evals/testdata/${index}.yaml`, live(`hello-${index}`));
    const suite = await report(cli, "--budget", "0.05", "--jobs", "6");
    // Each call costs $0.021: the third crosses.
    expect(vendor.requests).toHaveLength(3);
    expect(suite).toMatchObject({
      code: 1,
      counts: { passed: 3, not_run: 9 },
      spent_usd: expect.closeTo(0.063),
      stopped: "the budget is used up: $0.0630 of $0.05",
    });
  });

  test("whose price nobody knows cannot be held to a budget", async () => {
    const { vendor, env } = await startModel();
    const cli = openCli(env);
    for (const name of ["a", "b"])
      cli.put(`evals/testdata/${name}.yaml`, live(name).replace("gpt-4o-mini", "openai:mystery"));
    expect(await report(cli, "--budget", "1")).toMatchObject({
      code: 1,
      stopped: expect.stringContaining("no price is known for openai:mystery"),
    });
    expect(vendor.requests).toHaveLength(1);
  });
});

test("Ctrl-C reports what is done", async () => {
  const cli = openCli();
  cli.put("evals/testdata/01_good.yaml", good);
  cli.put("evals/testdata/02_slow.yaml", scripted("slow", ["{ type: no_errors }"], "- pause_ms: 600000"));
  cli.put("evals/testdata/03_later.yaml", scripted("later", ["{ type: no_errors }"]));
  const running = report(cli, "--jobs", "1");
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

describe("a case that nobody has agreed to", () => {
  const bait = scripted("bait", ["{ type: no_errors }"], '- { tool: exec, args: { command: "touch $HOME/taken" } }')
    .replace("allow: [Write]", "allow: [exec]")
    .replace("category: smoke\n", "");

  test("does not run; after an ack it does, until a byte of it is another", async () => {
    const cli = openStrangersCli();
    cli.put("evals/testdata/01.yaml", bait.replace("touch $HOME/taken", "pwd"));
    const refused = await cli.run("eval");
    expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("NonInteractiveAckRefused") });
    expect(refused.err).toContain("new     evals/testdata/01.yaml");
    await ackProject(cli);
    expect((await report(cli)).cases).toMatchObject([{ status: "passed" }]);
    cli.put("evals/testdata/01.yaml", bait);
    expect(await cli.run("eval")).toMatchObject({
      code: 2,
      err: expect.stringContaining("changed evals/testdata/01.yaml"),
    });
    expect(existsSync(join(cli.env.HOME ?? "", "taken"))).toBe(false);
  });

  test("may be looked at: --dry-run, and ack, which shows it", async () => {
    const cli = openStrangersCli();
    cli.put("evals/testdata/01.yaml", bait);
    expect(await cli.run("eval", "--dry-run")).toMatchObject({ code: 0 });
    expect(await cli.run("ack")).toMatchObject({ code: 2, err: expect.stringContaining("evals/testdata/01.yaml") });
    const denied = openStrangersCli({}, "d");
    denied.put("evals/testdata/01.yaml", bait);
    expect(await denied.run("eval")).toMatchObject({ code: 2, err: expect.stringContaining("AckDenied") });
    const accepted = openStrangersCli({}, "a");
    accepted.put("evals/testdata/01.yaml", good);
    const { code, err } = await accepted.run("eval");
    expect(code).toBe(0);
    expect(err).toContain("eval case: calls, rules and scripts that harness eval runs");
  });

  test("stands for its scenario as well, which lies in a file of its own", async () => {
    const cli = openStrangersCli();
    const plays =
      "name: plays\nsetup: { scenario: plays.scenario }\nturns: [{ content: Hi }]\ngrade: [{ type: no_errors }]\n";
    cli.put("evals/testdata/01.yaml", plays);
    cli.put("evals/testdata/plays.scenario", "name: plays\nrules: []\notherwise: [{ text: Hello. }]\n");
    expect((await cli.run("eval")).err).toContain("new     evals/testdata/plays.scenario");
    const acking = openStrangersCli({}, "a");
    acking.put("evals/testdata/01.yaml", plays);
    acking.put("evals/testdata/plays.scenario", "name: plays\nrules: []\notherwise: [{ text: Hello. }]\n");
    expect(await acking.run("eval")).toMatchObject({ code: 0 });
  });

  test("is replayed all the same, for a replay reaches nothing", async () => {
    const cli = openStrangersCli();
    cli.put("evals/testdata/01.yaml", good);
    await ackProject(cli);
    expect(await cli.run("eval", "--record")).toMatchObject({ code: 0 });
    cli.put("evals/testdata/01.yaml", `# by somebody else\n${good}`);
    expect(await cli.run("eval")).toMatchObject({ code: 2 });
    expect(await cli.run("eval", "--replay")).toMatchObject({ code: 0 });
  });

  test("is what a lock file lists, and no other", async () => {
    const cli = openStrangersCli();
    cli.put("harness.md", "---\nstrict_permissions: true\n---\nYou are careful.\n");
    cli.put("evals/testdata/01.yaml", good);
    await ackProject(cli);
    expect(await cli.run("ack", "--emit-lockfile")).toMatchObject({ code: 0 });
    const lock = readFileSync(join(cli.workspace, "approved.lock"), "utf8");
    expect(lock).toContain('"evals/testdata/01.yaml"');
    const ci = openStrangersCli();
    ci.put("harness.md", "---\nstrict_permissions: true\n---\nYou are careful.\n");
    ci.put("evals/testdata/01.yaml", good);
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
    const cli = openStrangersCli();
    cli.put("harness.md", "---\nstrict_permissions: true\n---\nYou are careful.\n");
    cli.put("model.yml", "name: short\nrules: []\notherwise: [{ text: Done. }]\n");
    const file = cli.put("evals/testdata/01.yaml", good);
    await ackProject(cli);
    rmSync(file);
    cli.put("evals/testdata/02.yaml", bait);
    expect(await cli.run("run", "-m", "scripted:model.yml", "Hello")).toMatchObject({ code: 0 });
  });
});

test("no report holds a secret of a case: not in the words of an assertion, not where they are cut, not in its name", async () => {
  const known = "plain-words-only-44";
  const token = "ghp_Zk3vQ9mX2pLr7TnB5yHd8WcJ4sFg6Ae1Ru0i";
  const cli = openCli({ MY_SERVICE_TOKEN: known });
  const grade = [
    `{ type: response_contains, value: "wanted: ${token} and ${known}" }`,
    `{ type: response_not_contains, value: "${known}" }`,
  ];
  cli.put("evals/testdata/01.yaml", scripted(`case-${known}`, grade, `- text: "use ${token}, ${known}"`));
  const shown = await cli.run("eval", "--junit", "evals.xml", "--logs", "logs");
  const json = await cli.run("eval", "--json");
  const plan = await cli.run("eval", "--dry-run");
  const logs = readdirSync(join(cli.workspace, "logs")).map(
    (name) => name + readFileSync(join(cli.workspace, "logs", name), "utf8"),
  );
  const texts = { shown, json, plan, junit: readFileSync(join(cli.workspace, "evals.xml"), "utf8"), logs };
  expect(shown).toMatchObject({ code: 1, out: expect.stringContaining("«redacted:github-pat»") });
  for (const [where, text] of Object.entries(texts)) {
    expect(JSON.stringify(text), where).not.toContain("plain-words");
    expect(JSON.stringify(text), where).not.toContain(token.slice(0, 12));
  }
});
