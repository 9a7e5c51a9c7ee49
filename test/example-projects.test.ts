/** The example projects do what their pages say, through the program, with the scripted model that comes with each of them. */
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type Example, openExample, textOf } from "./fakes/example.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { startLoopbackServer } from "./fakes/loopback-server.ts";

let example: Example;

const changeHook = (name: string): string => `(.harness/hooks/${name}.md:1) To allow it, change that hook.`;

const folder = resolve(import.meta.dirname, "../examples");
const projects = readdirSync(folder).filter((name) => existsSync(join(folder, name, "harness.md")));

describe("every example", () => {
  test.each(projects)("%s can be acked, put into a lock file and checked against it", async (name) => {
    const cli = createInProcessCli({ PATH: process.env.PATH ?? "" }, "a");
    cpSync(join(folder, name), cli.workspace, { recursive: true });
    expect(await cli.run("ack", "--emit-lockfile", "ci.lock")).toMatchObject({ code: 0 });
    expect(await cli.json("verify-ack", "--lockfile", "ci.lock")).toMatchObject({ ok: true, changed: [] });
    expect(await cli.json("verify-ack")).toMatchObject({ ok: true, changed: [] });
  });
});

describe("quickstart", () => {
  beforeEach(() => {
    example = openExample("quickstart");
  });

  test("is valid without a warning, and shows the model what its policy allows", async () => {
    expect(await example.json("validate")).toMatchObject({
      valid: true,
      warnings: 0,
      hooks: ["audit", "block_dangerous_commands", "detect_secrets"],
    });
    expect(await example.json("run", "--list-tools")).toMatchObject([
      { name: "get_current_folder" },
      { name: "greet" },
      { name: "list_files" },
      { name: "read_file" },
    ]);
  });

  test("greets, and the hook has written the call down", async () => {
    const { code, answer, of } = await example.ask("Greet me, I am Ada.");
    expect({ code, answer }).toEqual({ code: 0, answer: "Hello, Ada! Welcome to Harness." });
    expect(of("ScriptLogged")).toMatchObject([
      { source: ".harness/hooks/audit.md:1", message: 'tool.pre greet args={"name": "Ada"}' },
    ]);
  });

  test("refuses to write a file, by name and place of the rule", async () => {
    const { code, answer, of } = await example.ask("Create a new file notes.txt with the word hello in it.");
    expect({ code, answer }).toMatchObject({ code: 0, answer: expect.stringContaining("denies write_file") });
    expect(of("CallJudged")).toMatchObject([
      { judged: { effect: "deny", by: "tools_policy", source: "harness.md:11" } },
    ]);
  });
});

