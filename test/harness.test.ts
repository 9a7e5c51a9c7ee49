/** The whole program in one process: real wires, real files, real processes, driven through the protocol. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSystemClock, createWorkspaceRestore } from "#base";
import { type Plugin, type Tool, textOutput } from "#engine";
import { createUndoStore, undo } from "#undo";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
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

describe("permissions", () => {
  const write = ["fs_write", { path: "new.txt", content: "x" }] as const;

  test("without anybody to ask, a call that needs an answer is denied at once and the model is told how to allow it", async () => {
    const rig = await createHarnessRig([calls(write), says("I could not.")]);
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PermissionDenied", is_error: true }]);
    expect(JSON.stringify(rig.vendor.requests[1]?.body)).toContain("--allow 'Write(new.txt)'");
    expect(() => readFileSync(join(rig.workspace.root, "new.txt"))).toThrow();
  });

  test("a person is asked, and each of the four answers does what it says", async () => {
    const rig = await createHarnessRig(
      [
        calls(["exec", { command: "touch one.txt" }]),
        says("1"),
        calls(["exec", { command: "touch two.txt" }]),
        calls(["exec", { command: "touch three.txt" }]),
        says("2"),
        calls(write),
        calls(["fs_write", { path: "other.txt", content: "y" }]),
        says("3"),
      ],
      { interactive: true },
    );
    const answer = async (decision: "allow_once" | "allow_argv_glob" | "allow_tool" | "deny", reason?: string) => {
      const turn = rig.send();
      const { call_id } = await rig.next("PermissionRequested");
      await rig.submit({ kind: "AnswerPermission", call_id, decision, ...(reason === undefined ? {} : { reason }) });
      await turn;
      const asked = rig.of("PermissionRequested").length;
      const outcomes = rig.of("ToolResult").map(({ outcome }) => outcome);
      rig.events.length = 0;
      return { asked, outcomes };
    };
    expect(await answer("deny", "not now")).toEqual({ asked: 1, outcomes: ["denied"] });
    expect(JSON.stringify(rig.vendor.requests[1]?.body)).toContain("not now");
    expect(await answer("allow_argv_glob")).toEqual({ asked: 1, outcomes: ["ok", "ok"] });
    expect(await answer("allow_tool")).toEqual({ asked: 1, outcomes: ["ok", "ok"] });
  });

  test("allow_once is for one call only", async () => {
    const rig = await createHarnessRig([calls(write), says("1"), calls(write), says("2")], { interactive: true });
    for (const decision of ["allow_once", "deny"] as const) {
      rig.events.length = 0;
      const turn = rig.send();
      const { call_id } = await rig.next("PermissionRequested");
      await rig.submit({ kind: "AnswerPermission", call_id, decision });
      await turn;
    }
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("an agent cannot answer, not even for a turn of somebody else", async () => {
    const rig = await createHarnessRig([calls(write), says("done")], { interactive: true });
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
    await agent.submit({ kind: "AttachSession", session: rig.session });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await expect(
      agent.submit({ kind: "AnswerPermission", session: rig.session, call_id, decision: "allow_once" }),
    ).rejects.toMatchObject({ reason: "NotAllowed" });
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
    await turn;
    await expect(rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" })).rejects.toMatchObject({
      reason: "CallNotFound",
    });
  });

  test("a session with only an agent attached denies at once", async () => {
    const rig = await createHarnessRig([calls(write), says("done")], { interactive: true, identityClass: "agent" });
    await rig.send();
    expect(rig.of("PermissionRequested")).toEqual([]);
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("deny beats allow, tells which rule and where, and auto-approve does not lift it", async () => {
    const rig = await createHarnessRig(
      [calls(write), calls(["fs_write", { path: "b.txt", content: "" }]), says("done")],
      {
        autoApprove: true,
        settings: {
          permissions: [
            { effect: "allow", rule: "fs.*", source: "config.toml:3" },
            { effect: "deny", rule: "Write(new.txt)", source: "config.toml:4" },
          ],
        },
      },
    );
    await rig.send();
    const [first, second] = rig.of("ToolResult");
    expect(first).toMatchObject({ outcome: "denied" });
    expect(JSON.stringify(first?.content)).toContain("deny Write(new.txt)' (config.toml:4)");
    expect(second).toMatchObject({ outcome: "ok" });
  });

  test("the quiet preset passes reading inside the workspace, not secrets and not strict mode", async () => {
    const read = calls(["fs_read", { path: ".env" }]);
    const rig = await createHarnessRig([calls(["fs_list", { path: "." }]), read, says("done")]);
    rig.workspace.put(".env", "KEY=1\n");
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "denied"]);
    const strict = await createHarnessRig([calls(["fs_list", { path: "." }]), says("x")], {
      settings: { strictPermissions: true },
    });
    await strict.send();
    expect(strict.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["denied"]);
  });

  test("credential tools are denied whatever the rules say", async () => {
    const rig = await createHarnessRig([calls(["exec", { command: "env secret-tool lookup a b" }]), says("no")], {
      settings: { permissions: [{ effect: "allow", rule: "Bash", source: "test" }] },
    });
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("a quiet command needs no rule beside an allowed one, unless it runs in another folder", async () => {
    const rig = await createHarnessRig(
      [
        calls(["exec", { command: "git status; touch x" }]),
        calls(["exec", { command: "git status; touch y", cwd: "sub" }]),
        calls(["exec", { command: "cd sub && git status && touch z" }]),
        says("done"),
      ],
      {
        settings: {
          permissions: ["Bash(touch *)", "Bash(cd *)"].map((rule) => ({ effect: "allow", rule, source: "test" })),
          tools: { execution: "auto", onError: "continue" },
        },
      },
    );
    rig.workspace.put("sub/file", "");
    execFileSync("git", ["init", "-q"], { cwd: rig.workspace.root });
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "denied", "denied"]);
  });

  test("what a quiet name leads to on the disk counts: links, secrets below a folder, a repository that runs programs", async () => {
    const commands = [
      "cat notes.txt",
      "cat *.txt",
      "ls out/",
      "cat inside.txt",
      "grep -rn x src",
      "grep -rn x docs",
      "git status",
      "git log -1 --unified --output=.git/config -s",
    ];
    const rig = await createHarnessRig([...commands.map((command) => calls(["exec", { command }])), says("done")], {
      settings: { tools: { execution: "auto", onError: "continue" } },
    });
    const { root, outside } = rig.workspace;
    writeFileSync(join(outside, "secret.txt"), "x");
    symlinkSync(join(outside, "secret.txt"), join(root, "notes.txt"));
    symlinkSync("/proc", join(root, "out"));
    rig.workspace.put("plain.txt", "x");
    rig.workspace.put("inside.txt", "x");
    rig.workspace.put("src/.env", "x");
    rig.workspace.put("docs/page.md", "x");
    rig.workspace.put(".git/HEAD", "ref: refs/heads/main\n");
    rig.workspace.put(".git/config", "[core]\n\tfsmonitor = touch ran\n");
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }, index) => `${commands[index]}: ${outcome}`)).toEqual([
      "cat notes.txt: denied",
      "cat *.txt: denied",
      "ls out/: denied",
      "cat inside.txt: ok",
      "grep -rn x src: denied",
      "grep -rn x docs: ok",
      "git status: denied",
      "git log -1 --unified --output=.git/config -s: denied",
    ]);
  });

  test("a link inside the workspace gets around neither rules nor the list of sensitive files", async () => {
    const rig = await createHarnessRig(
      [
        calls(["fs_read", { path: "readme-link" }]),
        calls(["fs_write", { path: "docs/hooks/pre-commit", content: "x" }]),
        calls(["fs_read", { path: "denied-link" }]),
        calls(["fs_read", { path: "/etc/hostname" }]),
        says("done"),
      ],
      {
        settings: {
          permissions: [
            { effect: "allow", rule: "Write(docs/**)", source: "test" },
            { effect: "deny", rule: "Read(private/**)", source: "test" },
          ],
          tools: { execution: "auto", onError: "continue" },
        },
      },
    );
    const { root } = rig.workspace;
    rig.workspace.put(".env", "KEY=1");
    rig.workspace.put(".git/hooks/sample", "");
    rig.workspace.put("private/a", "x");
    rig.workspace.put("docs/page.md", "x");
    symlinkSync(".env", join(root, "readme-link"));
    symlinkSync("../.git/hooks", join(root, "docs/hooks"));
    symlinkSync("private/a", join(root, "denied-link"));
    await rig.send();
    const results = rig.of("ToolResult");
    expect(results.map(({ outcome }) => outcome)).toEqual(["denied", "denied", "denied", "denied"]);
    expect(JSON.stringify(results[3]?.content)).toContain("--cwd");
    expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("plan mode that begins while a question waits still holds", async () => {
    const rig = await createHarnessRig([calls(write), says("done")], { interactive: true });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
    await turn;
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PlanModeActive" }]);
  });

  test("plan mode passes only read-only calls until a human approves the plan", async () => {
    const rig = await createHarnessRig([calls(write), says("planned"), calls(write), says("done")], {
      settings: { permissions: [{ effect: "allow", rule: "Write", source: "test" }] },
    });
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PlanModeActive" }]);
    await rig.submit({ kind: "ExitPlanMode", approve: true });
    await rig.send();
    expect(rig.of("ToolResult")[1]).toMatchObject({ outcome: "ok" });
    expect(rig.of("PlanModeChanged")).toEqual([{ active: true }, { active: false }]);
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
  test("ends a running command and its children within a second", async () => {
    const command = "sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & wait";
    const rig = await createHarnessRig([calls(["exec", { command }]), says("never")], {
      settings: { permissions: [{ effect: "allow", rule: "Bash", source: "test" }] },
    });
    const turn = rig.send();
    await rig.next("ToolCallStarted");
    const pid = await untilFile(join(rig.workspace.root, "pid"));
    const startMs = performance.now();
    await rig.submit({ kind: "CancelTurn" });
    expect(await turn).toMatchObject({ outcome: "cancelled" });
    expect(performance.now() - startMs).toBeLessThan(1000);
    expect(isRunning(Number(pid))).toBe(false);
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

/** Gives other work its turn until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error(`still not true: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A process that ended but was not reaped by its new parent does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z/.test(readFileSync(stat, "utf8"));
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
