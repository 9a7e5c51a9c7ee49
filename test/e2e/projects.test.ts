/** Projects from the command line as users work with them: real files, real processes, exit codes, both outputs. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, finish, openCliTerminal, runCli, startCli } from "../fakes/cli-process.ts";

let home: CliHome;
beforeEach(() => {
  home = createCliHome();
});

const GREET = `---
parameters:
  name: { type: string, required: true, description: Who to greet }
timeout_ms: 5000
script: |
  def run(args):
      return {"greeting": "Hello, " + args["name"] + "!"}
---

# greet

Greet somebody by name. Use it when they introduce themselves.
`;

const AUDIT = `---
event: tool.pre
priority: 1
script: |
  def handle(event, payload):
      log("tool.pre " + payload["name"])
      return allow()
---
`;

/** Lines of a running process, one at a time. */
function linesOf(child: ChildProcessWithoutNullStreams): () => Promise<string> {
  const lines = child.stdout.setEncoding("utf8").iterator() as AsyncIterator<string>;
  let rest = "";
  return async () => {
    for (;;) {
      const end = rest.indexOf("\n");
      if (end >= 0) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        return line;
      }
      const { done, value } = await lines.next();
      if (done === true) throw new Error(`the program ended in the middle of a line: ${rest}`);
      rest += value;
    }
  };
}

describe("from nothing to a running project", () => {
  test("init, a tool and a hook of one's own, validate, a turn, offline", async () => {
    expect(await callCli(home, ["init", "."])).toMatchObject({ code: 0 });
    home.put(".harness/tools/greet.md", GREET);
    home.put(".harness/hooks/audit.md", AUDIT);
    const { code, out } = await callCli(home, ["validate", "--config", "harness.md"]);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^✅ harness\.md valid\n {3}5 tools, 3 hooks, 0 agents \(\d+ ms\)\n$/),
    });
    const tools = await callCli(home, ["tools"]);
    await ackProject(home);
    expect(tools.out).toMatch(/^greet +yes +\.harness\/tools\/greet\.md:\d+ +name +Greet somebody by name\.$/m);
    expect(
      await callCli(home, ["run", "--config", "harness.md", "-m", "scripted:offline", "--stream", "hello"]),
    ).toMatchObject({
      code: 0,
      out: expect.stringContaining("offline"),
    });
  });

  test("scaffold, then everything in the new folder", async () => {
    expect(await callCli(home, ["scaffold", "my-agent"])).toMatchObject({ code: 0 });
    const there = { ...home, workspace: join(home.workspace, "my-agent") };
    expect(await callCli(there, ["validate"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("2 tools, 1 hook,"),
    });
    expect(await callCli(there, ["run", "-m", "scripted:offline", "hello"])).toMatchObject({ code: 0 });
  });
});