describe("reporter", () => {
  beforeEach(() => {
    example = openExample("reporter");
  });

  test("is valid without a warning: a tool, a hook, an agent", async () => {
    expect(await example.json("validate")).toMatchObject({
      valid: true,
      warnings: 0,
      tools: ["web_fetch"],
      hooks: ["path_guard"],
      agents: ["summarizer"],
    });
    expect(await example.json("run", "--list-tools")).toMatchObject([
      { name: "fs.read" },
      { name: "fs.list" },
      { name: "web_fetch" },
    ]);
  });

  test("fetches from a host that is named", async () => {
    const { port } = await startLoopbackServer((_request, response) => response.end("Teapots are back in stock.\n"));
    const url = `http://localhost:${port}/news.txt`;
    const { code, answer, of } = await example.ask(`Fetch ${url} and tell me what is new.`);
    expect({ code, answer }).toEqual({
      code: 0,
      answer: `The page says that teapots are back in stock. Source: ${url}`,
    });
    expect(of("ToolResult").map(textOf)).toEqual([
      JSON.stringify({ status: 200, url, body: "Teapots are back in stock.\n" }),
    ]);
    expect(of("NetworkJudged")).toMatchObject([{ host: `localhost:${port}`, policy: "allowed" }]);
  });

  test("refuses any other host before anything is resolved, and goes on", async () => {
    const { code, answer, of } = await example.ask("Fetch https://example.com/ please.");
    expect({ code, answer }).toEqual({
      code: 0,
      answer: "That host is not open to me, so I cannot report what it says.",
    });
    const [result] = of("ToolResult");
    expect(result && textOf(result)).toContain("SandboxError: host example.com is not in allowed_domains");
    expect(result).toMatchObject({
      outcome: "error",
      attrs: { "network.policy": "denied", "network.host": "example.com" },
    });
    expect(of("NetworkJudged")).toMatchObject([{ host: "example.com", policy: "denied" }]);
    expect(of("TurnEnded")).toMatchObject([{ outcome: "answered", steps: 2 }]);
  });

  test("a redirect is judged like the request: by the list, and by rules", async () => {
    let location = "https://example.com/";
    const { port } = await startLoopbackServer((request, response) => {
      if (request.url === "/news") response.end("Teapots");
      else response.writeHead(302, { location }).end();
    });
    const prompt = `Fetch http://localhost:${port}/ please.`;
    const listed = await example.ask(prompt);
    expect(listed.of("ToolResult").map(textOf)[0]).toContain(
      "SandboxError: host example.com is not in allowed_domains",
    );
    expect(listed.of("NetworkJudged")).toMatchObject([
      { host: `localhost:${port}`, policy: "allowed" },
      { host: "example.com", policy: "denied" },
    ]);
    location = `http://127.0.0.1:${port}/news`;
    const open = await example.ask(prompt, "--allowed-domain", "127.0.0.1");
    expect(open.of("ToolResult")).toMatchObject([{ outcome: "ok" }]);
    const denied = await example.ask(prompt, "--allowed-domain", "127.0.0.1", "--deny", "WebFetch(domain:127.0.0.1)");
    expect(denied.of("ToolResult").map(textOf)[0]).toContain("WebFetch(domain:127.0.0.1)");
    expect(denied.of("NetworkJudged")).toMatchObject([
      { policy: "allowed" },
      { host: `127.0.0.1:${port}`, policy: "denied" },
    ]);
  });

  test("what a hook asks the network for is held to the list and on the record too", async () => {
    const asks = (url: string) =>
      `---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload):\n      http.get(${JSON.stringify(url)})\n      return allow()\n---\n`;
    const { port } = await startLoopbackServer((_request, response) => response.end("fine"));
    example.put(".harness/hooks/ask.md", asks(`http://localhost:${port}/`));
    const open = await example.ask("Use fs.read to read model.yaml");
    expect(open.of("ToolResult")).toMatchObject([{ outcome: "ok" }]);
    expect(open.of("NetworkJudged")).toMatchObject([{ host: `localhost:${port}`, policy: "allowed" }]);
    example.put(".harness/hooks/ask.md", asks("https://example.com/"));
    const refused = await example.ask("Use fs.read to read model.yaml");
    expect(refused.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "HookBlocked" }]);
    expect(refused.of("NetworkJudged")).toMatchObject([{ host: "example.com", policy: "denied" }]);
  });

  test("--allowed-domain adds a host", async () => {
    const { port } = await startLoopbackServer((_request, response) => response.end("Teapots"));
    const prompt = `Fetch http://127.0.0.1:${port}/ please.`;
    expect((await example.ask(prompt)).of("NetworkJudged")).toMatchObject([{ policy: "denied" }]);
    expect((await example.ask(prompt, "--allowed-domain", "127.0.0.1")).of("NetworkJudged")).toMatchObject([
      { policy: "allowed" },
    ]);
  });

  test("path_guard keeps a path inside", async () => {
    const { code, answer, of } = await example.ask("Use fs.read to read /etc/passwd.");
    expect({ code, answer }).toEqual({ code: 0, answer: "I may not read that file: it lies outside this folder." });
    expect(of("ToolResult").map(textOf)).toEqual([
      `blocked by hook "path_guard": path_guard: absolute or escaping path '/etc/passwd' rejected\n${changeHook("path_guard")}`,
    ]);
  });
});

