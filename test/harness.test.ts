import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultSettings } from "#artifacts";
import { type Plugin, type Tool, textOutput } from "#engine";
import { createUndoStore, undo } from "#undo";
import { createSystemClock, createWorkspaceRestore } from "#world";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { processesWith } from "./fakes/marked-processes.ts";
import { openProjects } from "./fakes/open-projects.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

describe.each(["openai", "anthropic"] as const)("a turn over the %s wire", (vendor) => {
  test("reads, edits and runs for real, and the model sees the results", async () => {
    const rig = await createHarnessRig(
      [
        calls(["fs_read", { path: "a.txt" }]),
        calls(["fs_edit", { path: "a.txt", old_text: "one", new_text: "two" }]),
        calls(["exec", { command: "cat a.txt" }]),
        says("It says two now."),
      ],
      { vendor, settings: { permissions: [{ effect: "allow", rule: "Edit(a.txt)", source: "test" }] } },
    );
    rig.workspace.put("a.txt", "one\n");
    expect(await rig.send("make it two")).toMatchObject({ outcome: "answered", steps: 4 });
    expect(readFileSync(join(rig.workspace.root, "a.txt"), "utf8")).toBe("two\n");
    expect(rig.of("ToolResult").map(({ name, outcome }) => [name, outcome])).toEqual([
      ["fs.read", "ok"],
      ["fs.edit", "ok"],
      ["exec", "ok"],
    ]);
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("two");
    expect(rig.of("TurnEnded")).toMatchObject([{ outcome: "answered", steps: 4 }]);
  });

  test.each([
    'data: {"choices":[null]}\n\n',
    'data: {"choices":[{"delta":{"tool_calls":5}}]}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":null}\n\n',
    'event: message_start\ndata: {"type":"message_start","message":{"usage":null}}\n\n',
  ])("an event of an odd shape ends the turn, not the program: %j", async (body) => {
    const headers = { "content-type": "text/event-stream" };
    const odd = { type: "http", status: 200, headers, body } as const;
    const settings = { models: [{ model: `${vendor}:mock-model`, retry: { maxRetries: 0 } }] };
    const rig = await createHarnessRig([odd, says("fine")], { vendor, settings });
    expect(await rig.send()).toMatchObject({ outcome: "error", reason: expect.stringMatching(/^Provider/) });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
  });

  test("goes on after a failed turn", async () => {
    const rig = await createHarnessRig(
      [{ type: "http", status: 400, body: '{"error":{"message":"bad thing"}}' }, says("fine")],
      { vendor },
    );
    expect(await rig.send()).toMatchObject({ outcome: "error", reason: "ProviderRefused" });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
  });
});

describe("tool calls", () => {
  test("with wrong arguments get a result that says what is wrong", async () => {
    const rig = await createHarnessRig([
      calls(["fs_read", { file: "a" }], ["fs_read", "{nope"], ["no_such_tool", {}]),
      says("sorry"),
    ]);
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    const results = rig.of("ToolResult").map(({ reason, content }) => `${reason} ${JSON.stringify(content)}`);
    expect(results.toSorted()).toEqual([
      expect.stringMatching(/^InvalidArguments .*(path|file)/),
      expect.stringMatching(/^InvalidArguments .*not JSON/),
      expect.stringMatching(/^UnknownTool .*fs\.read/),
    ]);
  });

  test("that repeat a read are answered from memory until something changes", async () => {
    const read = ["fs_read", { path: "a.txt" }] as const;
    const rig = await createHarnessRig(
      [calls(read), calls(read), calls(["fs_write", { path: "a.txt", content: "new" }]), calls(read), says("done")],
      { settings: { permissions: [{ effect: "allow", rule: "Write", source: "test" }] } },
    );
    rig.workspace.put("a.txt", "old");
    await rig.send();
    const [first, second, , last] = rig.of("ToolResult");
    expect(second).toMatchObject({ memoized: true, content: first?.content });
    expect(last).not.toHaveProperty("memoized");
    expect(JSON.stringify(last?.content)).toContain("new");
  });

  test("ask_user reaches the person and brings the answer back", async () => {
    const ask = calls(["ask_user", { question: "Which colour?", options: ["red", "blue"] }]);
    const rig = await createHarnessRig([ask, says("blue it is")], { interactive: true });
    const turn = rig.send();
    const { call_id, question, options } = await rig.next("QuestionAsked");
    expect({ question, options }).toEqual({ question: "Which colour?", options: ["red", "blue"] });
    await rig.submit({ kind: "AnswerQuestion", call_id, answer: "blue" });
    expect(await turn).toMatchObject({ outcome: "answered" });
    expect(JSON.stringify(rig.of("ToolResult"))).toContain("blue");
  });
});

