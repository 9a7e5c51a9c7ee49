/** MCP servers that a project declares: nothing of them starts before its owner has approved it, and nothing else than what was approved. */
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ackProject } from "./fakes/ack-project.ts";
import { callCli } from "./fakes/cli-call.ts";
import { type CliHome, createCliHome, offlineModel } from "./fakes/cli-process.ts";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { stdioServer } from "./fakes/mcp-world.ts";
import { agentFile, answers, delegates, makes } from "./fakes/roles.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";
import { TINY_SERVER } from "./fakes/tiny-mcp-server.ts";

let home: CliHome;
beforeEach(() => {
  home = createCliHome({ ...offlineModel, XDG_STATE_HOME: "" });
});

const NODE = process.execPath;

/** A `harness.md` that declares these servers. */
function declare(servers: Readonly<Record<string, unknown>>, more = ""): void {
  home.put("harness.md", `---\nmcp_servers: ${JSON.stringify(servers)}\n${more}---\n\nYou help.\n`);
}

/** A busy machine may take longer than the default to look at its program. */
const tiny = { command: "node", args: ["server.js"], startup_timeout_ms: 60_000 };

/** Whether any server has run, ever. */
function hasRun(): boolean {
  const state = join(String(home.env.XDG_DATA_HOME), "harness/mcp");
  return existsSync(state) && readdirSync(state).some((name) => existsSync(join(state, name, "started")));
}

const run = () => callCli(home, ["run", "--store", "memory", "Hello"]);
const approve = (...keys: string[]) => callCli(home, ["mcp", "approve", "tiny"], "", keys);

