/** The command line as users and scripts call it: real processes, exit codes, both outputs. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parseEvent } from "#protocol/schemas";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, finish, openCliTerminal, runCli, startCli } from "../fakes/cli-process.ts";
import { launcher } from "../fakes/launcher.ts";
import { processesWith } from "../fakes/marked-processes.ts";
import { type MockProviderServer, startMockProvider } from "../fakes/mock-provider-server.ts";
import type { MockReply } from "../fakes/mock-reply.ts";

let home: CliHome;
beforeEach(() => {
  home = createCliHome();
});

const text = (value: string): MockReply => ({ type: "message", blocks: [{ type: "text", text: value }] });

/** A home whose model is a mock vendor; no retries, so that a failure is told at once. */
async function withVendor(...replies: MockReply[]): Promise<{ vendor: MockProviderServer; home: CliHome }> {
  const vendor = await startMockProvider();
  vendor.reply(...replies);
  const vendorHome = createCliHome({ OPENAI_API_KEY: "test-key" });
  vendorHome.configure(`
[model]
provider = "openai"
name = "mock-model"
base_url = "${vendor.url}/v1"
retry = { max_retries = 0 }
`);
  return { vendor, home: vendorHome };
}

describe("without a model and a key", () => {
  test("run without a terminal refuses and says what to do; on a terminal the offline model answers", async () => {
    const refused = await callCli(home, ["run", "hello"]);
    expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringContaining("ModelNotConfigured") });
    expect(refused.err).toContain("ANTHROPIC_API_KEY");
    expect(refused.err).toContain("--model scripted:offline");
    const named = await callCli(home, ["run", "--model", "scripted:offline", "hello"]);
    expect(named).toMatchObject({ code: 0, out: expect.stringContaining("offline") });
    const terminal = openCliTerminal(home, ["run", "--plain", "hello"]);
    await terminal.see("No model is configured");
    expect(await terminal.exit).toBe(0);
  });

  test("demo plays a turn in a scratch folder under rules that it prints, and exits 0", async () => {
    const { code, out, err } = await runCli(home, ["demo"]);
    expect(code).toBe(0);
    expect(out).toContain("passes");
    expect(err).toContain("allow Bash(node check.mjs)");
    expect(err).toMatch(/2 of 2 checks passed/);
  });

  test("deploy refuses instead of falling back", async () => {
    const { code, out, err } = await callCli(home, ["deploy", "--input", "x"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("ModelNotConfigured");
  });
});

describe("without a command", () => {
  const offline = ["--model", "scripted:offline"];

  test("an argument with a space is a prompt, also behind flags; a single unknown word is an error", async () => {
    for (const args of [
      ["fix the tests", ...offline],
      [...offline, "fix the tests"],
      ["--no-daemon", ...offline, "fix the tests"],
    ]) {
      expect(await callCli(home, args)).toMatchObject({ code: 0, out: expect.stringContaining("offline") });
    }
    const word = await callCli(home, ["sesions", "list all"]);
    expect(word).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Did you mean sessions?") });
  });

  test("-p prints nothing but the answer, and takes a single word or standard input", async () => {
    home.put("parrot.yaml", 'name: parrot\nrules: [{reply: [{text: "You said {{input}}."}]}]\n');
    const parrot = ["--model", "scripted:./parrot.yaml"];
    const heard = [await callCli(home, ["-p", "hello", ...parrot]), await callCli(home, ["-p", ...parrot], "piped")];
    expect(heard.map(({ code, out }) => ({ code, out: out.replace(/\s+/g, " ").trim() }))).toEqual([
      { code: 0, out: "You said hello." },
      { code: 0, out: "You said piped." },
    ]);
    expect(await callCli(home, ["-p", ...parrot])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no prompt"),
    });
  });

  test("--continue, and --resume without an id, go on with the newest session of this folder", async () => {
    expect(await callCli(home, ["--continue", "go on then", ...offline])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`no session of ${home.workspace}`),
    });
    const { out: events } = await callCli(home, ["run", "first of all", "--json", ...offline]);
    const { session } = JSON.parse(events.slice(0, events.indexOf("\n"))) as { session: string };
    for (const args of [
      ["--continue", "go on then"],
      ["--resume", "go on then"],
      ["go on then", "--resume"],
    ]) {
      const { code, out } = await callCli(home, [...args, "--json", ...offline]);
      expect(code).toBe(0);
      expect(JSON.parse(out.slice(0, out.indexOf("\n")))).toMatchObject({ session });
    }
    expect(await callCli(home, ["--continue", "--resume", session, "go on then"])).toMatchObject({ code: 2 });
  });
});