describe("validate", () => {
  test("knows the providers", async () => {
    home.put("harness.md", "---\nmodel: { provider: opnai, name: x }\n---\n");
    const { code, out } = await callCli(home, ["validate"]);
    expect(code).toBe(1);
    expect(out).toMatch(/model\.provider: there is no provider "opnai"\..*did you mean "openai"\?/s);
    home.put("harness.md", "---\nmodel: { provider: scripted, name: offline }\n---\n");
    expect(await callCli(home, ["validate"])).toMatchObject({ code: 0 });
  });

  test("tells every problem of every file with its place, errors first, and exits with 1", async () => {
    home.put("harness.md", "---\nmodel: { provider: openai, name: x, temperature: 9 }\ntols_policy: {}\n---\n");
    home.put(".harness/hooks/a.md", "---\nevent: tool.prex\npriority: 1\n---\n");
    home.put(".harness/tools/b.md", "---\ntimeot_ms: 5\nscript: |\n  def run(args):\n      return 1\n---\n\nB.\n");
    const { code, out, err } = await callCli(home, ["validate"]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toMatch(/^❌ harness\.md not valid\n {3}2 errors, 2 warnings \(\d+ ms\)\n/);
    const places = [...out.matchAll(/^(\S+?):(\d+):(\d+): (error|warning): /gm)].map(([, file, line, , severity]) => {
      return `${severity} ${file}:${line}`;
    });
    expect(places.toSorted()).toEqual([
      "error .harness/hooks/a.md:2",
      "error harness.md:2",
      "warning .harness/tools/b.md:2",
      "warning harness.md:3",
    ]);
    expect(places.at(-1)).toBe("warning .harness/tools/b.md:2");
    expect(out).toContain("model.temperature: 9 is not valid here.");
    expect(out).toContain('did you mean "tools_policy"?');
    expect(out).toContain('did you mean "tool.pre"?');
    expect(out).toContain("    expected: ");
    const report = JSON.parse((await callCli(home, ["validate", "--json"])).out);
    expect(report).toMatchObject({ valid: false, reason: "ConfigInvalid", errors: 2, warnings: 2 });
    expect(report.problems).toContainEqual(
      expect.objectContaining({ severity: "error", file: ".harness/hooks/a.md", line: 2, nearest: "tool.pre" }),
    );
    for (const args of [
      ["run", "hi"],
      ["tools"],
      ["hooks"],
      ["agents"],
      ["artifacts"],
      ["inspect"],
      ["serve", "--source", "stdin"],
    ]) {
      const refused = await callCli(home, args);
      expect(refused, args.join(" ")).toMatchObject({ code: 2, out: "" });
      expect(refused.err).toContain("harness.md:2:");
      expect(refused.err).toContain(".harness/hooks/a.md:2:");
    }
  });

  test("-v lists what there is, --json the names; a warning alone leaves it valid", async () => {
    await callCli(home, ["init", "."]);
    home.put(
      ".harness/plugins/pr.md",
      '---\ntype: plugin\ncondition: ctx.get("mode") == "pr"\nnonsense: 1\n---\n\nReview.\n',
    );
    const { code, out } = await callCli(home, ["validate", "-v"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^✅ harness\.md valid\n.*\n {3}1 warning\n/);
    expect(out).toContain("tools: 4 registered\n");
    expect(out).toMatch(
      /^ {2}detect_secrets {2}tool\.pre {2}priority 12 {2}\.harness\/hooks\/detect_secrets\.md:\d+$/m,
    );
    expect(out).toContain("agents: 0 registered\n");
    expect(out).toContain("artifacts: 2 (kind=harness:1, plugin:1)\n");
    expect(JSON.parse((await callCli(home, ["validate", "--json"])).out)).toMatchObject({
      valid: true,
      file: "harness.md",
      hooks: ["block_dangerous_commands", "detect_secrets"],
      artifacts: ["pr"],
      errors: 0,
      warnings: 1,
    });
  });

  test.each([
    [[], "harness init"],
    [["-c", "missing.md"], "missing.md"],
    [["-c", "config.toml"], "not a project file"],
    [["-c", "harness.txt"], ".md"],
    [["--watc"], "Did you mean --watch?"],
    [["extra"], "too many arguments"],
  ])("%j without a project is exit 2 and says what to do", async (args, message) => {
    const { code, out, err } = await callCli(home, ["validate", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

  test("--watch checks again when a file changes, and Ctrl-C ends it with 0", async () => {
    await callCli(home, ["init", "."]);
    const child = startCli(home, ["validate", "--watch", "--json"]);
    const next = linesOf(child);
    expect(JSON.parse(await next())).toMatchObject({ valid: true, tools: expect.not.arrayContaining(["greet"]) });
    home.put(".harness/tools/greet.md", GREET.replace("def run(args)", "def go(args)"));
    expect(JSON.parse(await next())).toMatchObject({ valid: false });
    home.put(".harness/tools/greet.md", GREET);
    expect(JSON.parse(await next())).toMatchObject({ valid: true, tools: expect.arrayContaining(["greet"]) });
    child.kill("SIGINT");
    expect(await new Promise((done) => child.once("exit", done))).toBe(0);
  });
});

describe("what would run", () => {
  beforeEach(() => {
    home.put(
      "harness.md",
      `---
model: { provider: anthropic, name: claude-x }
tools_policy:
  mode: allowlist
  allow: [greet, fs.read]
  deny: ["fs.*"]
network: { allowed_domains: [api.example.com] }
budgets: { turn: { max_cost_usd: 1 } }
serve: { sources: [{ type: stdin }] }
---

Be brief.
`,
    );
    home.put(".harness/tools/greet.md", GREET);
    home.put(".harness/hooks/audit.md", AUDIT);
    home.put(".harness/hooks/late.md", AUDIT.replace("priority: 1", 'priority: 20\nwhen: payload["name"] == "greet"'));
    home.put(".harness/agents/helper.md", "---\ntools: [greet]\n---\n\nYou help.\n");
    home.put(".harness/plugins/pr.md", '---\ntype: plugin\ncondition: ctx.get("mode") == "pr"\n---\n\nReview.\n');
  });

  test("run --list-tools shows what the model would see, with its source, and needs no key", async () => {
    expect(await callCli(home, ["run", "--list-tools"])).toEqual({
      code: 0,
      out: expect.stringMatching(/^TOOL +SOURCE\ngreet +\.harness\/tools\/greet\.md:\d+\n$/),
      err: expect.not.stringContaining("✗"),
    });
    const { out } = await callCli(home, ["deploy", "--list-tools", "--json"]);
    const greet = { name: "greet", source: expect.stringContaining("greet.md") };
    const description = expect.stringContaining("Greet somebody by name");
    const schema = expect.objectContaining({ type: "object", required: ["name"] });
    expect(JSON.parse(out)).toEqual([{ ...greet, description, schema }]);
  });

  test("tools, hooks, agents and artifacts, each as table, in full and as JSON", async () => {
    const json = async (...args: string[]) => JSON.parse((await callCli(home, [...args, "--json"])).out);
    expect(await json("tools")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "greet",
          visible: true,
          parameters: [expect.objectContaining({ name: "name", required: true })],
        }),
        expect.objectContaining({
          name: "fs.read",
          visible: false,
          source: "built-in",
          why: expect.stringMatching(/fs\.\*.*harness\.md:\d+/),
        }),
        expect.objectContaining({ name: "exec", visible: false, why: expect.stringContaining("allowlist") }),
      ]),
    );
    expect(await json("hooks")).toMatchObject([
      { event: "tool.pre", priority: 1, name: "audit", active: true },
      { event: "tool.pre", priority: 20, name: "late", when: expect.stringContaining("greet") },
    ]);
    expect(await json("agents")).toMatchObject([{ name: "helper", tools: ["greet"] }]);
    expect(await json("artifacts", "--type", "plugin")).toMatchObject([{ name: "pr", type: "plugin", active: false }]);
    expect(await json("artifacts", "--type", "plugin", "--set", "mode=pr")).toMatchObject([
      { name: "pr", active: true },
    ]);
    expect((await json("artifacts")).map(({ type }: { type: string }) => type)).toEqual(["harness", "plugin", "model"]);
    expect((await callCli(home, ["hooks"])).out).toMatch(
      /^EVENT .*\ntool\.pre +1 +audit .*\ntool\.pre +20 +late .*greet"\n$/,
    );
    expect((await callCli(home, ["agents"])).out).toMatch(/^helper .*greet/m);
    expect((await callCli(home, ["tools", "-v"])).out).toContain("  name: string, required: Who to greet\n");
    expect((await callCli(home, ["artifacts", "-v"])).out).toContain('condition ctx.get("mode") == "pr" → false\n');
    expect(await callCli(home, ["artifacts", "--type", "tool"])).toMatchObject({ code: 2 });
    expect(await callCli(home, ["artifacts", "--dir", "nowhere"])).toMatchObject({ code: 2 });
    expect(await callCli(home, ["tools", "--set", "novalue"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("key=value"),
    });
  });

  test("inspect has the model, the policy, the limits and all parts", async () => {
    const { code, out } = await callCli(home, ["inspect"]);
    expect(code).toBe(0);
    for (const line of [
      /^model +anthropic:claude-x$/m,
      /^policy +project: allowlist, allow greet fs\.read, deny fs\.\*$/m,
      /^network +project: api\.example\.com$/m,
      /^budgets +turn\.max_cost_usd 1$/m,
      /^tools \(\d+\)$/m,
      /^hooks \(2\)$/m,
      /^agents \(1\)$/m,
      /^artifacts \(3\)$/m,
    ]) {
      expect(out).toMatch(line);
    }
    const elsewhere = await callCli({ ...home, workspace: home.env.HOME ?? "" }, [
      "inspect",
      "--dir",
      "workspace",
      "--json",
    ]);
    expect(JSON.parse(elsewhere.out)).toMatchObject({
      root: home.workspace,
      file: "harness.md",
      model: "anthropic:claude-x",
      network: [{ tier: "project", allowed_domains: ["api.example.com"] }],
      budgets: { turn: { max_cost_usd: 1 } },
      serve: ["stdin"],
      problems: expect.any(Array),
    });
    expect((await callCli(home, ["inspect", "-v"])).out).toContain("  name: string, required: Who to greet\n");
  });

  test("deploy --dry-run has the facts of the project, and what the flags add", async () => {
    await ackProject(home);
    const keyed = { ...home, env: { ...home.env, ANTHROPIC_API_KEY: "test-key" } };
    const { code, out } = await callCli(keyed, [
      "deploy",
      "--dry-run",
      "--allowed-domain",
      "*.example.org",
      "--set",
      "n=3",
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      model: "anthropic:claude-x",
      context: { n: 3 },
      project: {
        file: "harness.md",
        tools: ["greet"],
        hooks: ["audit", "late"],
        agents: ["helper"],
        network: [{ tier: "project", allowed_domains: ["api.example.com", "*.example.org"] }],
      },
    });
    expect(await callCli(keyed, ["deploy", "--dry-run", "--allowed-domain", "https://x.example"])).toMatchObject({
      code: 2,
    });
  });
});

describe("from the record", () => {
  test("inspect --events and --failures, and explain, tell what a run did", async () => {
    home.put(
      "s.yaml",
      "name: s\nrules:\n  - when: { tool: fs.read }\n    reply: [{ text: done }]\notherwise: [{ tool: fs.read, args: { path: missing.txt } }]\n",
    );
    expect(await callCli(home, ["run", "-m", "scripted:./s.yaml", "go"])).toMatchObject({ code: 0 });
    const events = await callCli(home, ["inspect", "--events"]);
    expect(events.out).toMatch(/^ +\d+ {2}\S+ {2}ToolCallStarted {2}call_\w{26} fs\.read missing\.txt$/m);
    const failures = JSON.parse((await callCli(home, ["inspect", "--failures", "--json"])).out);
    expect(failures.failures.map(({ kind }: { kind: string }) => kind)).toEqual(["ToolResult"]);
    expect(failures).not.toHaveProperty("events");
    const call = /call_\w{26}/.exec(events.out)?.[0] ?? "";
    const explained = JSON.parse((await callCli(home, ["explain", call, "--json"])).out);
    expect(explained).toMatchObject({ call_id: call, name: "fs.read", outcome: "error", session: failures.session });
    expect(explained.decided).toMatchObject({ effect: "allow" });
    expect(await callCli(home, ["inspect", "--session", "nope"])).toMatchObject({ code: 2 });
  });
});

describe("serve", () => {
  test("answers each line in one session, skips empty ones, and ends with the input", async () => {
    const { code, out } = await runCli(home, ["serve", "--source", "stdin", "--json"], "hello\n\n  \nwho are you?");
    expect(code).toBe(0);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.filter(({ kind }) => kind === "TurnStarted").map(({ payload }) => payload.content[0].text)).toEqual([
      "hello",
      "who are you?",
    ]);
    expect(new Set(events.map(({ session }) => session)).size).toBe(1);
    expect(await callCli(home, ["serve", "--source", "stdin"], "hello\nthanks\n")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Hello![\s\S]*\nYou are welcome\.\n$/),
    });
  });

  test("a turn that fails does not end it", async () => {
    home.put("s.yaml", "name: s\nrules:\n  - when: { input: good }\n    reply: [{ text: fine }]\n");
    const { code, out, err } = await callCli(
      home,
      ["serve", "--source", "stdin", "-m", "scripted:./s.yaml"],
      "bad\ngood\n",
    );
    expect({ code, out }).toEqual({ code: 0, out: "fine\n" });
    expect(err).toContain("ScenarioExhausted");
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s ends it with 0", async (signal) => {
    const child = startCli(home, ["serve", "--source", "stdin"]);
    const result = finish(child);
    child.stdin.write("hello\n");
    await new Promise<void>((done) => child.stdout.once("data", () => done()));
    child.kill(signal);
    expect(await result).toMatchObject({ code: 0 });
  });

  test("Ctrl-C in the middle of a turn ends it with 0, and the turn is cancelled", async () => {
    home.put("s.yaml", "name: s\nrules: []\notherwise: [{ tool: exec, args: { command: 'echo begun; sleep 600' } }]\n");
    const child = startCli(home, [
      "serve",
      "--source",
      "stdin",
      "--json",
      "--allow",
      "Bash",
      "-m",
      "scripted:./s.yaml",
    ]);
    const next = linesOf(child);
    child.stdin.write("go\n");
    while (!(await next()).includes("ToolCallProgress"));
    child.kill("SIGINT");
    while (!(await next()).includes('"kind":"Cancelled"'));
    expect(await new Promise((done) => child.once("exit", done))).toBe(0);
  });

  test("works on a terminal too: lines are prompts, and nobody is asked", async () => {
    const terminal = openCliTerminal(home, ["serve", "--source", "stdin"]);
    await terminal.see("one prompt per line");
    terminal.type("thanks\n");
    await terminal.see("You are welcome.");
    terminal.type("\u0003");
    expect(await terminal.exit).toBe(0);
  });

  test.each([
    [["--source", "telegram"], "'telegram' is not in this build"],
    [["--source", "stdin", "--source", "meshwire"], "'meshwire' is not in this build"],
    [["--source", "smoke"], "Allowed choices"],
    [[], "--source stdin"],
  ])("%j is exit 2 and says why", async (args, message) => {
    const { code, out, err } = await callCli(home, ["serve", ...args], "hello\n");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

  test("the project names its sources; one that is not in this build is refused, not left out", async () => {
    home.put("harness.md", "---\nserve: { sources: [{ type: stdin }] }\n---\n");
    await ackProject(home);
    expect(await callCli(home, ["serve"], "thanks\n")).toMatchObject({ code: 0, out: "You are welcome.\n" });
    const telegram = "{ type: telegram, token_env: T, chat_allowlist: [1] }";
    home.put("harness.md", `---\nserve: { sources: [{ type: stdin }, ${telegram}] }\n---\n`);
    await ackProject(home);
    expect(await callCli(home, ["serve"], "thanks\n")).toMatchObject({
      code: 2,
      err: expect.stringContaining("telegram"),
    });
    expect(await callCli(home, ["serve", "--source", "stdin"], "thanks\n")).toMatchObject({ code: 0 });
  });
});

describe("deploy --stream", () => {
  test("prints the answer as it comes, and refuses a schema beside it", async () => {
    home.put("s.yaml", "name: s\nrules: []\notherwise: [{ text: streamed }]\n");
    const args = ["deploy", "-m", "scripted:./s.yaml", "--stream", "--input", "x"];
    expect(await callCli(home, args)).toMatchObject({ code: 0, out: "streamed\n" });
    expect(await callCli(home, [...args, "--output-schema", "s.json"])).toMatchObject({ code: 2 });
  });
});

test("the templates and the built-in skills are in the package", () => {
  const { files } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
  expect(files).toEqual(expect.arrayContaining(["templates", "skills"]));
});