describe("cancel", () => {
  test("ends a running command and its children, also what ignores the signal", async () => {
    const mark = `mark-${randomUUID()}`;
    const command = `sh -c 'trap "" TERM; echo on > begun; while :; do sleep 1; done' ${mark} & wait`;
    const rig = await createHarnessRig([calls(["exec", { command }]), says("never")], {
      settings: { permissions: [{ effect: "allow", rule: "Bash", source: "test" }] },
    });
    const turn = rig.send();
    await rig.next("ToolCallStarted");
    await untilFile(join(rig.workspace.root, "begun"));
    await rig.submit({ kind: "CancelTurn" });
    expect(await turn).toMatchObject({ outcome: "cancelled" });
    expect(processesWith(mark)).toEqual([]);
    expect(rig.of("Cancelled")).toMatchObject([{ reason: "user", by: rig.client.id }]);
  });

  test("ends a provider call that does not answer", async () => {
    const silent = { type: "message", blocks: [], headersAfter: new Promise<void>(() => undefined) } as const;
    const rig = await createHarnessRig([silent, says("later")]);
    const turn = rig.send();
    await until(() => rig.vendor.requests.length === 1);
    await rig.submit({ kind: "CancelTurn" });
    expect(await turn).toMatchObject({ outcome: "cancelled" });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
  });
});