describe("usage", () => {
  test("no arguments without a terminal: usage and exit 1", async () => {
    const { code, out, err } = await runCli(home, []);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("Usage: harness");
  });

  test("--help groups the commands, the most used ones first", async () => {
    const { out } = await callCli(home, ["--help"]);
    const headings = ["Run an agent:", "Sessions:", "Projects:", "Security:", "This installation:"];
    expect(out.match(/^\S.*:$/gm)?.filter((line) => line !== "Options:")).toEqual(headings);
    expect(out).not.toContain("Commands:");
    expect(out).toMatch(/^Sessions:\n(?: {2}.*\n)*? {2}undo /m);
  });

  test.each([["--help"], ["help"], ["run", "--help"], ["deploy", "--help"], ["models", "--help"], ["cost", "--help"]])(
    "%s %s prints help and exits 0",
    async (...args) => {
      const { code, out } = await callCli(home, args);
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("Usage: harness") });
    },
  );

  test.each([
    [["runn"], "Did you mean run?"],
    [["run", "--modle", "x", "hi"], "UsageInvalid: unknown option"],
    [["run", "--max-steps", "0", "hi"], "positive whole number"],
    [["run", "--store", "cloud", "hi"], "Allowed choices are"],
    [["run", ""], "the prompt is empty: say what the agent should do"],
    [["run"], "no prompt"],
    [["run", "--model", "gpt", "hi"], "write provider:name"],
    [["run", "--model", "opnai:x", "hi"], "Did you mean 'openai:x'?"],
    [["run", "--model", "anthropic:x", "hi"], "ANTHROPIC_API_KEY"],
    [["run", "--model", "scripted:missing.yaml", "hi"], "missing.yaml"],
    [["run", "--config", "missing.toml", "hi"], "missing.toml"],
    [["run", "-m", "scripted:offline", "--allow", "Bash(", "hi"], "--allow"],
    [["run", "--output-schema", "missing.json", "hi"], "missing.json"],
    [["run", "-m", "scripted:offline", "--cwd", "missing", "hi"], "missing"],
    [["models", "nobody"], "Providers:"],
    [["undo", "--cwd", "missing"], "there is no folder"],
    [["sandbox", "check", "--cwd", "missing"], "there is no folder"],
    [["cost", "--session", "sess_x"], "There is no session"],
  ])("%j is exit 2 and says what to do", async (args, message) => {
    const { code, out, err } = await callCli(home, args);
    expect(err).toContain(message);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test.each([
    [["undo", "--cwd", "missing"], "there is no folder"],
    [["run", "--modle", "x", "hi"], "unknown option '--modle'"],
  ])("%j --json ends with the same on standard output", async (args, message) => {
    const { code, out } = await callCli(home, [...args, "--json"]);
    expect(JSON.parse(out)).toEqual({
      error: { reason: "UsageInvalid", message: expect.stringMatching(new RegExp(`^${message}`)), exit_code: code },
    });
  });

  test("a broken configuration names file and line", async () => {
    home.configure('max_steps = 5\nmodel = "no-colon"\n');
    const { code, err } = await callCli(home, ["run", "hi"]);
    expect(code).toBe(2);
    expect(err).toMatch(/config\.toml:2: model: .*Expected: `provider:name`/);
  });

  test("an unknown key warns with the nearest one and does not stop", async () => {
    home.configure("max_stepz = 5\n");
    const { code, err } = await callCli(home, ["run", "-m", "scripted:offline", "hello"]);
    expect(code).toBe(0);
    expect(err).toMatch(/config\.toml:1: unknown key "max_stepz" is ignored\. Did you mean "max_steps"\?/);
  });

  test("a malformed scenario tells every problem with its line", async () => {
    home.put("bad.yaml", "name: bad\nrules:\n  - wen: {input: x}\n    reply: [{txt: hi}]\n");
    const { code, err } = await callCli(home, ["run", "--model", "scripted:./bad.yaml", "hi"]);
    expect(code).toBe(2);
    expect(err).toMatch(/bad\.yaml:3:/);
    expect(err).toMatch(/bad\.yaml:4:/);
  });
});

