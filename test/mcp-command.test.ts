/** `harness mcp` on the command line, with a real server. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { callCli } from "./fakes/cli-call.ts";
import { createCliHome } from "./fakes/cli-process.ts";
import { answerWith, serveOnLoopback } from "./fakes/http-mcp-server.ts";
import { modernHandler } from "./fakes/modern-mcp-server.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);
const MEMORY = join(CHECKOUT, "node_modules/@modelcontextprotocol/server-memory/dist/index.js");

test("servers are added to config.toml, listed and removed, and the rest of the file stays", async () => {
  const home = createCliHome();
  const file = join(String(home.env.XDG_CONFIG_HOME ?? join(String(home.env.HOME), ".config")), "harness/config.toml");
  expect((await callCli(home, ["mcp", "list"])).out).toContain("No MCP server is in use.");
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
  expect(await callCli(home, ["mcp", "disable", "other"])).toMatchObject({ code: 0 });
  expect(JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out)).toMatchObject([{ name: "notes" }]);
  const isDisabled = "The MCP server 'other' of config.toml is disabled. To enable it: harness mcp enable other.";
  expect((await callCli(home, ["mcp", "list"])).err).toBe(`${isDisabled}\n`);
  expect(await callCli(home, ["mcp", "get", "other"])).toMatchObject({
    code: 2,
    err: `✗ UsageInvalid: ${isDisabled}\n`,
  });
  expect(await callCli(home, ["mcp", "enable", "other"])).toMatchObject({ code: 0 });
  const got = JSON.parse((await callCli(home, ["mcp", "get", "other", "--json"])).out);
  expect(got).toMatchObject({ name: "other", tools: [], waiting: [] });
  expect((await callCli(home, ["doctor"])).out).toContain("other: the program other-server does not exist");
  expect(await callCli(home, ["mcp", "remove", "other"])).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8").trimEnd()).toBe(before.trimEnd());
});

test("a server on the network is added with its headers, and tried", async () => {
  const handle = modernHandler();
  const { origin, seen } = await serveOnLoopback((request, response) => answerWith(handle, request, response));
  const home = createCliHome();
  const headers = ["--header", "X-Team: blue", "--bearer-token-env-var", "NET_TOKEN"];
  expect(await callCli(home, ["mcp", "add", "net", "--url", `${origin}/mcp`, ...headers])).toMatchObject({ code: 0 });
  const [{ connection }] = JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out);
  const entry = { kind: "http", url: `${origin}/mcp`, headers: { "X-Team": "blue" }, bearerVariable: "NET_TOKEN" };
  expect(connection).toMatchObject(entry);
  expect(await callCli(home, ["mcp", "test"])).toMatchObject({
    code: 1,
    out: expect.stringContaining("the variable NET_TOKEN, which its entry in config.toml names, is not set"),
  });
  const withToken = { ...home, env: { ...home.env, NET_TOKEN: "mcp-token-0b7d6053" } };
  expect(await callCli(withToken, ["mcp", "test"])).toMatchObject({ code: 0, out: "✓ net: 8 tools, MCP 2026-07-28\n" });
  expect(seen.at(-1)?.headers).toMatchObject({ "x-team": "blue", authorization: "Bearer mcp-token-0b7d6053" });
});

test("an address that is no MCP server is named with what it answered", async () => {
  const { origin } = await serveOnLoopback(async (_request, response) => {
    response.writeHead(403).end("members only");
  });
  const home = createCliHome();
  await callCli(home, ["mcp", "add", "net", "--url", `${origin}/mcp`]);
  expect(await callCli(home, ["mcp", "test"])).toMatchObject({
    code: 1,
    out: "✗ net: its address answered HTTP 403: members only\n",
  });
});

test.each([
  [["mcp", "add", "a", "--url", "ftp://x"], "http or https address"],
  [["mcp", "add", "a", "--url", "https://x.org", "--", "x"], "--url takes no command"],
  [["mcp", "add", "a", "--url", "https://x.org", "--transport", "ws"], "--transport is http or sse"],
  [["mcp", "add", "a", "--url", "https://x.org", "--header", "x"], "--header takes 'Name: value'"],
  [["mcp", "add", "a"], "name the program or the address"],
  [["mcp", "add", "restart", "--", "x"], "cannot be the name of an MCP server"],
  [["mcp", "add", "Big", "--", "x"], "cannot be the name of an MCP server"],
  [["mcp", "add", "a", "-e", "nothing", "--", "x"], "--env takes NAME=VALUE"],
  [["mcp", "add", "a", "--url", "ftp://a"], "--url takes an http or https address without a login, not 'ftp://a'"],
  [["mcp", "add", "a", "--url", "https://a.example", "--writable", "."], "--url takes no command"],
  [["mcp", "add", "a", "--writable", "../b", "--", "x"], "--writable takes a folder relative to the workspace"],
  [["mcp", "remove", "a"], "has no table [mcp_servers.a]"],
  [["mcp", "test", "a"], "has no MCP server 'a'"],
  [
    ["mcp", "approve", "a"],
    "config.toml has no MCP server 'a'. To approve one of a project, run this command in a terminal",
  ],
  [["mcp", "test"], "config.toml has no enabled MCP server"],
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
    expect(tools).toContainEqual(expect.objectContaining({ name: "mcp.memory.create_entities", class: "mutating" }));
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

test.runIf(hasSandbox)("a tool that has changed is shown as a diff, and offered once it is approved", async () => {
  const home = createCliHome();
  const run = (...args: string[]) => callCli(home, ["mcp", ...args]);
  /** The value of a variable is not part of what a server is. */
  const serve = async (version: string) => {
    const started = [process.execPath, join(CHECKOUT, "test/fakes/shell-mcp-server.ts")];
    const entry = ["sh", "-e", `TOOL_VERSION=${version}`, "--path", CHECKOUT, "--", ...started];
    expect(await run("add", ...entry)).toMatchObject({ code: 0 });
  };
  await serve("1");
  expect((await run("approve", "sh")).err).toContain("has not seen the tools of sh yet");
  expect(await run("test", "sh")).toMatchObject({ code: 0 });
  expect((await run("approve", "sh")).err).toContain("No tool of sh waits");
  await run("remove", "sh");
  await serve("2");
  expect(JSON.parse((await run("tools", "--json")).out)).toMatchObject([
    { name: "mcp.sh.sh", description: expect.stringContaining("harness mcp approve sh") },
  ]);
  expect(await run("approve", "sh")).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect((await callCli(home, ["doctor"])).out).toContain("sh: 0 tools, and 1 new or changed ones wait for approval");
  const { code, out } = await run("approve", "sh", "--yes");
  expect(code).toBe(0);
  expect(out).toContain("-Version 1.");
  expect(out).toContain("+Version 2.");
  expect(JSON.parse((await run("tools", "--json")).out)).toMatchObject([
    { name: "mcp.sh.sh", description: expect.stringContaining("Version 2.") },
  ]);
});

test("the servers of a profile are listed with it, and a changed program names the file of the profile", async () => {
  const home = createCliHome();
  const script = home.put("server.js", TINY_SERVER);
  const entry = `[mcp_servers.tiny]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(script)}]\n`;
  const profile = home.put("work.toml", `name = "work"\n${entry}sha256 = "${"0".repeat(64)}"\n`);
  expect(JSON.parse((await callCli(home, ["mcp", "list", "--json"])).out)).toEqual([]);
  const [listed] = JSON.parse((await callCli(home, ["mcp", "list", "--json", "--profile", profile])).out);
  expect(listed).toMatchObject({ name: "tiny", declaredIn: profile });
  const { code, out } = await callCli(home, ["mcp", "test", "--profile", profile]);
  expect(code).toBe(1);
  expect(out).toContain(profile);
  expect(await callCli(home, ["mcp", "get", "nobody", "--profile", profile])).toMatchObject({
    code: 2,
    err: expect.stringContaining("config.toml and the profile have no MCP server 'nobody'; there is tiny"),
  });
});
