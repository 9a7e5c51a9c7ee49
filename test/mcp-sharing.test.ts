/** Sessions of one program and their MCP servers: which of them share a process. */
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { McpServer } from "#artifacts";
import type { SessionId } from "#protocol";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { stdioServer } from "./fakes/mcp-world.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);

/** Its `/tmp` is its own, so whoever finds a file there speaks to the process that wrote it. */
function shell(network: readonly string[] = []): McpServer {
  const server = stdioServer("shell", [join(CHECKOUT, "test/fakes/shell-mcp-server.ts")]);
  if (server.connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...server.connection, network, paths: [CHECKOUT] } };
}

async function createRig(server: McpServer) {
  const { root, outside } = createTemporaryWorkspace();
  const rig = await createHarnessRig([], {
    autoApprove: true,
    workspace: root,
    extraEnv: { HOME: outside, XDG_DATA_HOME: outside, XDG_STATE_HOME: outside },
    settings: { mcpServers: [server] },
  });
  return { ...rig, root };
}

async function run({ client, vendor, events }: HarnessRig, session: SessionId, script: string): Promise<string> {
  vendor.reply(calls(["mcp.shell.sh", { script }]), says("done"));
  const { done } = await client.submit({ kind: "SendInput", session, content: [{ type: "text", text: "go" }] });
  await done;
  const results = events.filter((event) => event.kind === "ToolResult" && event.session === session);
  return JSON.stringify(results.at(-1)?.payload);
}

test.runIf(hasSandbox)("one workspace: one process, and each call is on the record of its own session", async () => {
  const rig = await createRig(shell());
  const { session: other } = await rig.client.submit({ kind: "CreateSession", working_dir: rig.root });
  await run(rig, rig.session, "echo from the first > /tmp/mark");
  expect(await run(rig, other, "cat /tmp/mark")).toContain("from the first");
  const outcomes = rig.events.filter(({ kind }) => kind === "ToolOutcome");
  expect(outcomes.map(({ session }) => session)).toEqual([rig.session, other]);
  await rig.client.submit({ kind: "EndSession", session: rig.session });
  expect(await run(rig, other, "cat /tmp/mark")).toContain("from the first");
  await rig.client.submit({ kind: "EndSession", session: other });
  const { session: later } = await rig.client.submit({ kind: "CreateSession", working_dir: rig.root });
  expect(await run(rig, later, "cat /tmp/mark")).toContain("No such file");
});

test.runIf(hasSandbox)("another workspace, and a server with network: a process for each session", async () => {
  const rig = await createRig(shell());
  await run(rig, rig.session, "touch /tmp/mark");
  const elsewhere = { kind: "CreateSession", working_dir: createTemporaryWorkspace().root } as const;
  const { session: other } = await rig.client.submit(elsewhere);
  expect(await run(rig, other, "cat /tmp/mark")).toContain("No such file");
  const reaching = await createRig(shell(["example.com"]));
  await run(reaching, reaching.session, "touch /tmp/mark");
  const { session: second } = await reaching.client.submit({ kind: "CreateSession", working_dir: reaching.root });
  expect(await run(reaching, second, "cat /tmp/mark")).toContain("No such file");
});