describe("governed agent", () => {
  beforeEach(() => {
    example = openExample("governed-agent");
  });

  const blocked = (hook: string, reason: string) => [
    {
      event: "tool.pre",
      blocked: true,
      decisions: expect.arrayContaining([expect.objectContaining({ hook, action: "block", reason })]),
    },
  ];

  test("is valid without a warning: three tools, seven hooks", async () => {
    expect(await example.json("validate")).toMatchObject({
      valid: true,
      warnings: 0,
      tools: { length: 3 },
      hooks: { length: 7 },
    });
  });

  test("1: reading a file of the project passes the guard", async () => {
    const { code, of, counters } = await example.ask("Read .harness/tools/self_check.md and tell me what it does.");
    expect(code).toBe(0);
    expect(of("HooksAsked").filter(({ event }) => event === "tool.pre")).toMatchObject([
      {
        blocked: false,
        decisions: [
          { hook: "audit_tool_pre", action: "allow" },
          { hook: "path_guard", source: ".harness/hooks/path_guard.md:1", action: "allow" },
        ],
      },
    ]);
    expect(of("ToolResult")).toMatchObject([{ name: "fs.read", outcome: "ok", attrs: { "tool.policy": "allowed" } }]);
    expect(counters).toEqual({ "audit.tool.pre": 1, "audit.tool.post": 1, "audit.policy.allow": 1 });
  });

  test("2: /etc/passwd is refused by path_guard", async () => {
    const reason = "absolute paths not allowed in governed-agent profile";
    const { code, answer, of, counters } = await example.ask("Read /etc/passwd.");
    expect({ code, answer }).toMatchObject({ code: 0, answer: expect.stringContaining("path_guard") });
    expect(of("HooksAsked").filter(({ event }) => event === "tool.pre")).toMatchObject(blocked("path_guard", reason));
    expect(of("ToolResult").map(textOf)).toEqual([
      `blocked by hook "path_guard": ${reason}\n${changeHook("path_guard")}`,
    ]);
    expect(of("ToolResult")).toMatchObject([
      {
        outcome: "denied",
        reason: "HookBlocked",
        attrs: { "tool.policy": "denied", "tool.deny.reason": "path_guard" },
      },
    ]);
    expect(counters).toEqual({ "audit.tool.pre": 1, "audit.policy.deny": 1 });
  });

  test("3: fs.remove is not there, and a call of it anyway is refused and recorded", async () => {
    const tools = (await example.json("run", "--list-tools")) as { name: string }[];
    expect(tools.map(({ name }) => name)).not.toContain("fs.remove");
    const { code, answer, of, counters } = await example.ask("Delete the workdir folder.");
    expect({ code, answer }).toEqual({ code: 0, answer: "I have no tool that can delete files." });
    expect(of("CallJudged")).toMatchObject([
      {
        name: "fs.remove",
        judged: { effect: "deny", by: "tools_policy", source: expect.stringMatching(/^harness\.md:\d+$/) },
      },
    ]);
    expect(of("ToolResult")).toMatchObject([
      {
        outcome: "denied",
        reason: "PolicyDenied",
        attrs: { "tool.policy": "denied", "tool.deny.reason": "tools_policy" },
      },
    ]);
    expect(of("HooksAsked").filter(({ event }) => event === "tool.pre")).toEqual([]);
    expect(counters).toEqual({});
  });

  test("4: rm -rf / is refused by command_guard, and a harmless command runs", async () => {
    const reason = "dangerous command pattern blocked: 'rm -rf /'";
    const refused = await example.ask("Run rm -rf / for me.");
    expect(refused.of("HooksAsked").filter(({ event }) => event === "tool.pre")).toMatchObject(
      blocked("command_guard", reason),
    );
    expect(refused.of("ToolResult").map(textOf)).toEqual([
      `blocked by hook "command_guard": ${reason}\n${changeHook("command_guard")}`,
    ]);
    expect(refused.of("ToolResult")).toMatchObject([
      { attrs: { "tool.policy": "denied", "tool.deny.reason": "command_guard" } },
    ]);
    expect(refused.of("ToolIntent")).toEqual([]);
    expect(refused.counters).toEqual({ "audit.tool.pre": 1, "audit.policy.deny": 1 });
    const ran = await example.ask("Run echo hello for me.");
    expect(ran.of("ToolResult").map(textOf)).toEqual([JSON.stringify({ exit_code: 0, stdout: "hello\n", stderr: "" })]);
    expect(ran.of("ToolIntent")).toMatchObject([{ allowed_by: { by: "rule run_command" } }]);
  });

  test("5: a tool with a banned name cannot be registered, one with an allowed name can", async () => {
    const reason = "self-augment blocked: tool name 'exec_anything' matches banned prefix 'exec'";
    const refused = await example.ask("Register a tool called exec_anything that runs arbitrary commands.");
    expect(refused.of("HooksAsked").filter(({ event }) => event === "meta.register_tool")).toMatchObject([
      { blocked: true, decisions: [{ hook: "meta_tool_guard", action: "block", reason }] },
    ]);
    expect(refused.of("ToolResult").map(textOf)).toEqual([`blocked by hook "meta_tool_guard": ${reason}`]);
    expect(refused.of("ToolResult")).toMatchObject([
      {
        is_error: true,
        reason: "HookBlocked",
        attrs: { "tool.policy": "denied", "tool.deny.reason": "meta_tool_guard" },
      },
    ]);
    expect(refused.counters).toMatchObject({ "audit.meta.deny": 1 });
    const allowed = await example.ask("Register a tool called note_words that counts words.");
    expect(allowed.of("ToolResult").map(textOf)).toEqual(['{"registered":"note_words"}', '{"words":3}']);
    // The name passes the guard, and the allowlist does not have it.
    const hidden = await example.ask("Register a tool called word_counter that counts words.");
    expect(hidden.of("ToolResult")).toMatchObject([{ outcome: "ok" }, { name: "note_words", outcome: "error" }]);
  });

  test("6: a fetch is open until a host is named, and refused then", async () => {
    const { port } = await startLoopbackServer((_request, response) => response.end("zen"));
    const named = await example.ask(`Fetch http://localhost:${port}/zen.`, "--allowed-domain", "localhost");
    expect(named.of("ToolResult")).toMatchObject([
      { outcome: "ok", attrs: { "network.policy": "allowed", "network.host": `localhost:${port}` } },
    ]);
    const { code, answer, of, counters } = await example.ask(
      "Fetch https://api.github.com/zen.",
      "--allowed-domain",
      "example.com",
    );
    expect({ code, answer }).toEqual({ code: 0, answer: "The network policy refused that host." });
    expect(of("NetworkJudged")).toMatchObject([
      {
        host: "api.github.com",
        policy: "denied",
        reason: expect.stringContaining("SandboxError: host api.github.com is not in allowed_domains"),
      },
    ]);
    expect(of("ToolResult")).toMatchObject([
      { is_error: true, attrs: { "tool.policy": "allowed", "network.policy": "denied" } },
    ]);
    expect(counters).toEqual({ "audit.tool.pre": 1, "audit.tool.post": 1, "audit.tool.error": 1 });
  });

  test("7: the record shows every refusal with the rule that decided, and explain tells it for one call", async () => {
    await example.run("run", "-m", "scripted:./model.yaml", "Read /etc/passwd.");
    const { failures } = (await example.json("inspect", "--failures")) as {
      failures: { kind: string; payload: { call_id?: string } }[];
    };
    expect(failures.map(({ kind }) => kind)).toEqual(["HooksAsked", "ToolResult"]);
    const call = failures[1]?.payload.call_id ?? "";
    expect(await example.json("explain", call)).toMatchObject({
      call_id: call,
      name: "fs.read",
      ran: false,
      outcome: "denied",
      decided: { source: ".harness/hooks/path_guard.md:1", effect: "deny" },
      consulted: [{ name: "audit_tool_pre" }, { name: "path_guard" }],
    });
    const { counters, of } = await example.ask("Use self_check.");
    expect(JSON.parse(of("ToolResult").map(textOf)[0] ?? "")).toMatchObject({
      counters: { "audit.tool.pre": 1 },
      tools: expect.arrayContaining(["self_check"]),
    });
    expect(counters).toMatchObject({ "audit.tool.pre": 1, "audit.tool.post": 1 });
  });
});

