/** MCP servers as slash commands of a session, with a real server. */
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { McpServer } from "#artifacts";
import type { SlashArgs } from "#protocol";
import { createHarnessRig, type HarnessRig, type RigOptions, says } from "./fakes/harness-rig.ts";
import { stdioServer } from "./fakes/mcp-world.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);

function modern(): McpServer {
  const { connection, ...server } = stdioServer("new", [join(CHECKOUT, "test/fakes/modern-mcp-server.ts")]);
  if (connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...connection, paths: [CHECKOUT] } };
}

function options(more: Partial<RigOptions["settings"]> = {}): RigOptions {
  const { outside } = createTemporaryWorkspace();
  const missing = stdioServer("gone", []);
  const connection = { ...missing.connection, command: "/nowhere/server" } as McpServer["connection"];
  return {
    extraEnv: { HOME: outside, XDG_DATA_HOME: outside },
    settings: { mcpServers: [modern(), { ...missing, connection }], ...more },
  };
}

async function slash(rig: HarnessRig, word: string, args: SlashArgs = {}) {
  const [namespace = "", name = ""] = word.includes(":") ? word.split(/:(.*)/) : ["", word];
  const { result } = await rig.submit({ kind: "RunSlashCommand", namespace, name, args });
  return result;
}

describe.runIf(hasSandbox)("the MCP servers of a session", () => {
  test("are listed with their state before and after they start, and restarted one by one", async () => {
    const rig = await createHarnessRig([says("hello")], options());
    const words = rig.harness.slashCommands(rig.session).map(({ namespace, name }) => `${namespace}:${name}`);
    expect(words).toEqual(
      expect.arrayContaining([":mcp", "mcp:list", "mcp:restart", "mcp:approve", "mcp:new", "mcp:gone"]),
    );
    expect((await slash(rig, "mcp")).text).toBe("  new: stopped, 0 tools\n  gone: stopped, 0 tools");
    expect((await slash(rig, "health")).text).toContain("  mcp_servers: ok: new stopped, gone stopped\n");
    await rig.send();
    expect((await slash(rig, "health")).text).toMatch(/^ {2}mcp_servers: (failing|ok): new ready, gone (down|starting)$/m);
    const listed = String((await slash(rig, "mcp:list")).text);
    // It is tried again after a second.
    expect(listed).toMatch(/^ {2}new: ready, 8 tools\n {2}gone: (down|starting), 0 tools; last error: it exited/);
    expect((await slash(rig, "mcp:new")).text).toContain("new: ready\n  tools: 8\n  restarts: 0\n  protocol: MCP 20");
    expect((await slash(rig, "mcp:new", { action: "restart" })).text).toContain(
      "new: ready\n  tools: 8\n  restarts: 1",
    );
    expect((await slash(rig, "mcp:restart", { server: "new" })).text).toContain("  restarts: 2");
    await expect(slash(rig, "mcp:restart", { server: "no\u001b[2J" })).rejects.toThrow(
      "has no MCP server 'no⟨U+001B⟩[2J'. It has new, gone.",
    );
    await expect(slash(rig, "mcp:new", { action: "stop" })).rejects.toThrow("Usage: /mcp:new [status|restart]");
  });
});

test("a session without servers says so, and only people are told how to approve one", async () => {
  const rig = await createHarnessRig([]);
  expect((await slash(rig, "health")).text).toContain("  mcp_servers: none\n");
  expect((await slash(rig, "mcp")).text).toContain("This session has no MCP servers.");
  await expect(slash(rig, "mcp:restart", { server: "a" })).rejects.toThrow("It has none.");
  expect((await slash(rig, "mcp:approve", { server: "notes" })).text).toContain(": harness mcp approve notes");
  expect((await slash(rig, "mcp:approve", { server: "a; rm" })).text).toContain("harness mcp approve NAME");
  const agent = await createHarnessRig([], { identityClass: "agent" });
  await expect(slash(agent, "mcp:approve", { server: "notes" })).rejects.toThrow("Only a human may approve");
});
