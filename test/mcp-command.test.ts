/** `harness mcp` on the command line, with a real server. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { callCli } from "./fakes/cli-call.ts";
import { createCliHome } from "./fakes/cli-process.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);
const MEMORY = join(CHECKOUT, "node_modules/@modelcontextprotocol/server-memory/dist/index.js");

test("servers are added to config.toml, listed and removed, and the rest of the file stays", async () => {
  const home = createCliHome();
  const file = join(String(home.env.XDG_CONFIG_HOME ?? join(String(home.env.HOME), ".config")), "harness/config.toml");
  expect((await callCli(home, ["mcp", "list"])).out).toContain("No MCP servers");
  const first = ["mcp", "add", "notes", "-e", "A=1", "--network", "example.com", "--", "notes-server", "--all"];
  expect(await callCli(home, first)).toMatchObject({ code: 0 });
  const before = readFileSync(file, "utf8");
  expect(await callCli(home, ["mcp", "add", "other", "--network", "public", "--", "other-server"])).toMatchObject({
    code: 0,
  });
  const listed = JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
  expect(listed).toMatchObject([
    {
      name: "notes",
      connection: {
        command: "notes-server",
        args: ["--all"],
        env: { A: "1" },
        network: ["example.com"],
      },
    },
    { name: "other", connection: { command: "other-server", network: "public" } },
  ]);
  expect(await callCli(home, ["mcp", "remove", "other"])).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8").trimEnd()).toBe(before.trimEnd());
});

test.each([
  [["mcp", "add", "restart", "--", "x"], "cannot be the name of an MCP server"],
  [["mcp", "add", "Big", "--", "x"], "cannot be the name of an MCP server"],
  [["mcp", "add", "a", "-e", "nothing", "--", "x"], "--env takes NAME=VALUE"],
  [["mcp", "remove", "a"], "has no table [mcp_servers.a]"],
  [["mcp", "test", "a"], "no enabled MCP server 'a'"],
  [["mcp", "test"], "config.toml has no MCP servers"],
])("%j is refused with what is wrong", async (args, told) => {
  const { code, err } = await callCli(createCliHome(), args);
  expect(err).toContain(told);
  expect(code).toBe(2);
});

describe.runIf(hasSandbox)("a server", () => {
  test("is tried, and its tools are listed", async () => {
    const home = createCliHome();
    await callCli(home, ["mcp", "add", "memory", "--path", CHECKOUT, "--", process.execPath, MEMORY]);
    expect(await callCli(home, ["mcp", "test"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^✓ memory: 9 tools, MCP /),
    });
    const tools = JSON.parse((await callCli(home, ["mcp", "tools", "memory", "--json"])).out);
    expect(tools[0]).toMatchObject({ name: "mcp.memory.create_entities", class: "mutating" });
  });

  test("that does not start is exit code 1", async () => {
    const home = createCliHome();
    await callCli(home, ["mcp", "add", "gone", "--", "no-such-program"]);
    expect(await callCli(home, ["mcp", "test"])).toMatchObject({
      code: 1,
      out: "✗ gone: the program no-such-program does not exist\n",
    });
  });
});

/** As little as a server can be. */
const TINY_SERVER = `
const answers = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "tiny", version: "1.2.3" } },
  "tools/list": { tools: [] },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method];
  const body = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
});
`;

test("a package that npx would fetch is installed once, without its scripts, and started from there", async () => {
  const home = createCliHome();
  home.put(
    "package/package.json",
    JSON.stringify({ name: "tiny-server", version: "1.2.3", bin: "index.js", scripts: { install: "touch /tmp/ran" } }),
  );
  home.put("package/index.js", TINY_SERVER);
  const added = await callCli(home, ["mcp", "add", "tiny", "--", "npx", "-y", "./package", "--fast"]);
  expect(added).toMatchObject({ code: 0, err: expect.stringContaining("Installed tiny-server@1.2.3") });
  const [{ connection }] = JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
  const [program, ...args] = connection.args;
  expect([connection.command, args]).toEqual([process.execPath, ["--fast"]]);
  expect(existsSync(program)).toBe(true);
  expect(connection.paths).toContain(program.slice(0, program.indexOf("/node_modules/")));
  if (hasSandbox) {
    const tried = await callCli(home, ["mcp", "test"]);
    expect(tried).toMatchObject({ code: 0, out: "✓ tiny: 0 tools, MCP 2025-06-18\n" });
  }
  await callCli(home, ["mcp", "remove", "tiny"]);
  expect(existsSync(program)).toBe(false);
  const missing = await callCli(home, ["mcp", "add", "none", "--", "npx", "-y", "./not-there"]);
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("npm could not install ") });
});