describe("a real wire", () => {
  test("--json prints canonical events, in order, that a client can parse", async () => {
    const { home: vendorHome } = await withVendor(text("hi there"));
    const { code, out } = await callCli(vendorHome, ["run", "--json", "hello"]);
    expect(code).toBe(0);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => parseEvent(JSON.parse(line)));
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
    // The end of the text may come in an event of its own: it is held back until no secret can begin there.
    const kinds = events.map(({ kind }) => kind).filter((kind, index, all) => kind !== all[index - 1]);
    expect(kinds).toEqual([
      "SessionStarted",
      "TurnStarted",
      "TextDelta",
      "CostIncremented",
      "TurnTiming",
      "TurnEnded",
      "SessionEnded",
    ]);
  });

  test("the answer alone is on standard output", async () => {
    const { home: vendorHome } = await withVendor(text("just this"));
    expect(await callCli(vendorHome, ["run", "hello"])).toEqual({ code: 0, out: "just this\n", err: "" });
  });

  test("deploy reads standard input and prints the final answer", async () => {
    const { vendor, home: vendorHome } = await withVendor(text("the answer"));
    expect(await callCli(vendorHome, ["deploy"], "the question")).toEqual({ code: 0, out: "the answer\n", err: "" });
    expect(JSON.stringify(vendor.requests[0]?.body)).toContain("the question");
  });

  test("what a model writes cannot drive the terminal", async () => {
    const hostile = "a\u001b]52;c;aGk=\u0007b\u001b[2Jc\u009b31md";
    const { vendor, home: vendorHome } = await withVendor(text(hostile));
    const expected = "a⟨U+001B⟩]52;c;aGk=⟨U+0007⟩b⟨U+001B⟩[2Jc⟨U+009B⟩31md\n";
    expect(await callCli(vendorHome, ["deploy", "--input", "x"])).toMatchObject({ code: 0, out: expected });
    vendor.reply(text(hostile));
    expect(await callCli(vendorHome, ["run", "x"])).toMatchObject({ code: 0, out: expected });
  });

  test("deploy --dry-run prints the plan and calls nobody", async () => {
    const { vendor, home: vendorHome } = await withVendor();
    const { code, out } = await callCli(vendorHome, ["deploy", "--dry-run"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      model: "openai:mock-model",
      max_steps: 100,
      tools: expect.arrayContaining(["exec"]),
    });
    expect(vendor.requests).toEqual([]);
  });

  test.each<[string, MockReply, string]>([
    [
      "HTML",
      { type: "http", status: 200, headers: { "content-type": "text/html" }, body: "<html>hi</html>" },
      "ProviderGarbled",
    ],
    ["an empty body", { type: "http", status: 200 }, "ProviderGarbled"],
    [
      "a cut stream",
      {
        ...text("one two three"),
        type: "message",
        blocks: [{ type: "text", text: "a b c d", deltas: 4 }],
        fault: { type: "cut", afterEvents: 2 },
      },
      "ProviderStreamCut",
    ],
    [
      "garbage",
      { type: "http", status: 200, headers: { "content-type": "text/event-stream" }, body: "data: {nope\n\n" },
      "ProviderGarbled",
    ],
    ["a refused key", { type: "http", status: 401, body: '{"error":{"message":"bad key"}}' }, "ProviderUnauthorized"],
    ["an overload", { type: "http", status: 529, body: "" }, "ProviderUnavailable"],
    ["a content filter", { type: "message", blocks: [], stop: "content_filter" }, "ContentFiltered"],
    ["an unknown finish reason", { type: "message", blocks: [], stop: "tired" }, "UnknownFinishReason"],
  ])("a provider that answers %s is exit 1 with the reason, and recorded", async (_name, reply, reason) => {
    const { home: vendorHome } = await withVendor(reply);
    const { code, out } = await callCli(vendorHome, ["run", "--json", "hello"]);
    expect(code).toBe(1);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => parseEvent(JSON.parse(line)));
    expect(events.filter(({ kind }) => kind === "Error").map(({ payload }) => payload)).toMatchObject([
      { reason, terminal: true },
    ]);
  });

  test("an unreachable provider is exit 1", async () => {
    home.configure(
      '[model]\nprovider = "custom"\nname = "x"\nbase_url = "http://127.0.0.1:9"\nretry = { max_retries = 0 }\n',
    );
    const { code, err } = await callCli(home, ["run", "hello"]);
    expect(code).toBe(1);
    expect(err).toContain("ProviderUnreachable");
  });

  test("--output-schema asks again at most twice and prints the JSON that matches", async () => {
    const { vendor, home: vendorHome } = await withVendor(
      text("no json"),
      text('{"n":"x"}'),
      text('```json\n{"n":7}\n```'),
    );
    vendorHome.put("schema.json", '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}');
    const args = ["run", "--output-schema", "schema.json", "a number"];
    expect(await callCli(vendorHome, args)).toMatchObject({ code: 0, out: '{"n":7}\n' });
    vendor.reply(text("a"), text("b"), text("c"), text('{"n":1}'));
    const failed = await callCli(vendorHome, args);
    expect(failed).toMatchObject({ code: 1, out: "" });
    expect(failed.err).toContain("AnswerInvalid");
    expect(vendor.requests).toHaveLength(6);
  });

  test("the session is in the log: cost sums it up", async () => {
    const { home: vendorHome } = await withVendor(text("hi"));
    vendorHome.configure(`${readFileSync(join(vendorHome.env.XDG_CONFIG_HOME ?? "", "harness/config.toml"), "utf8")}
[prices."openai:mock-model"]
input = 1000000
output = 0
`);
    await callCli(vendorHome, ["run", "hello"]);
    const { code, out } = await callCli(vendorHome, ["cost", "--json"]);
    expect(code).toBe(0);
    const { models } = JSON.parse(out) as { models: { group: string; cost_usd: number; input_tokens: number }[] };
    expect(models).toMatchObject([{ group: "openai:mock-model" }]);
    expect(JSON.parse(out)).toMatchObject({ providers: [{ group: "openai" }] });
    expect(models[0]?.cost_usd).toBe(models[0]?.input_tokens);
    expect(models[0]?.cost_usd).toBeGreaterThan(0);
  });

  test("SIGINT cancels the turn: exit 130, recorded, children gone", async () => {
    const mark = `mark-${randomUUID()}`;
    const command = `echo on > begun; exec -a ${mark} sleep 600`;
    const { home: vendorHome } = await withVendor({
      type: "message",
      blocks: [{ type: "tool_call", name: "exec", arguments: JSON.stringify({ command }) }],
    });
    const child = startCli(vendorHome, ["run", "--json", "--allow", "Bash", "wait"]);
    const result = finish(child);
    const begun = join(vendorHome.workspace, "begun");
    await expect.poll(() => existsSync(begun), { interval: 5 }).toBe(true);
    child.kill("SIGINT");
    const { code, out } = await result;
    expect(code).toBe(130);
    expect(out).toContain('"kind":"Cancelled"');
    expect(processesWith(mark)).toEqual([]);
  });
});

