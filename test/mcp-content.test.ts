/** Questions and resources of MCP servers through the whole program: behind the gate, on the record, and on a cassette. */
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { McpServer } from "#artifacts";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { stdioServer } from "./fakes/mcp-world.ts";
import { agentFile, answers, delegates, makes } from "./fakes/roles.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);

function modern(): McpServer {
  const { connection, ...server } = stdioServer("new", [join(CHECKOUT, "test/fakes/modern-mcp-server.ts")]);
  if (connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...connection, paths: [CHECKOUT] } };
}

function options(allow: readonly string[]) {
  const { outside } = createTemporaryWorkspace();
  const permissions = allow.map((rule) => ({ effect: "allow" as const, rule, source: "test" }));
  return { extraEnv: { HOME: outside, XDG_DATA_HOME: outside }, settings: { permissions, mcpServers: [modern()] } };
}

const textOf = (rig: Pick<HarnessRig, "of">): string =>
  JSON.stringify(rig.of("ToolResult").map(({ content }) => content));

describe.runIf(hasSandbox)("an MCP server", () => {
  test("asks a person through a question of its call", async () => {
    const replies = [calls(["mcp.new.where", {}]), says("done")];
    const rig = await createHarnessRig(replies, { ...options(["mcp.new.*"]), interactive: true });
    const turn = rig.send();
    const asked = await rig.next("QuestionAsked");
    expect(asked).toMatchObject({ server: "new", form: [{ name: "place", type: "text" }] });
    await rig.submit({ kind: "AnswerQuestion", call_id: asked.call_id, answer: "Ulm" });
    await turn;
    expect(textOf(rig)).toContain("It is in Ulm.");
    expect(rig.of("QuestionAnswered")).toMatchObject([{ call_id: asked.call_id, answer: "Ulm" }]);
  });

  test("is refused at once where no person is attached", async () => {
    const rig = await createHarnessRig([calls(["mcp.new.where", {}]), says("done")], options(["mcp.new.*"]));
    await rig.send();
    expect(textOf(rig)).toContain("Nobody said.");
    expect(rig.of("QuestionAsked")).toEqual([]);
  });

  test("asks on a cassette: the replay does the same without it", async () => {
    const shared = options(["mcp.new.*"]);
    const recording = await record([calls(["mcp.new.where", {}]), says("done")], {
      ...shared,
      interactive: true,
      async drive(rig) {
        const turn = rig.send();
        const { call_id } = await rig.next("QuestionAsked");
        await rig.submit({ kind: "AnswerQuestion", call_id, answer: "Ulm" });
        await turn;
      },
    });
    const replay = await startReplay(recording, { settings: shared.settings });
    await replay.send();
    await replay.harness.shutdown();
    expect(replay.log()).toBe(recording.log);
    expect(replay.log()).toContain("It is in Ulm.");
  });

  test("tells its progress and what it logs", async () => {
    const lines: string[] = [];
    const replies = [calls(["mcp.new.steps", {}]), calls(["mcp.new.rewrite", {}]), says("done")];
    const serverLog = (level: string, text: string) => void lines.push(`${level} ${text}`);
    const rig = await createHarnessRig(replies, { ...options(["mcp.new.*"]), serverLog });
    await rig.send();
    const [started] = rig.of("ToolCallStarted");
    const told = rig.of("ToolCallProgress");
    expect(new Set(told.map(({ call_id }) => call_id))).toEqual(new Set([started?.call_id]));
    // What comes at once is one event; each piece is a line of it.
    const pieces = told
      .map(({ text }) => text)
      .join("")
      .split("\n");
    expect(pieces).toEqual([...Array.from({ length: 50 }, (_, at) => `${at + 1} of 50`), ""]);
    expect(lines).toContain("debug new: the note was changed");
  });

  test("has resources: a rule or a person allows reading one, the receipt names it, and a change is told", async () => {
    const read = calls(["mcp.read_resource", { server: "new", uri: "note://1" }]);
    const denied = await createHarnessRig([read, says("done")], options([]));
    await denied.send();
    expect(denied.of("ToolResult")[0]).toMatchObject({ outcome: "denied" });
    const rules = ["mcp.read_resource(new:note://*)", "mcp.new.rewrite"];
    const rig = await createHarnessRig([read, says("read")], options(rules));
    await rig.send();
    expect(rig.of("ToolResult")[0]).toMatchObject({ outcome: "ok", labels: ["untrusted"] });
    expect(rig.of("ToolOutcome")[0]?.effects).toEqual([{ port: "server", target: "@new:note://1" }]);
    // It is watched some time after it was read.
    await expect
      .poll(
        async () => {
          rig.vendor.reply(calls(["mcp.new.rewrite", {}]), says("changed"));
          await rig.send();
          return rig.of("ResourceUpdated").length;
        },
        { timeout: 10_000 },
      )
      .toBe(1);
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("has changed since it was read");
  });

  test("is shared by a delegate, whose calls pass the rules and the policy of its own", async () => {
    const { extraEnv, settings } = options(["mcp.new.add"]);
    const agent = agentFile(
      "adder",
      "tools: [mcp.new.add, mcp.new.rewrite]\ntools_policy:\n  mode: denylist\n  deny: [mcp.new.rewrite]\n",
    );
    const rig = await createDelegationRig(
      { ".harness/agents/adder.md": agent },
      {
        root: [makes(["mcp.new.add", { a: 1, b: 1 }]), delegates({ agent: "adder", task: "Add." }), answers("done")],
        adder: [makes(["mcp.new.add", { a: 20, b: 3 }]), makes(["mcp.new.rewrite", {}]), answers("added")],
      },
      { env: { PATH: process.env.PATH, ...extraEnv }, settings },
    );
    await rig.send("go");
    const [child] = rig.children();
    const results = rig.ofSession(child, "ToolResult");
    expect(JSON.stringify(results[0]?.content)).toContain("23");
    expect(results[1]).toMatchObject({ outcome: "denied" });
    expect(rig.ofSession(child, "ToolOutcome")[0]?.effects).toEqual([{ port: "server", target: "mcp.new.add" }]);
    expect(rig.harness.servers()).toHaveLength(1);
  });
});
