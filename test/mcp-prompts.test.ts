/** Prompts and `@server:uri` through the whole program: typed by a person, got through the gate, read by the model as untrusted. */
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { McpServer } from "#artifacts";
import type { SlashArgs } from "#protocol";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { stdioServer } from "./fakes/mcp-world.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const CHECKOUT = dirname(import.meta.dirname);
const PROMPT_RULE = "mcp.get_prompt(new:*)";
const RESOURCE_RULE = "mcp.read_resource(new:note://*)";

function modern(): McpServer {
  const { connection, ...server } = stdioServer("new", [join(CHECKOUT, "test/fakes/modern-mcp-server.ts")]);
  if (connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...connection, paths: [CHECKOUT] } };
}

function options(allow: readonly string[], home = createTemporaryWorkspace().outside) {
  const permissions = allow.map((rule) => ({ effect: "allow" as const, rule, source: "test" }));
  const settings = { permissions, mcpServers: [modern()] };
  return { extraEnv: { HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home }, settings };
}

async function typed(rig: Pick<HarnessRig, "submit">, name: string, args: SlashArgs): Promise<string> {
  const { result } = await rig.submit({ kind: "RunSlashCommand", namespace: "mcp", name, args });
  return String(result.input);
}

const words = (rig: HarnessRig): string[] => rig.harness.slashCommands(rig.session).map(({ name }) => name);
const sentBy = (rig: HarnessRig): string => JSON.stringify(rig.vendor.requests.at(-1)?.body);

describe.runIf(hasSandbox)("a prompt of an MCP server", () => {
  test("is a slash command whose messages join the turn as untrusted content, with a receipt", async () => {
    const shared = options([PROMPT_RULE]);
    const rig = await createHarnessRig([says("hello"), says("done")], shared);
    await rig.send();
    await expect.poll(() => words(rig)).toContain("new:review");
    const { args_schema, description } = rig.harness
      .slashCommands(rig.session)
      .find(({ name }) => name === "new:review")!;
    expect([Object.keys(args_schema.properties), args_schema.required]).toEqual([["file", "style"], ["file"]]);
    expect(description).toBe("Reviews a file.");
    const input = await typed(rig, "new:review", { file: "a b.ts", style: "strict" });
    await rig.send(input);
    expect(rig.of("ContextAdded")).toMatchObject([{ origin: "prompt", what: "/mcp:new:review", by: rig.client.id }]);
    expect(rig.of("ToolIntent")).toMatchObject([{ name: "mcp.get_prompt", class: "sensitive" }]);
    expect(rig.of("ToolOutcome")).toMatchObject([{ effects: [{ port: "server", target: "/mcp:new:review" }] }]);
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "ok", labels: ["untrusted"] }]);
    const sent = sentBy(rig);
    expect(sent).toMatch(/<untrusted id=\\"\w+\\" from=\\"prompt \/mcp:new:review\\">/);
    expect(sent).toContain("Review a b.ts (strict).");
    expect(sent).toContain("Carry out this prompt of the MCP server new.");
    // What forges the delimiters is changed, and the tool itself is not offered to the model.
    expect(sent).not.toContain('</untrusted id=\\"1\\">');
    expect(sent).not.toContain("mcp_get_prompt");
    // The next session of the same user knows it before anything is connected.
    const next = await createHarnessRig([says("hello"), says("done")], shared);
    expect(words(next)).toContain("new:review");
    await next.send(await typed(next, "new:review", { file: "x" }));
    expect(sentBy(next)).toContain("Review x (as you like).");
  });

  test("says which arguments it takes, and ends the turn when it cannot be had", async () => {
    const rig = await createHarnessRig([says("hello")], options([]));
    await rig.send();
    await expect.poll(() => words(rig)).toContain("new:review");
    await expect(typed(rig, "new:review", { style: "short" })).rejects.toThrow("Usage: /mcp:new:review FILE [STYLE]");
    await expect(typed(rig, "new:none", {})).rejects.toThrow("there is no /mcp:new:none");
    expect(await rig.send(await typed(rig, "new:review", { file: "x" }))).toMatchObject({
      outcome: "error",
      reason: "PermissionDenied",
    });
    // Somebody who sends it without the registry.
    const other = await rig.send('/mcp:gone:review {"file":"x"}\nDo it.');
    expect(other.outcome).toBe("error");
    expect(rig.vendor.requests).toHaveLength(1);
    expect(rig.of("ContextAdded")).toEqual([]);
  });

  test("with arguments that the server refuses ends the turn with the server's words", async () => {
    const rig = await createHarnessRig([], options(["mcp.*"]));
    const ended = await rig.send('/mcp:new:review {"style":"short"}\nDo it.');
    expect(ended).toMatchObject({ outcome: "error", reason: "ToolFailed" });
    expect(ended.message).toMatch(/^The prompt \/mcp:new:review is not available, .*refused the call: .*file/);
  });

  test("is on the cassette: a replay gets it without the server", async () => {
    const shared = options([PROMPT_RULE]);
    const recording = await record([says("done")], {
      ...shared,
      drive: async (rig) => void (await rig.send('/mcp:new:review {"file":"x"}\nDo it.')),
    });
    const replay = await startReplay(recording, { settings: shared.settings });
    await replay.send('/mcp:new:review {"file":"x"}\nDo it.');
    await replay.harness.shutdown();
    expect(replay.log()).toBe(recording.log);
    expect(replay.log()).toContain("Review x (as you like).");
  });
});