describe("an output that is lost in the middle of a turn", () => {
  // One after the other: whenever the reader leaves, something is still to be written.
  const scenario = `
name: commands
rules:
  - when: { input: "/./" }
    reply: [{ tool: exec, args: { command: "sleep 0.2" } }]
`;

  test.each([
    ["a reader that went away", "| head -1", 141, ""],
    ["a full disk", "> /dev/full", 1, "✗ FileFailed: standard output cannot be written: the disk is full.\n"],
  ])("%s cancels it: recorded, with nothing left open", async (_, redirection, code, err) => {
    home.put("model.yaml", scenario);
    const command = `"$0" "$1" run --json -m scripted:./model.yaml --allow Bash go ${redirection}; exit \${PIPESTATUS[0]}`;
    const shell = spawn("bash", ["-c", command, process.execPath, launcher], {
      cwd: home.workspace,
      env: { ...home.env },
    });
    onTestFinished(() => void shell.kill("SIGKILL"));
    expect(await finish(shell)).toMatchObject({ code, err });
    const { out } = await callCli(home, ["sessions", "list", "--json"]);
    const [id = ""] = /sess_\w+/.exec(out) ?? [];
    const events = (await callCli(home, ["sessions", "export", id])).out.match(/"kind":"\w+"/g)?.slice(-2);
    expect(events).toEqual(['"kind":"TurnEnded"', '"kind":"SessionEnded"']);
    expect(await callCli(home, ["sessions", "doctor"])).toMatchObject({
      code: 0,
      out: expect.not.stringContaining(id),
    });
  });
});

describe("starlark", () => {
  test("runs a file with its loads, and standard input", async () => {
    home.put("lib/square.star", "def square(n):\n    return n * n\n");
    home.put("main.star", 'load("lib/square.star", "square")\nprint(json.encode([square(n) for n in range(4)]))\n');
    expect(await callCli(home, ["starlark", "main.star"])).toEqual({ code: 0, out: "[0,1,4,9]\n", err: "" });
    expect(await runCli(home, ["starlark"], "print(1 + 1)\n")).toEqual({ code: 0, out: "2\n", err: "" });
  });

  test("fails with a backtrace, stops at its limits, and takes the language's flags", async () => {
    home.put("bad.star", "def f(x):\n    return x // 0\nf(1)\n");
    expect(await callCli(home, ["starlark", "bad.star"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/bad\.star:3:2: in <toplevel>[\s\S]*bad\.star:2:14: in f[\s\S]*division by zero/),
    });
    const loop = "def f():\n    while True:\n        pass\nf()\n";
    expect(await callCli(home, ["starlark"], loop)).toMatchObject({ code: 1, err: expect.stringContaining("while") });
    const limited = await callCli(home, ["starlark", "--while", "--max-steps", "1000"], loop);
    expect(limited).toMatchObject({ code: 1, err: expect.stringContaining("steps") });
    expect(await callCli(home, ["starlark", "missing.star"])).toMatchObject({ code: 2 });
  });
});

