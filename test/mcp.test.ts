/** MCP servers through the whole program: in their confinement, behind the gate, on the record. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { McpServer } from "#artifacts";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { CHECKOUT, createMcpRig, runs, shell, shown, textOf } from "./fakes/mcp-rig.ts";
import { referenceServer } from "./fakes/mcp-world.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

describe.runIf(hasSandbox)("a server of the user's configuration", () => {
  test("is offered, judged, called and written down", async () => {
    const rig = await createMcpRig(
      [calls(["mcp.everything.echo", { message: "hi" }]), says("done")],
      [shown(referenceServer("everything"))],
      { allow: ["mcp.everything.echo"] },
    );
    await rig.send();
    expect(textOf(rig)).toContain("Echo: hi");
    expect(rig.of("ToolResult")[0]).toMatchObject({ outcome: "ok", labels: ["untrusted"] });
    expect(rig.of("ToolIntent")[0]).toMatchObject({ name: "mcp.everything.echo", class: "mutating" });
    expect(rig.of("ToolOutcome")[0]?.effects).toEqual([{ port: "server", target: "mcp.everything.echo" }]);
    const offered = rig.vendor.requests[0]?.body as { tools: { function: { name: string; description: string } }[] };
    const echo = offered.tools.find(({ function: { name } }) => name === "mcp_everything_echo");
    expect(echo?.function.description).toContain("In the words of the MCP server 'everything'");
  });

  test("is not called without a rule or a person, nor against a rule, nor in plan mode", async () => {
    const call = calls(["mcp.everything.echo", { message: "hi" }]);
    const servers = [shown(referenceServer("everything"))];
    const unasked = await createMcpRig([call, says("done")], servers);
    await unasked.send();
    expect(unasked.of("ToolResult")[0]).toMatchObject({ outcome: "denied" });
    const denied = await createMcpRig([call, says("done")], servers, {
      autoApprove: true,
      settings: { permissions: [{ effect: "deny", rule: "mcp.*", source: "test" }], mcpServers: servers },
    });
    await denied.send();
    expect(denied.of("ToolResult")[0]).toMatchObject({ outcome: "denied" });
    const planning = await createMcpRig([call, says("done")], servers, { autoApprove: true });
    await planning.submit({ kind: "EnterPlanMode" });
    await planning.send();
    expect(planning.of("ToolResult")[0]).toMatchObject({ outcome: "denied" });
    for (const rig of [unasked, denied, planning]) expect(rig.of("ToolOutcome")).toEqual([]);
  });

  test("does not change the workspace", async () => {
    const rig = await createMcpRig([], (root) => [shown(referenceServer("filesystem", [root]))], { autoApprove: true });
    const root = rig.of("SessionStarted")[0]?.working_dir ?? "";
    rig.vendor.reply(
      calls(["mcp.filesystem.write_file", { path: join(root, "made.txt"), content: "x" }]),
      says("done"),
    );
    await rig.send();
    expect(rig.of("ToolResult")[0]).toMatchObject({ is_error: true });
    expect(existsSync(join(root, "made.txt"))).toBe(false);
  });

  test("reads no secret file of the workspace", async () => {
    const rig = await createMcpRig(
      [runs("cat .env notes.txt"), says("done")],
      (root) => {
        writeFileSync(join(root, ".env"), "KEY_FOR=walrus");
        writeFileSync(join(root, "notes.txt"), "plain words");
        return [shown(shell())];
      },
      { autoApprove: true },
    );
    await rig.send();
    expect(textOf(rig)).toContain("plain words");
    expect(textOf(rig)).not.toContain("walrus");
  });

  test.each([
    ["/", "cannot be shown to a server"],
    ["/proc/self/..", "cannot be shown to a server"],
    ["/no/such/folder", "does not exist"],
    ["DATA/harness/mcp", "belongs to the files of this program"],
  ])("is not shown %s", async (path, told) => {
    const { outside } = createTemporaryWorkspace();
    mkdirSync(join(outside, "harness/mcp"), { recursive: true });
    const { connection, ...server } = shell();
    const paths = [CHECKOUT, path.replace("DATA", outside)];
    const rig = await createMcpRig([says("done")], [{ ...server, connection: { ...connection, paths } as never }], {
      extraEnv: { XDG_DATA_HOME: outside },
    });
    await rig.send();
    expect(rig.logged.join("\n")).toContain(told);
    expect(rig.harness.servers()).toMatchObject([{ lastError: expect.stringContaining(told) }]);
  });

  test("keeps files of its own from one session to the next", async () => {
    const create = [
      "mcp.memory.create_entities",
      { entities: [{ name: "Ada", entityType: "person", observations: ["x"] }] },
    ];
    const server = shown(referenceServer("memory", [], { env: { MEMORY_FILE_PATH: "/run/harness/home/memory.json" } }));
    const rig = await createMcpRig([calls(create as [string, unknown]), says("done")], [server], { autoApprove: true });
    await rig.send();
    expect(existsSync(join(rig.data, "harness/mcp/memory/memory.json"))).toBe(true);
  });

  test("cannot make the model or the log read the secrets that it was given", async () => {
    const { connection, ...server } = shown(shell());
    const env = { SERVICE_LOGIN: "zebra-Quartz-4711", MODE: "production", BASE: "https://example.com/v1" };
    const rig = await createMcpRig(
      [runs("printenv SERVICE_LOGIN OWN_THING MODE BASE"), says("done")],
      [{ ...server, connection: { ...connection, env, envVars: ["OWN_THING"] } as McpServer["connection"] }],
      { autoApprove: true, extraEnv: { OWN_THING: "otter/Basalt/0815" } },
    );
    await rig.send();
    const seen = JSON.stringify([rig.events, rig.vendor.requests]);
    expect(seen).toContain("production\\nhttps://example.com/v1");
    for (const secret of ["Quartz", "Basalt"]) expect(seen).not.toContain(secret);
  });

  test("that dies, is cancelled or takes too long leaves an outcome with the effect of each call", async () => {
    const dying = await createMcpRig([runs("kill -9 $PPID"), says("done")], [shown(shell())], { autoApprove: true });
    await dying.send();
    expect(textOf(dying)).toContain("it ended during the call, which may or may not have had its effect");
    const slow = await createMcpRig([runs("sleep 60"), says("done")], [shown(shell({ toolTimeoutMs: 100 }))], {
      autoApprove: true,
    });
    await slow.send();
    const stuck = [runs("touch ~/begun; sleep 60"), says("done")];
    const cancelled = await createMcpRig(stuck, [shown(shell())], { autoApprove: true });
    const turn = cancelled.send();
    await vi.waitUntil(() => existsSync(join(cancelled.data, "harness/mcp/shell/begun")), { timeout: 30_000 });
    await cancelled.submit({ kind: "CancelTurn" });
    await turn;
    for (const rig of [dying, slow, cancelled]) {
      expect(rig.of("ToolOutcome")).toMatchObject([{ effects: [{ port: "server", target: "mcp.shell.sh" }] }]);
      expect(rig.of("ToolResult")).toHaveLength(1);
    }
  });

  test("is on the cassette: a replay starts nothing and does the same", async () => {
    const server = shown(referenceServer("everything"));
    const { outside } = createTemporaryWorkspace();
    const settings = { mcpServers: [server] };
    const recording = await record([calls(["mcp.everything.echo", { message: "hi" }]), says("done")], {
      autoApprove: true,
      extraEnv: { HOME: outside },
      settings,
    });
    const replay = await startReplay(recording, { autoApprove: true, settings });
    await replay.send();
    await replay.harness.shutdown();
    expect(replay.log()).toBe(recording.log);
    expect(replay.log()).toContain("Echo: hi");
  });

  test("that cannot start stops nobody: its tools are missing, and the log says why", async () => {
    const rig = await createMcpRig(
      [says("done")],
      [
        {
          ...shown(referenceServer("everything")),
          name: "broken",
          connection: {
            ...(shown(referenceServer("everything")).connection as object),
            command: "no-such-program",
          } as never,
        },
      ],
    );
    expect((await rig.send()).outcome).toBe("answered");
    expect(rig.logged.join("\n")).toContain("the program no-such-program does not exist");
  });
});