describe("a server of harness.md", () => {
  test("is left out until somebody approves it, and the run says how", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    await ackProject(home);
    const { code, err } = await run();
    expect(code).toBe(0);
    expect(err).toContain(
      "The MCP server 'tiny' of harness.md is not used: it needs your approval. Run: harness mcp approve tiny.",
    );
    expect(hasRun()).toBe(false);
    expect(await callCli(home, ["mcp", "test", "tiny"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("it needs your approval"),
    });
    expect(await callCli(home, ["mcp", "approve", "tiny"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("run this command in a terminal"),
    });
    expect(hasRun()).toBe(false);
  });

  test("is shown whole, with the program and its hash, and asks for the network", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny: { ...tiny, env_vars: ["TINY_LOGIN"], network: ["example.com"] } });
    await ackProject(home);
    const { code, err } = await approve("a", "h", "n");
    expect(code).toBe(0);
    expect(err).toContain("The MCP server 'tiny' of harness.md needs your approval");
    expect(err).toContain('"command": "node"');
    expect(err).toMatch(/program \/\S+\/node\n/);
    expect(err).toMatch(/file \S+\/server\.js\n {4}sha256 [0-9a-f]{64}\n/);
    expect(err).toContain("gets these variables of your environment: TINY_LOGIN");
    expect(err).toContain("The entry asks for example.com.");
    const [listed] = JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
    expect(listed).toMatchObject({ name: "tiny", connection: { network: ["example.com"] } });
  });

  test("changes the folders of the workspace that the answer names, whatever the entry asks for", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny: { ...tiny, writable: ["."] } });
    await ackProject(home);
    const { code, err } = await callCli(home, ["mcp", "approve", "tiny"], "", [
      "a",
      "n",
      "f",
      "docs ../x",
      "f",
      "docs src",
    ]);
    expect(err).toContain("../x is not a folder of the workspace.");
    expect(err).toContain("Which files of the workspace may it change? The entry asks for the whole workspace.");
    expect(code).toBe(0);
    const [listed] = JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
    expect(listed).toMatchObject({ name: "tiny", connection: { writable: ["docs", "src"] } });
  });

  test.each(["NODE_OPTIONS", "LD_PRELOAD", "PYTHONPATH", "PATH"])("cannot set the variable %s", async (name) => {
    declare({ tiny: { ...tiny, env: { [name]: "./x" } } });
    const { code, err } = await run();
    expect(code).toBe(2);
    expect(err).toContain(`mcp_servers.tiny: a project cannot set ${name} in "env": it `);
    expect(err).toContain("To use it, declare the server in your own config.toml.");
  });

  test.runIf(hasSandbox)("starts once it is approved, and gets its own folder", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    await ackProject(home);
    expect(await approve("a", "n", "n")).toMatchObject({ code: 0 });
    expect(await callCli(home, ["mcp", "test", "tiny"])).toMatchObject({
      code: 0,
      out: "✓ tiny: 1 tool, MCP 2025-06-18\n",
    });
    expect(hasRun()).toBe(true);
    expect(readdirSync(join(String(home.env.XDG_DATA_HOME), "harness/mcp"))).toEqual([
      expect.stringMatching(/^workspace-[0-9a-f]{16}-tiny$/),
    ]);
  });

  test("that is denied stays out, and is not asked about again", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    await ackProject(home);
    expect(await approve("d")).toMatchObject({ code: 1, err: expect.stringContaining("Denied tiny") });
    const again = await callCli(home, ["run", "--store", "memory", "Hello"], "", []);
    expect(again.err).not.toContain("tiny");
    expect(hasRun()).toBe(false);
  });

  test("whose entry changes needs another approval, whoever acked the file", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    await ackProject(home);
    await approve("a", "n", "n");
    declare({ tiny: { ...tiny, args: ["server.js", "--all"] } });
    await ackProject(home);
    expect((await run()).err).toContain("its entry changed since you answered. Run: harness mcp approve tiny.");
    expect(hasRun()).toBe(false);
  });

  test("of a name that the user has declared is not used", async () => {
    home.configure(`[mcp_servers.tiny]\ncommand = "own-server"\nenabled = true\n`);
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    await ackProject(home);
    const { err } = await callCli(home, ["mcp", "list"]);
    expect(err).toContain("your own entry of the same name in config.toml is used instead");
    const listed = JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
    expect(listed).toMatchObject([{ name: "tiny", connection: { command: "own-server" } }]);
  });

  test.each([
    ["paths", { ...tiny, paths: ["/etc"] }],
    ["private_network", { url: "https://example.com/mcp", private_network: true }],
    ["read_only_tools", { ...tiny, read_only_tools: ["given"] }],
    ["sampling", { ...tiny, sampling: true }],
    ["sandbox", { ...tiny, sandbox: "off" }],
  ])("cannot set %s", async (key, entry) => {
    declare({ tiny: entry });
    const { code, err } = await run();
    expect(code).toBe(2);
    expect(err).toContain(`mcp_servers.tiny: a project cannot set "${key}". To use it, declare the server in your own`);
  });

  test.each(["approve", "restart", "list", "search", "describe", "get_prompt", "Big", "a b", "../x"])(
    "cannot be called %s",
    async (name) => {
      declare({ [name]: tiny });
      const { code, err } = await run();
      expect(code).toBe(2);
      expect(err).toContain(`"${name}" is not valid here`);
    },
  );

  test.each([
    [
      { tiny: { command: "docker", args: ["run", "x"] } },
      'declare the server in your own config.toml with sandbox = "off"',
    ],
    [{ tiny: { command: "no-such-program" } }, "the program no-such-program does not exist"],
    [{ tiny: { command: "npx", args: ["-y", "https://example.com/x.tgz"] } }, "with a package of the registry"],
    [{ tiny: { command: "npx", args: ["-y", "./package"] } }, "with a package of the registry"],
    [{ tiny: { command: "npx", args: ["-y", "--package=x", "y"] } }, "with a package of the registry"],
    [{ tiny: { command: "uvx", args: ["git+https://example.com/x"] } }, "with a package of the registry"],
    [{ tiny: { ...tiny, sha256: "0".repeat(64) } }, "its entry pins sha256 0000"],
    [{ tiny: { ...tiny, env_vars: ["ANTHROPIC_API_KEY"] } }, "ANTHROPIC_API_KEY, which belongs to Harness"],
    [{ tiny: { url: "https://x.org", bearer_token_env_var: "HARNESS_MACHINE_KEY" } }, "which belongs to Harness"],
  ])("cannot be approved: %j", async (servers, told) => {
    home.put("server.js", TINY_SERVER);
    declare(servers);
    await ackProject(home);
    const { code, err } = await approve("a", "n", "n");
    expect(code).toBe(1);
    expect(err).toContain(told);
    expect((await run()).err).toContain("The MCP server 'tiny' of harness.md is not used");
  });
});