test("a program that has nothing left to wait for, and is not done, says so instead of leaving as if it were", async () => {
  const forgets = createCliHome({ NODE_OPTIONS: "--import data:text/javascript,process.stdin.unref()" });
  const child = startCli(forgets, ["redact"]);
  expect(await finish(child)).toEqual({ code: 1, out: "", err: expect.stringContaining("before its work was done") });
});

describe("undo", () => {
  const call = (name: string, args: unknown): MockReply => ({
    type: "message",
    blocks: [{ type: "tool_call", name, arguments: JSON.stringify(args) }],
  });

  test("takes back what a run changed, shows conflicts, and redoes", async () => {
    const { home: user, vendor } = await withVendor(
      call("exec", { command: "printf two > a.txt; mkdir d; printf x > d/new" }),
      text("done"),
      text("I see"),
    );
    user.put("a.txt", "one");
    expect(await callCli(user, ["run", "--auto-approve", "go"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(user.workspace, "a.txt"), "utf8")).toBe("two");

    const planned = await callCli(user, ["undo", "--dry-run"]);
    expect(planned).toMatchObject({ code: 0, out: expect.stringContaining("Would undo turn_") });
    const agents = join(user.workspace, "..", "agents.txt");
    renameSync(join(user.workspace, "a.txt"), agents);
    user.put("a.txt", "mine");
    const refused = await callCli(user, ["undo"]);
    expect(refused).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("a.txt  now has different contents"),
    });
    expect(existsSync(join(user.workspace, "d/new"))).toBe(true);
    const skipped = await callCli(user, ["undo", "--skip-conflicts", "--json"]);
    expect(skipped.code).toBe(1);
    expect(JSON.parse(skipped.out)).toMatchObject({
      outcome: "partial",
      restored: [
        { path: "d", what: "removed" },
        { path: "d/new", what: "removed" },
      ],
      conflicts: [{ path: "a.txt" }],
    });
    expect(readFileSync(join(user.workspace, "a.txt"), "utf8")).toBe("mine");
    const again = await callCli(user, ["undo"]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("everything is already undone") });
    renameSync(agents, join(user.workspace, "a.txt"));
    const redone = await callCli(user, ["redo"]);
    expect(redone).toMatchObject({ code: 0, out: expect.stringContaining("d/new  brought back") });
    const undone = await callCli(user, ["undo"]);
    expect(undone).toMatchObject({ code: 0, out: expect.stringContaining("a.txt  restored") });
    expect(readFileSync(join(user.workspace, "a.txt"), "utf8")).toBe("one");

    const { session } = JSON.parse(skipped.out);
    const events = (await callCli(user, ["sessions", "export", session])).out.split("\n");
    const restored = events.filter((line) => line.includes('"WorkspaceRestored"')).map((line) => JSON.parse(line));
    expect(
      restored.map(({ payload: { action, by, counts } }) => [action, by, counts.restored, counts.conflicts]),
    ).toEqual([
      ["undo", "harness undo", 2, 1],
      ["redo", "harness redo", 2, 0],
      ["undo", "harness undo", 3, 0],
    ]);
    expect(await callCli(user, ["audit", "verify", session])).toMatchObject({ code: 0 });
    expect(await callCli(user, ["run", "--resume", session, "what now?"])).toMatchObject({ code: 0 });
    const asked = JSON.stringify(vendor.requests.at(-1)?.body);
    expect(asked).toContain("The user reverted changes");
    expect(asked).toContain("left unchanged");
  });

  test("refuses a target that is none, and a key that is none", async () => {
    expect(await callCli(home, ["undo", "yesterday"])).toMatchObject({ code: 2 });
    const wrong = createCliHome({ HARNESS_MACHINE_KEY: "short" });
    expect(await callCli(wrong, ["undo"])).toMatchObject({ code: 2, err: expect.stringContaining("KeyInvalid") });
  });
});
