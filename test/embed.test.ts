/** The engine inside another program, over a real wire. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { harnessPaths, loadAudit, machineKey, openSigningKey, openSqliteStore } from "#stores";
import { createSystemClock } from "#world";
import {
  createHarness,
  type EventHandler,
  type HarnessConfig,
  type PluginHost,
  type SimpleTool,
} from "../src/embed.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { startMockProvider } from "./fakes/mock-provider-server.ts";
import type { MockReply } from "./fakes/mock-reply.ts";

const add: SimpleTool = {
  name: "add",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  class: "read_only",
  execute: ({ a, b }) => String(Number(a) + Number(b)),
};

/** The answer of a model that is not asked. */
const stopped = { type: "failed", reason: "Cancelled", message: "stopped", retryable: false } as const;

test.each([
  ["a block of an unknown type", [{ type: "video" }], "content[0].type"],
  ["an image that is none", [{ type: "image", media_type: "image/png", data: "AAAA" }], "content[0].data"],
])("an input with %s is refused, and the session goes on", async (_, content, where) => {
  const { harness } = await embed([says("fine")]);
  // As a program without types would.
  await expect(harness.prompt(content as never)).rejects.toMatchObject({
    reason: "InvalidCommand",
    message: expect.stringContaining(where),
  });
  expect((await harness.prompt("hello")).text).toBe("fine");
});

async function embed(replies: MockReply[], config: HarnessConfig = {}, handler: EventHandler = {}, tools = [add]) {
  const vendor = await startMockProvider();
  vendor.reply(...replies);
  const harness = await createHarness(
    { model: "anthropic:mock", apiKey: "secret-key", baseUrl: vendor.url, env: {}, ...config },
    tools,
    handler,
  );
  onTestFinished(async () => {
    await harness.close();
    await vendor.close();
  });
  return { harness, vendor };
}