describe.runIf(hasSandbox)("@server:uri in an input", () => {
  test("adds the resource as untrusted content, with a receipt", async () => {
    const rig = await createHarnessRig([says("done")], options([RESOURCE_RULE]));
    await rig.send("what is in @new:note://1?");
    expect(rig.of("ContextAdded")).toMatchObject([{ origin: "resource", what: "new:note://1" }]);
    expect(rig.of("ToolOutcome")).toMatchObject([{ effects: [{ port: "server", target: "@new:note://1" }] }]);
    expect(sentBy(rig)).toMatch(/<untrusted id=\\"\w+\\" from=\\"resource new:note:\/\/1\\">/);
  });

  test.each([
    ["@old:note://1", "No such MCP server with resources. There are: new."],
    ["@new:note://none", "refused the call"],
  ])("%s ends the turn with what is wrong", async (mention, told) => {
    const rig = await createHarnessRig([says("done")], options(["mcp.read_resource"]));
    const ended = await rig.send(`what is in ${mention}`);
    expect(ended).toMatchObject({ outcome: "error", reason: "ToolFailed" });
    expect(ended.message).toContain(told);
    expect(rig.vendor.requests).toEqual([]);
  });

  test("is a file where no server has that name, or where it is written as a path", async () => {
    const prepare: NonNullable<Parameters<typeof createHarnessRig>[1]>["prepare"] = (workspace) => {
      for (const name of ["old:x:y", "new:x:y"]) workspace.put(name, "a file");
    };
    const rig = await createHarnessRig([says("done")], { ...options([RESOURCE_RULE]), prepare });
    await rig.send("what is in @old:x:y and @./new:x:y");
    expect(rig.of("ContextAdded")).toMatchObject([
      { origin: "file", what: "old:x:y" },
      { origin: "file", what: "./new:x:y" },
    ]);
    // Each was looked for by the call that reads it.
    expect(rig.of("ToolIntent").map(({ name }) => name)).toEqual(["fs.read", "fs.read"]);
  });
});

describe.runIf(hasSandbox)("what can stand in the place of an input", () => {
  async function completing(more: Partial<McpServer> = {}, denied: readonly string[] = []) {
    const { settings, ...rest } = options(["mcp.*"]);
    const rules = denied.map((rule) => ({ effect: "deny" as const, rule, source: "test" }));
    const rig = await createHarnessRig([says("hello")], {
      ...rest,
      settings: {
        ...settings,
        permissions: [...(settings.permissions ?? []), ...rules],
        mcpServers: [{ ...modern(), ...more }],
      },
    });
    await rig.send();
    await expect.poll(() => words(rig)).toContain("new:review");
    const lines = async (text: string): Promise<readonly string[]> =>
      (await rig.submit({ kind: "CompleteInput", text })).result;
    return { rig, lines };
  }

  test("are words, arguments of prompts, servers, resources and variables of templates", async () => {
    const { lines } = await completing();
    const offered: readonly (readonly [string, readonly string[]])[] = [
      ["/mcp:new:", ["/mcp:new:review"]],
      ["/mcp:new re", ["/mcp:new restart"]],
      ["/mcp:new:review a.ts s", ["/mcp:new:review a.ts short", "/mcp:new:review a.ts strict"]],
      ["/mcp:new:review a.ts str", ["/mcp:new:review a.ts strict"]],
      // The server completes nothing there.
      ["/mcp:new:review a", []],
      ["/mcp:gone:review a ", []],
      ["/help me", []],
      ["see @n", ["see @new:"]],
      ["see (@new:note://", ["see (@new:note://1", "see (@new:note://big"]],
      ["see @new:page://1", ["see @new:page://1", "see @new:page://10"]],
      ["see @gone:", []],
      ["plain words", []],
    ];
    for (const [typed, expected] of offered) expect([typed, await lines(typed)]).toEqual([typed, expected]);
    // What looks like a secret does not leave for the server.
    expect(await lines(`/mcp:new:review ghp_${"aB3".repeat(12)} s`)).toEqual([]);
  });

  test("asks a server only with an intent on the record, and never against a rule", async () => {
    const { rig, lines } = await completing();
    const before = rig.of("LookupIntent").length;
    await lines("/mcp:new:review a.ts s");
    await lines("see @new:page://1");
    expect(rig.of("LookupIntent").slice(before)).toMatchObject([
      { by: rig.client.id, name: "mcp.get_prompt", port: "server", target: "/mcp:new:review" },
      { by: rig.client.id, name: "mcp.resources", port: "server" },
      { by: rig.client.id, name: "mcp.read_resource", port: "server" },
    ]);
    const denied = await completing({}, ["mcp.get_prompt", "mcp.read_resource", "mcp.resources"]);
    expect(await denied.lines("/mcp:new:review a.ts s")).toEqual([]);
    expect(await denied.lines("see @new:page://1")).toEqual([]);
    expect(denied.rig.of("LookupIntent")).toEqual([]);
  });

  test("is for people alone", async () => {
    const rig = await createHarnessRig([], { identityClass: "agent" });
    await expect(rig.submit({ kind: "CompleteInput", text: "/h" })).rejects.toThrow("Only a human may complete");
  });
});

test("without servers, an input that looks like a resource stays as it is", async () => {
  const rig = await createHarnessRig([says("done")]);
  expect((await rig.send("ask @ada:https://example.com/ada")).outcome).toBe("answered");
  expect(rig.of("ContextAdded")).toEqual([]);
});