describe("agents that work together", () => {
  const endings = (of: Awaited<ReturnType<Example["ask"]>>["of"]) =>
    of("DelegationEnded").map(({ agent, status }) => `${agent} ${status}`);

  test.each(["chain", "scouts", "decomposer", "caught"])("%s is valid without a warning", async (name) => {
    example = openExample(name);
    expect(await example.json("validate")).toMatchObject({ valid: true, warnings: 0 });
  });

  test("chain: researcher, writer and reviewer, one after the other", async () => {
    example = openExample("chain");
    const { code, answer, of } = await example.ask("Report on teapots.");
    expect({ code, answer }).toEqual({ code: 0, answer: "The report is written and reviewed: it can go out." });
    expect(endings(of)).toEqual(["researcher ok", "writer ok", "reviewer ok"]);
    expect(of("DelegationVerified")).toMatchObject([{ attempt: 1, verified: true }]);
    expect(readFileSync(join(example.workspace, "report.md"), "utf8")).toBe("12 teapots, 3 blue.\n");
  });

  test("scouts: three at once", async () => {
    example = openExample("scouts");
    const { code, answer, of } = await example.ask("Look everywhere.");
    expect({ code, answer }).toMatchObject({ code: 0, answer: expect.stringContaining("Three scouts came back") });
    expect(endings(of)).toEqual(["scout ok", "scout ok", "scout ok"]);
    const awaited = JSON.parse(of("ToolResult").map(textOf).at(-1) ?? "");
    expect(awaited.map(({ result }: { result: string }) => result)).toEqual([
      expect.stringContaining("something in a"),
      expect.stringContaining("something in b"),
      expect.stringContaining("something in c"),
    ]);
  });

  test("decomposer: down to what is small enough, and no deeper than it may", async () => {
    example = openExample("decomposer");
    const { code, answer, of } = await example.ask("How many words are there?");
    expect({ code, answer }).toEqual({ code: 0, answer: "There are 5 words." });
    expect(of("ToolResult").map(textOf)[0]).toContain("5 words: 3 in one.txt and 2 in two.txt.");
    const listed = (await example.run("sessions", "list")).out;
    expect(listed).toMatch(
      /How many words[\s\S]*└ decomposer: Count one.txt and two.txt[\s\S]* {2}└ decomposer: Count one.txt\n[\s\S]* {2}└ decomposer: Count two.txt/,
    );
  });

  test("caught: a delegate that says done before it is", async () => {
    example = openExample("caught");
    const mended = await example.ask("Build honest.txt");
    expect(mended).toMatchObject({ code: 0, answer: "Built, and checked." });
    expect(mended.of("DelegationVerified").map(({ verified }) => verified)).toEqual([false, true]);
    const lied = await example.ask("Build never.txt");
    expect(lied.answer).toContain("and it is not");
    expect(lied.of("DelegationEnded")).toMatchObject([{ status: "failed", reason: "KindVerificationFailed" }]);
    expect(lied.of("ToolResult").map(textOf).join()).not.toContain("Done!");
  });
});