describe("createHarness", () => {
  test("tells whole blocks in order and returns the answer", async () => {
    const told: unknown[] = [];
    const handler: EventHandler = {
      onText: (text) => told.push(["text", text]),
      onToolCall: (id, name, input) => told.push(["call", id, name, input]),
      onToolResult: (id, result, isError) => told.push(["result", id, result, isError]),
    };
    const first: MockReply = {
      type: "message",
      blocks: [
        { type: "text", text: "Let me add.", deltas: 5 },
        { type: "tool_call", name: "add", arguments: '{"a":1,"b":2}' },
      ],
    };
    const { harness, vendor } = await embed([first, says("It is 3.")], {}, handler);
    expect(await harness.prompt("1+2?")).toMatchObject({ outcome: "answered", text: "It is 3.", steps: 2 });
    const id = (told[1] as [string, string])[1];
    expect(told).toEqual([
      ["text", "Let me add."],
      ["call", id, "add", { a: 1, b: 2 }],
      ["result", id, "3", false],
      ["text", "It is 3."],
    ]);
    expect(vendor.requests[0]?.headers["x-api-key"]).toBe("secret-key");
  });

  test("signs its log with the key of the machine", async () => {
    const directory = mkdtempSync(join(tmpdir(), "harness-embed-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const env = { HOME: directory };
    const logFile = join(directory, "log.db");
    const { harness } = await embed([says("yes")], { env, logFile });
    await harness.prompt("there?");
    await harness.close();
    const store = await openSqliteStore({ path: logFile, clock: createSystemClock(), key: machineKey(env) });
    const { verifyEvidence } = await loadAudit();
    const trustedKeys = [openSigningKey(harnessPaths(env).configDir).publicKey];
    expect(await verifyEvidence(store.readEvidence(harness.session), { trustedKeys })).toMatchObject({
      checkpoints: 1,
      unsealed: 0,
      findings: [],
    });
    await store.close();
  });

  test("is busy while a prompt runs, cancels, and goes on", async () => {
    const silent: MockReply = { type: "message", blocks: [], headersAfter: new Promise<void>(() => undefined) };
    const { harness } = await embed([silent, says("later")]);
    const running = harness.prompt("first");
    await expect(harness.prompt("second")).rejects.toMatchObject({ reason: "TurnInProgress" });
    harness.cancel();
    await expect(running).rejects.toMatchObject({ reason: "Cancelled" });
    harness.cancel();
  });

  test("an abort signal cancels; a step limit is an end; a failed model rejects with its reason", async () => {
    const { harness } = await embed(
      [calls(["add", { a: 1, b: 1 }]), { type: "http", status: 400, body: '{"error":{"message":"no"}}' }],
      { maxTurns: 1 },
    );
    await expect(harness.prompt("x", { signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: "Cancelled" });
    expect(await harness.prompt("x")).toMatchObject({ outcome: "step_limit", reason: "StepLimit", steps: 1 });
    await expect(harness.prompt("x")).rejects.toMatchObject({ reason: "ProviderRefused" });
  });

  test("a tool that changes things needs an allow rule", async () => {
    const made: string[] = [];
    const make: SimpleTool = { ...add, name: "make", class: "mutating", execute: () => String(made.push("x")) };
    const call = calls(["make", { a: 1, b: 2 }]);
    const { harness } = await embed([call, says("no")], {}, {}, [make]);
    await harness.prompt("make");
    expect(made).toEqual([]);
    const { harness: allowed } = await embed([call, says("yes")], { allow: ["make"] }, {}, [make]);
    await allowed.prompt("make");
    expect(made).toEqual(["x"]);
  });

  test("a tool without a class asks the handler, and one that fails has allowed nothing", async () => {
    const made: string[] = [];
    const { class: _, ...unclassed } = add;
    const make: SimpleTool = { ...unclassed, name: "make", execute: () => String(made.push("x")) };
    const call = calls(["make", { a: 1, b: 2 }]);
    const asked: string[] = [];
    const answers = [true, false];
    const onPermission: EventHandler["onPermission"] = ({ name }) => {
      asked.push(name);
      const answer = answers.shift();
      if (answer === undefined) throw new Error("handler broke");
      return answer;
    };
    const { harness } = await embed([call, says("1"), call, says("2"), call, says("3")], {}, { onPermission }, [make]);
    await harness.prompt("make");
    expect(made).toEqual(["x"]);
    await harness.prompt("make");
    await expect(harness.prompt("make")).rejects.toThrow("handler broke");
    expect([made, asked]).toEqual([["x"], ["make", "make", "make"]]);
  });

  test("calls run side by side where the program says so", async () => {
    let running = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    const make: SimpleTool = {
      ...add,
      name: "make",
      class: "mutating",
      async execute() {
        running += 1;
        most = Math.max(most, running);
        if (running === 2) both.resolve();
        await both.promise;
        running -= 1;
        return "made";
      },
    };
    const two = calls(["make", { a: 1, b: 2 }], ["make", { a: 2, b: 3 }]);
    const config = { allow: ["make"], tools: { execution: "parallel" } } as const;
    const { harness } = await embed([two, says("done")], config, {}, [make]);
    await harness.prompt("make");
    expect(most).toBe(2);
  });

  test("a response may have 4096 tokens where nothing else is said", async () => {
    const { harness, vendor } = await embed([says("yes")]);
    await harness.prompt("x");
    expect(vendor.requests[0]?.body).toMatchObject({ max_tokens: 4096 });
  });

  test.each([
    ["sk-ant-api03-x", "anthropic:claude-haiku-5-5"],
    ["sk-or-v1-x", "openrouter:anthropic/claude-haiku-5.5"],
    ["sk-proj-x", "openai:gpt-6-luna"],
  ])("a key alone chooses a model: %s", async (apiKey, model) => {
    const models: string[] = [];
    const plugin = {
      name: "watch",
      register: (host: PluginHost) =>
        host.useRequest(async ({ request }) => {
          models.push(request.model);
          return stopped;
        }),
    };
    const harness = await createHarness({ apiKey, env: {}, plugins: [plugin] });
    await harness.prompt("x").catch(() => undefined);
    await harness.close();
    expect(models).toEqual([model]);
  });

  test.each([
    [{ maxTurn: 3 }, add, "createHarness has no option 'maxTurn'; did you mean 'maxTurns'?"],
    [{ apiKey: "k" }, add, "'apiKey' does not say which provider it is for: also set 'model'"],
    [{}, add, "Set 'model' or 'apiKey', or a provider's key in 'env'."],
    [{}, { ...add, name: "a b" }, "the tool 'a b' needs a name"],
    [{}, { ...add, inputSchema: undefined }, "the tool 'add' needs inputSchema, the JSON Schema of an object"],
    [{}, { ...add, execute: "x" }, "the tool 'add' needs a function execute(input, context)"],
    [{}, { ...add, class: "safe" }, "the tool 'add' needs a class: read_only, mutating or sensitive"],
    [{}, null, "tools[0] is not an object"],
  ])("what is wrong is said in terms of the API: %j %j", async (config, tool, message) => {
    // A program without types can pass anything.
    const made = createHarness({ env: {}, ...config } as HarnessConfig, [tool as SimpleTool]);
    await expect(made).rejects.toThrow(message);
  });

  test("what a handler throws reaches the caller, and the next prompt works", async () => {
    let broken = true;
    const handler: EventHandler = {
      onText: () => {
        if (broken) throw new Error("handler broke");
      },
    };
    const { harness } = await embed([says("one"), says("two")], {}, handler);
    await expect(harness.prompt("x")).rejects.toThrow("handler broke");
    broken = false;
    expect(await harness.prompt("y")).toMatchObject({ text: "two" });
  });

  test("wrong configuration is refused with its reason", async () => {
    await expect(createHarness({ apiKey: "k", env: {} })).rejects.toMatchObject({ reason: "UsageInvalid" });
    await expect(createHarness({ env: {} })).rejects.toMatchObject({ reason: "ModelNotConfigured" });
    await expect(createHarness({ model: "openai:x", env: {} })).rejects.toMatchObject({ reason: "MissingCredential" });
    await expect(createHarness({ model: "ollama:x", env: {}, workspace: "does-not-exist" })).rejects.toMatchObject({
      reason: "ConfigInvalid",
    });
  });

  test("cancel after close is safe", async () => {
    const { harness } = await embed([]);
    await harness.close();
    harness.cancel();
  });
});

describe("a project and undo", () => {
  const note: SimpleTool = {
    name: "note.write",
    description: "Writes a note.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    async execute({ text }, { ports }) {
      await ports.files.write("note.txt", Buffer.from(String(text)));
      return "written";
    },
  };

  function folder(): { readonly workspace: string; readonly env: Record<string, string> } {
    const root = mkdtempSync(join(tmpdir(), "harness-embed-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const workspace = join(root, "work");
    mkdirSync(join(workspace, ".harness", "hooks"), { recursive: true });
    return { workspace, env: { HOME: join(root, "home"), HARNESS_MACHINE_KEY: "ab".repeat(32) } };
  }

  test("what a prompt changed is taken back, and made again", async () => {
    const { workspace, env } = folder();
    writeFileSync(join(workspace, "note.txt"), "before");
    const replies = [calls(["note.write", { text: "after" }]), says("Done.")];
    const { harness } = await embed(replies, { workspace, env, undo: true, allow: ["note.write"] }, {}, [note]);
    await harness.prompt("Write it down.");
    expect(await harness.undo()).toMatchObject({ outcome: "done", restored: [{ path: "note.txt" }] });
    expect(readFileSync(join(workspace, "note.txt"), "utf8")).toBe("before");
    expect(await harness.redo()).toMatchObject({ outcome: "done" });
    expect(readFileSync(join(workspace, "note.txt"), "utf8")).toBe("after");
  });

  test("without undo nothing is kept", async () => {
    const { harness } = await embed([says("Hello.")], { ...folder() });
    await harness.prompt("Hi.");
    await expect(harness.undo()).rejects.toMatchObject({ reason: "NotAllowed" });
  });

  test("files that nobody acked are refused; acked ones and those of a lock file are in force", async () => {
    const cli = createInProcessCli({}, "a");
    const { workspace, env } = cli;
    cli.put("harness.md", "---\nname: shop\n---\nYou keep the stock.\n");
    await expect(embed([], { workspace, env, project: true })).rejects.toMatchObject({
      reason: "NonInteractiveAckRefused",
    });
    const lockfile = join(env.HOME ?? "", "approved.lock");
    expect(await cli.run("ack", "--emit-lockfile", lockfile)).toMatchObject({ code: 0 });
    for (const accepted of [{}, { lockfile }]) {
      const { harness, vendor } = await embed([says("Hello.")], { workspace, env, project: true, ...accepted });
      await harness.prompt("Hi.");
      expect(JSON.stringify(vendor.requests[0]?.body)).toContain("You keep the stock.");
    }
  });
});

describe("messages speak of the API, not of flags", () => {
  const FLAG = /(?:^|[\s('"])--[a-z]/m;

  test("what createHarness rejects with", async () => {
    const cli = createInProcessCli({}, "a");
    const { workspace, env } = cli;
    cli.put("harness.md", "---\nname: shop\n---\nYou keep the stock.\n");
    const told: string[] = [];
    const refused = async (config: HarnessConfig): Promise<string> => {
      const error: unknown = await createHarness(config).catch((thrown: unknown) => thrown);
      told.push(error instanceof Error ? error.message : "nothing");
      return told.at(-1) ?? "";
    };
    expect(await refused({ workspace, env, project: true })).toContain("pass its path as 'lockfile'");
    expect(await cli.run("ack")).toMatchObject({ code: 0 });
    expect(await refused({ workspace, env, project: true })).toBe(
      "Set 'model' or 'apiKey', or a provider's key in 'env', or name a model in harness.md of the workspace.",
    );
    expect(await refused({ env: {} })).toBe("Set 'model' or 'apiKey', or a provider's key in 'env'.");
    expect(await refused({ model: "openai:x", env: {} })).toBe(
      "No key for openai: set OPENAI_API_KEY, pass it as apiKey, or choose another model.",
    );
    const inSystem = { model: "openai:x", apiKey: "k", env: {}, workspace: "/etc" };
    expect(await refused(inSystem)).toContain("Name the folder of a project");
    // The one command there is for it, which the specification words.
    const own = told.map((message) => message.replace("Run harness ack --all once", ""));
    expect(own.filter((message) => FLAG.test(message))).toEqual([]);
  });

  test("what the model is told of a refusal", async () => {
    const results: string[] = [];
    const make: SimpleTool = { ...add, name: "make", class: "mutating", execute: () => "made" };
    const handler: EventHandler = { onToolResult: (_id, result) => results.push(result) };
    const { harness } = await embed([calls(["make", { a: 1, b: 2 }]), says("no")], {}, handler, [make]);
    await harness.prompt("Make it.");
    expect(results).toEqual([expect.stringContaining('The user can allow it with the rule make (allow: ["make"]).')]);
    expect(results[0]).not.toMatch(FLAG);
  });
});
