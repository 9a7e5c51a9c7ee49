/** Answers about a project's MCP servers in lock files: a runner of CI starts what somebody approved elsewhere, and nothing else. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ackProject } from "./fakes/ack-project.ts";
import { callCli } from "./fakes/cli-call.ts";
import { type CliHome, createCliHome, offlineModel } from "./fakes/cli-process.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";
import { TINY_SERVER } from "./fakes/tiny-mcp-server.ts";

/** An interpreter that is not the Node that runs this: its hash would differ on another machine. */
const shell = { command: "sh", args: ["server.sh"] };
const SERVER = `exec '${process.execPath}' server.js\n`;

let home: CliHome;
beforeEach(async () => {
  home = createCliHome({ ...offlineModel, XDG_STATE_HOME: "" });
  home.put("server.js", TINY_SERVER);
  home.put("server.sh", SERVER);
});

function declare(servers: Readonly<Record<string, unknown>>): void {
  home.put("harness.md", `---\nmcp_servers: ${JSON.stringify(servers)}\n---\n\nYou help.\n`);
}

async function approved(name: string, ...keys: readonly string[]): Promise<void> {
  await callCli(home, ["mcp", "approve", name], "", keys);
}

const emit = () => callCli(home, ["ack", "--emit-lockfile"]);

/** The same files in another folder, on a machine where nobody has answered anything. */
function checkout(): CliHome {
  const runner = createCliHome({ ...offlineModel, XDG_STATE_HOME: "" });
  cpSync(home.workspace, runner.workspace, { recursive: true });
  return { ...runner, env: { ...runner.env, HARNESS_LOCKFILE: join(runner.workspace, "approved.lock") } };
}

describe("a lock file with an approved server", () => {
  beforeEach(async () => {
    declare({ tiny: { ...shell, network: ["example.com"], writable: ["out"] } });
    await ackProject(home);
    await approved("tiny", "a", "h", "f", "out");
    await emit();
  });

  test("names its files from the project, and no interpreter", () => {
    const { servers } = JSON.parse(readFileSync(join(home.workspace, "approved.lock"), "utf8"));
    expect(servers).toMatchObject([
      {
        ...{ name: "tiny", answer: "approved", network: ["example.com"], writable: ["out"] },
        files: [{ path: "server.sh", real: "server.sh" }],
      },
    ]);
    expect(servers[0].files).toHaveLength(1);
  });

  test("gives the server to a checkout elsewhere", async () => {
    const runner = checkout();
    expect(await callCli(runner, ["verify-ack"])).toMatchObject({ code: 0 });
    const [listed] = JSON.parse((await callCli(runner, ["mcp", "list", "--json"])).out);
    expect(listed).toMatchObject({ name: "tiny", connection: { network: ["example.com"], writable: ["out"] } });
    const { code, err } = await callCli(runner, ["run", "--store", "memory", "Hello"]);
    expect([code, err]).toEqual([0, expect.not.stringContaining("tiny")]);
  });

  test("is red for another script, and the server does not start", async () => {
    const runner = checkout();
    runner.put("server.sh", "touch $HOME/started");
    const { code, out } = await callCli(runner, ["verify-ack", "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { ok: false, reason: "MCPServerSHA256Mismatch", changed: [], servers: [{ name: "tiny", change: "program" }] },
    ]);
    expect(await callCli(runner, ["mcp", "test"])).toMatchObject({
      code: 1,
      out: expect.stringContaining("✗ tiny: MCP server 'tiny' refused to start"),
    });
  });

  test("does not leave an interpreter that the project brings to the machine", async () => {
    const runner = checkout();
    runner.put("sh", "#!/bin/sh\n");
    declare({ tiny: { command: "./sh", args: ["server.sh"], network: ["example.com"] } });
    const { out } = await callCli(runner, ["verify-ack", "--lockfile", await relocked(runner), "--json"]);
    expect(JSON.parse(out)).toMatchObject({ ok: false, servers: [{ name: "tiny", change: "changed" }] });
  });
});

/** A lock file of the files as they are now, with the answers of before. */
async function relocked(runner: CliHome): Promise<string> {
  const before = JSON.parse(readFileSync(join(runner.workspace, "approved.lock"), "utf8"));
  cpSync(join(home.workspace, "harness.md"), join(runner.workspace, "harness.md"));
  await ackProject(home);
  await emit();
  const now = JSON.parse(readFileSync(join(home.workspace, "approved.lock"), "utf8"));
  return runner.put("mixed.lock", JSON.stringify({ ...now, servers: before.servers }));
}

test.runIf(hasSandbox)("a server that was approved elsewhere starts", async () => {
  declare({ tiny: { command: "node", args: ["server.js"] } });
  await ackProject(home);
  await approved("tiny", "a", "n", "n");
  await emit();
  const tested = await callCli(checkout(), ["mcp", "test"]);
  expect(tested).toMatchObject({ code: 0, out: expect.stringContaining("✓ tiny") });
});

test("a denied server is left out and is no reason to fail; one without an answer is", async () => {
  declare({ tiny: shell, other: { command: "sh", args: ["server.js"] } });
  await ackProject(home);
  await approved("tiny", "d");
  expect((await emit()).err).toContain(
    "The MCP server 'other' has no answer yet. To add it: harness mcp approve other",
  );
  expect(await callCli(checkout(), ["verify-ack"])).toMatchObject({
    code: 1,
    out: "new     other: nobody has answered about it\n",
  });
  await approved("other", "d");
  await emit();
  const runner = checkout();
  expect(await callCli(runner, ["verify-ack"])).toMatchObject({ code: 0 });
  expect(JSON.parse((await callCli(runner, ["mcp", "list", "--json"])).out)).toEqual([]);
});