describe("evals", () => {
  beforeEach(() => {
    example = openExample("evals");
  });

  test("its cases pass without a key, each tier its own way", async () => {
    const { code, out } = await example.run("eval", "--json");
    expect(code).toBe(0);
    const { cases } = JSON.parse(out);
    expect(
      cases.map((one: { name: string; mode: string; status: string }) => [one.name, one.mode, one.status]),
    ).toEqual([
      ["smoke", "scripted", "passed"],
      ["summary", "scripted", "passed"],
      ["private-notes", "scripted", "passed"],
      ["no-delete", "scripted", "passed"],
      ["weather", "replay", "passed"],
    ]);
  });

  test("a hook that lets everything pass is noticed", async () => {
    example.put(
      ".harness/hooks/private_notes.md",
      "---\nevent: tool.pre\npriority: 10\nscript: |\n  def handle(event, payload):\n      return allow()\n---\n",
    );
    const { code, out } = await example.run("eval", "--case", "private-notes");
    expect(code).toBe(1);
    expect(out).toContain("✗ hook_blocked private_notes: it ran once and never blocked");
  });

  test("what is said to the model now is held against what was said when it was recorded", async () => {
    const file = "evals/testdata/05_weather.yaml";
    example.put(file, readFileSync(join(example.workspace, file), "utf8").replace("Be brief.", "Be long."));
    const { code, out } = await example.run("eval", "--case", "weather");
    expect(code).toBe(1);
    expect(out).toMatch(/did not finish: turn 1 ended with CassetteMismatch: .*model request 1 differs at system/);
  });
});