describe("models", () => {
  test("the list falls back, and says so", async () => {
    const rig = await createHarnessRig([{ type: "http", status: 401, body: "{}" }, says("from the second")], {
      model: undefined as never,
      settings: { models: [{ model: "openai:first" }, { model: "anthropic:second" }] },
    });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(rig.of("ModelChanged")).toEqual([{ model: "anthropic:second", previous: "openai:first" }]);
    expect(rig.of("CostIncremented")).toMatchObject([{ provider: "anthropic", model: "anthropic:second" }]);
  });

  test("SetModel checks the name and takes effect at the next step", async () => {
    const rig = await createHarnessRig([says("a"), says("b")]);
    await rig.send();
    await expect(rig.submit({ kind: "SetModel", model: "opnai:x" })).rejects.toMatchObject({ reason: "UnknownModel" });
    await rig.submit({ kind: "SetModel", model: "anthropic:other" });
    await rig.send();
    expect(rig.vendor.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/messages"]);
  });

  test("a retried request is told while it waits", async () => {
    const limited = { type: "http", status: 429, headers: { "retry-after": "0" }, body: "{}" } as const;
    const rig = await createHarnessRig([limited, says("finally")]);
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(rig.of("Error")).toMatchObject([{ reason: "RateLimited", terminal: false }]);
  });
});

test("a rate limit holds for all sessions of the program, also where a project has other models", async () => {
  const other = createTemporaryWorkspace();
  other.put("harness.md", "---\n---\nBe brief.\n");
  const settings = {
    ...defaultSettings,
    rateLimits: { global: { requestsPerMinute: 1 }, models: {}, tools: [] },
  };
  const own = { ...settings, models: [{ model: "openai:mock-model" }, { model: "openai:second" }] };
  const rig = await createHarnessRig([says("one"), says("two")], {
    settings,
    async projects(folder) {
      const opened = folder === other.root ? await openProjects(folder) : undefined;
      return opened && { ...opened, settings: own };
    },
  });
  expect(await rig.send()).toMatchObject({ outcome: "answered" });
  const { session } = await rig.client.submit({ kind: "CreateSession", working_dir: other.root });
  if (session === undefined) throw new Error("no session");
  const content = [{ type: "text" as const, text: "go on" }];
  const { done } = await rig.client.submit({ kind: "SendInput", session, content });
  expect(await rig.next("Error")).toMatchObject({ reason: "RateLimited", terminal: false });
  await rig.client.submit({ kind: "CancelTurn", session });
  expect(await done).toMatchObject({ outcome: "cancelled" });
  expect(rig.vendor.requests).toHaveLength(1);
});

test("undo leaves the program's own files alone, where the workspace holds them", async () => {
  // As a daemon does while a call runs.
  const command = "touch made .daemon/tokens/tok_x.revoked";
  const home = createTemporaryWorkspace();
  home.put(".daemon/tokens/tok_x.json", "{}");
  const rig = await createHarnessRig([calls(["exec", { command }]), says("done")], {
    autoApprove: true,
    settings: { sandbox: "off" },
    workspace: home.root,
    ownPaths: [join(home.root, ".daemon")],
    undo: { directory: join(home.outside, "undo"), key: Buffer.alloc(32, 1) },
  });
  await rig.send();
  await rig.submit({ kind: "UndoTurn" });
  expect(rig.of("WorkspaceRestored")).toMatchObject([{ counts: { restored: 1 } }]);
  expect(existsSync(join(home.root, "made"))).toBe(false);
  expect(existsSync(join(home.root, ".daemon/tokens/tok_x.revoked"))).toBe(true);
});

describe("plugins", () => {
  test("reach every seam", async () => {
    const seen: string[] = [];
    const shout: Tool = {
      name: "shout",
      label: "Shout",
      class: "read_only",
      description: "",
      parameters: { type: "object" },
      run: async () => textOutput("HEY"),
    };
    const plugin: Plugin = {
      name: "test",
      register(host) {
        host.useRequest((call, next) => next({ ...call, request: { ...call.request, system: ["from the plugin"] } }));
        host.useTool(async (call, next) => {
          seen.push(`tool ${call.tool.name}`);
          return next(call);
        });
        host.onEvent((event) => seen.push(event.kind));
        host.addToolSource({ name: "plugin", tools: () => [shout] });
        host.addRule("deny", "Ls");
        host.claimNamespace("test", async ({ session, verb }) => {
          await host.emit(session, "test", "pong", { verb });
          return "handled";
        });
      },
    };
    const rig = await createHarnessRig([calls(["shout", {}], ["fs_list", { path: "." }]), says("ok")], {
      plugins: [plugin],
    });
    await rig.send();
    expect(seen).toEqual(expect.arrayContaining(["tool shout", "tool fs.list", "TurnStarted", "TurnEnded"]));
    expect(JSON.stringify(rig.vendor.requests[0]?.body)).toContain("from the plugin");
    const outcomes = rig.of("ToolResult").map(({ name, outcome }) => `${name} ${outcome}`);
    expect(outcomes.toSorted()).toEqual(["fs.list denied", "shout ok"]);
    const reply = await rig.submit({ kind: "CustomCommand", namespace: "test", verb: "ping", payload: null });
    expect(reply).toEqual({ result: "handled" });
    expect(rig.of("CustomEvent")).toEqual([{ namespace: "test", kind: "pong", payload: { verb: "ping" } }]);
    await expect(
      rig.submit({ kind: "CustomCommand", namespace: "other", verb: "x", payload: null }),
    ).rejects.toMatchObject({ reason: "UnknownNamespace" });
  });

  test("a tool middleware that throws fails the call and lets nothing through", async () => {
    const plugin: Plugin = {
      name: "broken",
      register: (host) =>
        host.useTool(() => {
          throw new Error("guard broke");
        }),
    };
    const rig = await createHarnessRig([calls(["fs_list", { path: "." }]), says("ok")], { plugins: [plugin] });
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "error", reason: "InternalError" }]);
  });

  test("what a middleware changes is validated and judged after it", async () => {
    const plugin: Plugin = {
      name: "redirect",
      register: (host) => host.useTool((call, next) => next({ ...call, args: { path: "/etc/passwd" } })),
    };
    const rig = await createHarnessRig([calls(["fs_read", { path: "a.txt" }]), says("ok")], { plugins: [plugin] });
    rig.workspace.put("a.txt", "x");
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });
});

describe("sessions", () => {
  test("a second client catches up and then sees the same events", async () => {
    const rig = await createHarnessRig([says("one"), says("two")]);
    await rig.send();
    const late: number[] = [];
    const other = rig.harness.control.connect({
      identityClass: "human",
      interactive: false,
      onEvent: (event) => late.push(event.id),
    });
    await other.submit({ kind: "AttachSession", session: rig.session, since: 0 });
    await rig.send();
    expect(late).toEqual(rig.events.map(({ id }) => id));
    await other.submit({ kind: "DetachSession", session: rig.session });
  });

  test("an ended session is closed and can be opened again with its conversation", async () => {
    const rig = await createHarnessRig([says("I will remember 42."), says("42")]);
    await rig.send("remember 42");
    await rig.submit({ kind: "EndSession" });
    expect(rig.of("SessionEnded")).toEqual([{ reason: "user" }]);
    await expect(rig.send()).rejects.toMatchObject({ reason: "SessionNotFound" });
    await rig.client.submit({ kind: "CreateSession", resume: rig.session });
    await rig.send("what was it?");
    expect(JSON.stringify(rig.vendor.requests[1]?.body)).toContain("I will remember 42.");
  });
});

