/** The engine inside another program, over a real wire. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { harnessPaths, loadAudit, machineKey, openSigningKey, openSqliteStore } from "#stores";
import { createSystemClock } from "#world";
import { createHarness, type EventHandler, type HarnessConfig, type SimpleTool } from "../src/embed.ts";
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

  test("an abort signal cancels; a step limit and a failed model reject with their reason", async () => {
    const { harness } = await embed(
      [calls(["add", { a: 1, b: 1 }]), { type: "http", status: 400, body: '{"error":{"message":"no"}}' }],
      { maxTurns: 1 },
    );
    await expect(harness.prompt("x", { signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: "Cancelled" });
    await expect(harness.prompt("x")).rejects.toMatchObject({ reason: "StepLimit" });
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