describe.runIf(hasSandbox)("what was approved is what starts", () => {
  const MISMATCH = (path: string) =>
    new RegExp(
      `MCP server 'tiny' refused to start: the binary at \\S*${path} changed. Expected sha256 [0-9a-f]{64}.*, found [0-9a-f]{64}. ` +
        "To approve the new binary, run /mcp:approve tiny or edit \\S+/harness.md to update the pin.",
    );

  test("a script that changed does not start, the turn goes on, and approving it again shows both hashes", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    await ackProject(home);
    await approve("a", "n", "n");
    home.put("server.js", `${TINY_SERVER}// changed`);
    const { code, err } = await run();
    expect(code).toBe(0);
    expect(err).toContain("MCPServerSHA256Mismatch");
    expect(err).toMatch(MISMATCH("server.js"));
    expect(hasRun()).toBe(false);
    const tested = await callCli(home, ["mcp", "test", "--json"]);
    expect(JSON.parse(tested.out)).toMatchObject([{ state: "down", reason: "MCPServerSHA256Mismatch" }]);
    const again = await approve("a", "k", "k");
    expect(again.err).toMatch(/sha256 [0-9a-f]{64}\n {4}before [0-9a-f]{64}\n/);
    expect(await callCli(home, ["mcp", "test"])).toMatchObject({ code: 0 });
  });

  test("a program that a link now leads to does not start, even with the same bytes", async () => {
    home.put("a.js", TINY_SERVER);
    home.put("b/a.js", TINY_SERVER);
    const link = join(home.workspace, "server.js");
    symlinkSync("a.js", link);
    declare({ tiny });
    await ackProject(home);
    await approve("a", "n", "n");
    rmSync(link);
    symlinkSync("b/a.js", link);
    expect((await run()).err).toMatch(MISMATCH("server.js"));
    expect(hasRun()).toBe(false);
  });

  test("what another option loads before the script is pinned as well", async () => {
    home.put("server.js", TINY_SERVER);
    home.put("first.js", "");
    declare({ tiny: { ...tiny, args: ["--require=./first.js", "server.js"] } });
    await ackProject(home);
    await approve("a", "n", "n");
    home.put("first.js", "require('node:fs').writeFileSync(process.env.HOME + '/started', '')");
    expect((await run()).err).toMatch(MISMATCH("first.js"));
    expect(hasRun()).toBe(false);
  });

  test("a script that is given to another program than an interpreter is pinned as well", async () => {
    home.put("tools/server.py", "");
    home.put("tools/data.csv", "");
    declare({ tiny: { command: "true", args: ["run", "tools/server.py", "tools/data.csv"] } });
    await ackProject(home);
    const { err } = await approve("a", "n", "n");
    expect(err).toMatch(/file \S+\/tools\/server\.py\n/);
    expect(err).not.toContain("file tools/data.csv");
    home.put("tools/server.py", "changed");
    expect((await run()).err).toMatch(MISMATCH("tools/server.py"));
  });

  test("a file that is called like a command of the interpreter does not take the place of the script", async () => {
    home.put("run", "");
    home.put("server.js", TINY_SERVER);
    declare({ tiny: { command: "node", args: ["run", "server.js"] } });
    await ackProject(home);
    const { err } = await approve("a", "n", "n");
    expect(err).toMatch(/file \S+\/run\n[\s\S]*file \S+\/server\.js\n/);
  });

  test.each([
    ["node", ["-e", "1"]],
    ["make", ["server"]],
    ["env", ["NODE_OPTIONS=--require ./evil.js", "node", "server.js"]],
    ["node", ["--require", "./server.js", "server"]],
  ])("a command that says more than a file can be pinned for says so: %s", async (command, args) => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny: { command, args } });
    await ackProject(home);
    const { err } = await approve("q");
    expect(err).toContain("What runs is not pinned as a whole:");
  });

  test("a program of the same name in the workspace is not found", async () => {
    home.put("server.js", TINY_SERVER);
    declare({ tiny });
    home = { ...home, env: { ...home.env, PATH: `${home.workspace}:${home.env.PATH}` } };
    await ackProject(home);
    await approve("a", "n", "n");
    writeFileSync(join(home.workspace, "node"), "#!/bin/sh\ntouch $HOME/started\n", { mode: 0o755 });
    const tested = await callCli(home, ["mcp", "test"]);
    expect(tested).toMatchObject({ code: 0, out: expect.stringContaining("✓ tiny: 1 tool") });
  });

  test("the user's own entry with a hash does not start another file", async () => {
    const script = home.put("own.js", TINY_SERVER);
    await callCli(home, ["mcp", "add", "tiny", "--", NODE, script]);
    const file = join(String(home.env.XDG_CONFIG_HOME), "harness/config.toml");
    const pinned = readFileSync(file, "utf8");
    expect(pinned).toMatch(/sha256 = "[0-9a-f]{64}"/);
    home.put("own.js", `${TINY_SERVER}// changed`);
    const { code, out } = await callCli(home, ["mcp", "test"]);
    expect(code).toBe(1);
    expect(out).toContain("✗ tiny: MCP server 'tiny' refused to start: the binary at");
    expect(await approve("a")).toMatchObject({ code: 0, err: expect.stringContaining("before ") });
    expect(readFileSync(file, "utf8")).not.toBe(pinned);
    expect(readFileSync(file, "utf8").replace(/sha256 = .*/, "")).toContain(
      pinned.replace(/sha256 = .*\n/, "").split("\n")[1],
    );
    expect(await approve("a")).toMatchObject({ code: 0, err: expect.stringContaining("has not changed") });
  });
});

