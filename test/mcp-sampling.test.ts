/** Servers that have the model answer them: where the user's entry allows it, behind the gate, within the budget, in the costs. */
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { McpServer } from "#artifacts";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { calls, createHarnessRig, type HarnessRig, type RigOptions, says } from "./fakes/harness-rig.ts";
import { referenceServer, stdioServer } from "./fakes/mcp-world.ts";
import type { MockReply } from "./fakes/mock-reply.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);
const THINK = calls(["mcp.new.think", {}]);
const ALLOWED = ["mcp.new.think", "mcp.sample(new)"];

function shown({ connection, ...server }: McpServer, sampling = true): McpServer {
  if (connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...connection, paths: [CHECKOUT] }, ...(sampling && { sampling: true }) };
}

const modern = (): McpServer => stdioServer("new", [join(CHECKOUT, "test/fakes/modern-mcp-server.ts")]);

function options(server: McpServer, allow: readonly string[], more: Partial<RigOptions["settings"]> = {}) {
  const { outside } = createTemporaryWorkspace();
  const permissions = allow.map((rule) => ({ effect: "allow" as const, rule, source: "test" }));
  const settings = { permissions, mcpServers: [server], ...more };
  return { extraEnv: { HOME: outside, XDG_DATA_HOME: outside }, settings };
}

async function ask(replies: readonly MockReply[], given: ReturnType<typeof options>): Promise<HarnessRig> {
  const rig = await createHarnessRig(replies, given);
  await rig.send();
  return rig;
}

const answerOf = (rig: HarnessRig): string =>
  JSON.stringify(rig.of("ToolResult").find(({ parent }) => parent === undefined)?.content);
const used = (text: string, stop?: string): MockReply => ({
  ...{ type: "message", blocks: [{ type: "text", text }], usage: { input: 10, output: 5 } },
  ...(stop !== undefined && { stop }),
});

describe.runIf(hasSandbox)("sampling", () => {
  test("newer era: the model answers without the conversation, on the record and in the costs", async () => {
    const rig = await ask([THINK, used("Yes."), used("done")], options(shown(modern()), ALLOWED));
    expect(answerOf(rig)).toContain("Yes.");
    expect(answerOf(rig)).toContain("endTurn");
    const [intent, inner] = rig.of("ToolIntent");
    expect([intent?.name, inner?.name, inner?.class]).toEqual(["mcp.new.think", "mcp.sample", "sensitive"]);
    expect(rig.of("ToolOutcome").map(({ effects }) => effects)).toContainEqual([{ port: "model", target: "new" }]);
    const asked = rig.vendor.requests[1]?.body as { messages: { role: string; content: string }[] };
    expect(asked).not.toHaveProperty("tools");
    expect(asked).toMatchObject({ max_completion_tokens: 4_096, temperature: 0 });
    expect(asked.messages.map(({ role }) => role)).toEqual(["system", "system", "user"]);
    expect(JSON.stringify(asked.messages)).toMatch(
      /request of the MCP server new.*Be brief\..*What do you think of it\?/,
    );
    const costs = rig.of("CostIncremented");
    expect(costs).toHaveLength(3);
    const [input, output] = [
      costs.map(({ usage }) => usage.input_tokens),
      costs.map(({ usage }) => usage.output_tokens),
    ];
    const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
    expect(rig.of("TurnEnded")[0]).toMatchObject({
      usage: { input_tokens: sum(input), output_tokens: sum(output) },
      session_total: { tokens: sum([...input, ...output]) },
    });
  });

  test("what looks like a secret does not reach the model", async () => {
    const about = `ghp_${"aB3".repeat(12)}`;
    const rig = await ask(
      [calls(["mcp.new.think", { about }]), says("Yes."), says("done")],
      options(shown(modern()), ALLOWED),
    );
    const asked = JSON.stringify(rig.vendor.requests[1]?.body);
    expect(asked).toContain("What do you think of");
    expect(asked).not.toContain(about);
  });

  test("older era: the published server has the model answer it", async () => {
    const server = shown(referenceServer("everything"));
    const name = "mcp.everything.trigger-sampling-request";
    const call = calls([name, { prompt: "Why?", maxTokens: 20 }]);
    const rig = await ask([call, used("Because."), says("done")], options(server, [name, "mcp.sample(everything)"]));
    expect(answerOf(rig)).toContain("Because.");
    expect(rig.vendor.requests[1]?.body).toMatchObject({ max_completion_tokens: 20 });
  });

  test("is refused without the user's entry, and is not announced", async () => {
    const rig = await ask([THINK, says("done")], options(shown(modern(), false), ["mcp.*"]));
    expect(rig.of("ToolResult")).toMatchObject([{ name: "mcp.new.think", is_error: true }]);
    expect(rig.vendor.requests).toHaveLength(2);
    const old = shown(referenceServer("everything"), false);
    const rigOfOld = await ask([says("done")], options(old, []));
    // It offers the tool to clients that announce sampling.
    expect(JSON.stringify(rigOfOld.vendor.requests[0]?.body)).not.toContain("trigger-sampling-request");
  });

  test("needs a rule or a person", async () => {
    const rig = await ask([THINK, says("done")], options(shown(modern()), ["mcp.new.think"]));
    expect(rig.of("ToolResult").find(({ name }) => name === "mcp.sample")).toMatchObject({ outcome: "denied" });
    expect(answerOf(rig)).toContain("A question of the MCP server was refused");
    expect(rig.vendor.requests).toHaveLength(2);
  });

  test("ends with the budget", async () => {
    const budgets = { turn: { maxSteps: 1 } };
    const rig = await ask([THINK, used("Yes.")], options(shown(modern()), ALLOWED, { budgets }));
    expect(answerOf(rig)).toMatch(/BudgetExceeded/);
    expect(rig.vendor.requests).toHaveLength(1);
  });

  test("an answer that reaches its cap is handed over as it is", async () => {
    const rig = await ask([THINK, used("Half an ans", "length"), says("done")], options(shown(modern()), ALLOWED));
    // Which of the two comes first is up to the server's library.
    expect(answerOf(rig)).toContain("Half an ans");
    expect(answerOf(rig)).toContain("maxTokens");
    expect(rig.vendor.requests).toHaveLength(3);
  });

  test("the model cannot call it itself", async () => {
    const call = calls(["mcp.sample", { server: "new", request: { messages: [] } }]);
    const rig = await ask([call, says("done")], options(shown(modern()), ALLOWED));
    expect(answerOf(rig)).toContain("No MCP server asks for this.");
    expect(rig.vendor.requests).toHaveLength(2);
  });

  test("is on the cassette", async () => {
    const shared = options(shown(modern()), ALLOWED);
    const recording = await record([THINK, used("Yes."), says("done")], shared);
    const replay = await startReplay(recording, { settings: shared.settings });
    await replay.send();
    await replay.harness.shutdown();
    expect(replay.log()).toBe(recording.log);
    expect(replay.log()).toContain("Yes.");
  });
});