/** The content of a file that a child process is about to write. */
async function untilFile(path: string): Promise<string> {
  await until(() => existsSync(path) && readFileSync(path, "utf8").trim() !== "");
  return readFileSync(path, "utf8").trim();
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 5 }).toBe(true);
}

describe("undo", () => {
  const allowed = { permissions: [{ effect: "allow" as const, rule: "Write(**)", source: "test" }] };
  const write = ["fs_write", { path: "new.txt", content: "x" }] as const;

  test("what a turn changed is kept and can be taken back; the ledger has the call", async () => {
    const { outside } = createTemporaryWorkspace();
    const place = { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) };
    const rig = await createHarnessRig([calls(write), says("done")], { settings: allowed, undo: place });
    await rig.send();
    expect(rig.of("ToolOutcome")).toMatchObject([{ outcome: "ok" }]);
    const workspace = createUndoStore({ ...place, clock: createSystemClock() }).workspace(rig.workspace.root);
    const port = createWorkspaceRestore(rig.workspace.root);
    expect(await undo({ workspace, port, target: "last", session: rig.session })).toMatchObject({
      outcome: "done",
      turns: rig.of("TurnStarted").map(({ turn }) => turn),
      restored: [{ path: "new.txt", what: "removed" }],
    });
    expect(existsSync(join(rig.workspace.root, "new.txt"))).toBe(false);
  });

  test("is a command of the protocol: the log has what was restored, the model is told, and redo brings it back", async () => {
    const { outside } = createTemporaryWorkspace();
    const place = { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) };
    const rig = await createHarnessRig([calls(write), says("done"), says("I see"), says("again")], {
      settings: allowed,
      undo: place,
    });
    await rig.send();
    const file = join(rig.workspace.root, "new.txt");
    const [call] = rig.of("ToolCallStarted");
    if (call === undefined) throw new Error("no call");
    const { result } = await rig.submit({ kind: "UndoCall", call_id: call.call_id });
    expect(result).toMatchObject({ outcome: "done", restored: [{ path: "new.txt", what: "removed" }] });
    expect(existsSync(file)).toBe(false);
    expect(rig.of("WorkspaceRestored")).toEqual([
      {
        action: "undo",
        by: rig.client.id,
        turns: [call.turn],
        calls: [call.call_id],
        restored: [{ path: "new.txt", what: "removed" }],
        conflicts: [],
        failed: [],
        counts: { restored: 1, conflicts: 0, failed: 0 },
      },
    ]);
    await rig.send("and now?");
    expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).toContain("The user reverted changes");
    await rig.submit({ kind: "Redo" });
    expect(readFileSync(file, "utf8")).toBe("x");
    rig.workspace.put("new.txt", "mine");
    expect((await rig.submit({ kind: "UndoTurn" })).result).toMatchObject({
      outcome: "refused",
      conflicts: [{ path: "new.txt" }],
    });
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(rig.of("WorkspaceRestored")).toHaveLength(2);
    await expect(rig.submit({ kind: "Redo" })).rejects.toMatchObject({ reason: "NothingToUndo" });
  });

  test("is refused where nothing is kept", async () => {
    const rig = await createHarnessRig([], { undo: "off" });
    await expect(rig.submit({ kind: "UndoTurn" })).rejects.toMatchObject({ reason: "NotAllowed" });
  });

  test("a call that cannot be kept is refused with the reason, and runs when undo is off", async () => {
    const { outside, put } = createTemporaryWorkspace();
    put("taken", "a file where a folder has to be");
    const place = { directory: join(outside, "workspace/taken/undo"), key: Buffer.alloc(32, 1) };
    const refused = await createHarnessRig([calls(write), says("no")], { settings: allowed, undo: place });
    await refused.send();
    expect(refused.of("ToolResult")).toMatchObject([{ outcome: "error", reason: "ToolFailed" }]);
    expect(existsSync(join(refused.workspace.root, "new.txt"))).toBe(false);
    const off = await createHarnessRig([calls(write), says("yes")], { settings: allowed, undo: "off" });
    await off.send();
    expect(off.of("ToolResult")).toMatchObject([{ outcome: "ok" }]);
  });
});