describe.runIf(hasSandbox)("a server of an agent", () => {
  test("is there for that delegate alone, and ends with it", async () => {
    const { outside } = createTemporaryWorkspace();
    const data = join(outside, "data");
    const checkout = dirname(import.meta.dirname);
    const { connection, ...server } = stdioServer("shell", [join(checkout, "test/fakes/shell-mcp-server.ts")]);
    const paths = [checkout];
    const offered: string[][] = [];
    const names = ({ request }: { request: { tools: readonly { name: string }[] } }) => {
      offered.push(request.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp")));
    };
    const rig = await createDelegationRig(
      { ".harness/agents/scout.md": agentFile("scout"), ".harness/agents/other.md": agentFile("other") },
      {
        root: [delegates({ agent: "scout", task: "Go." }), delegates({ agent: "other", task: "Go." }), answers("done")],
        scout: (call, step) => {
          if (step === 0) names(call as never);
          return step === 0 ? makes(["mcp.shell.sh", { script: "echo from the server" }]) : answers("seen");
        },
        other: (call) => {
          names(call as never);
          return answers("nothing");
        },
      },
      {
        autoApprove: true,
        extraEnv: { HOME: data, XDG_DATA_HOME: data },
        settings: { agentServers: { scout: [{ ...server, connection: { ...connection, paths } as never }] } },
      },
    );
    await rig.send("go");
    expect(offered).toEqual([["mcp.shell.sh"], []]);
    const results = rig.allOf("ToolResult").map(({ content }) => JSON.stringify(content));
    expect(results[0]).toContain("from the server");
  });
});
