/** `harness rpc` as an editor uses it: a real process on pipes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ackProject } from "../fakes/ack-project.ts";
import { type CliHome, createCliHome, runCli } from "../fakes/cli-process.ts";
import { type RpcProcess, startRpc } from "../fakes/rpc-process.ts";

const SCENARIO = `
name: editor
rules:
  - when: {input: slow, step: 1}
    reply: [{text: "I begin."}, {pause_ms: 60000}, {text: "never"}]
  - when: {input: write, step: 1}
    reply: [{thinking: "A file is wanted."}, {text: "I write."}, {tool: fs.write, args: {path: out.txt, content: "made\\n"}}]
  - when: {input: shell, step: 1}
    reply: [{tool: exec, args: {command: "printf one; printf two >> log.txt"}}]
  - when: {input: cut off, step: 1}
    reply: [{tool: exec, args: {command: "printf begun > begun.txt; sleep 60"}}]
  - when: {input: ask, step: 1}
    reply: [{tool: ask_user, args: {question: "Which one?"}}]
  - when: {input: broken}
    reply: [{fault: unauthorized}]
  - when: {tool: ask_user}
    reply: [{text: "You said {{tool_result}}"}]
  - when: {input: lines}
    reply: [{text: "one\\u2028two\\u2029three\\u0085four"}]
otherwise: [{text: "Done with {{input}}."}]
`;

let home: CliHome;
beforeEach(() => {
  home = createCliHome();
  home.put("editor.yaml", SCENARIO);
});

async function open(...args: string[]): Promise<RpcProcess> {
  const rpc = startRpc(home, "--model", "scripted:editor.yaml", ...args);
  await rpc.result("initialize", { clientInfo: { name: "test" } });
  return rpc;
}

const text = (input: string) => [{ type: "text", text: input }];
const turn = (rpc: RpcProcess, threadId: string, input: string) =>
  rpc.result("turn.start", { threadId, input: text(input) });
const newThread = async (rpc: RpcProcess): Promise<string> => (await rpc.result("thread.create", {})).thread.threadId;

test("permission_timeout of the configuration is how long a request waits, and --auto-approve says what it does", async () => {
  home.configure("permission_timeout = 7200\n");
  const rpc = await open();
  await turn(rpc, await newThread(rpc), "write");
  const asked = await rpc.notification("approval.requested");
  expect(asked).toMatchObject({ action: "fs.write", scope: "path:out.txt", class: "mutating" });
  expect(Date.parse(asked.expiresAt) - Date.now()).toBeGreaterThan(3_600_000);
  expect(rpc.err()).not.toContain("--auto-approve");
  const approving = await open("--auto-approve");
  const said = "--auto-approve: every permission request is approved without asking.";
  await expect.poll(() => approving.err(), { timeout: 60_000 }).toContain(said);
});

describe("threads and turns", () => {
  test("a thread is created, answers a turn, is listed and read again after a restart", async () => {
    const rpc = await open();
    const { thread } = await rpc.result("thread.create", { title: "Greeting" });
    expect(thread).toEqual({
      threadId: expect.stringMatching(/^sess_[0-9A-Z]{26}$/),
      title: "Greeting",
      directory: home.workspace,
      time: { created: expect.any(Number), updated: expect.any(Number) },
    });
    expect((await rpc.notification("thread.created")).thread).toMatchObject({
      threadId: thread.threadId,
      title: "Greeting",
    });
    const { turnId } = await turn(rpc, thread.threadId, "hello");
    const completed = await rpc.notification("turn.completed");
    expect(completed.turn).toMatchObject({ turnId, threadId: thread.threadId, status: "completed" });
    // The answer to turn.start precedes all that it brings about.
    const order = rpc.messages.map((m) => (Array.isArray(m) ? "batch" : (m.method ?? `answer ${m.id}`)));
    expect(order.slice(3).filter((name, at, all) => name !== all[at - 1])).toEqual([
      "answer 3",
      "turn.started",
      "item.started",
      "item.completed",
      "item.started",
      "item.delta",
      "item.completed",
      "turn.completed",
    ]);
    expect(await rpc.end()).toBe(0);

    const again = await open();
    expect((await again.result("thread.list")).threads).toMatchObject([
      { threadId: thread.threadId, title: "Greeting" },
    ]);
    const got = await again.result("thread.get", { threadId: thread.threadId });
    const kinds = got.events.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["SessionStarted", "TurnStarted", "TextDelta", "TurnEnded"]));
    const part = await again.result("thread.get", { threadId: thread.threadId, after: 1, limit: 1 });
    expect(part).toMatchObject({ events: [{ id: 2, kind: "TurnStarted" }], more: true });
    await turn(again, thread.threadId, "once more");
    expect((await again.notification("turn.completed")).turn.status).toBe("completed");
    expect(again.messages.some((m) => !Array.isArray(m) && m.method === "thread.created")).toBe(false);
    expect(await again.end()).toBe(0);
    expect(existsSync(join(home.workspace, ".harness/threads", thread.threadId, "events.jsonl"))).toBe(true);
  });

  test("--store sqlite leaves nothing in the workspace", async () => {
    const rpc = await open("--store", "sqlite");
    await newThread(rpc);
    expect(await rpc.end()).toBe(0);
    expect(existsSync(join(home.workspace, ".harness"))).toBe(false);
  });

  test("a second turn is refused while one runs, and a cancel ends it", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    await turn(rpc, threadId, "slow");
    await rpc.notification("item.delta");
    expect((await rpc.request("turn.start", { threadId, input: text("more") })).error).toMatchObject({
      code: -32002,
      data: { name: "TurnBusy", reason: "TurnInProgress" },
    });
    expect(await rpc.result("turn.cancel", { threadId })).toEqual({ ok: true });
    const ended = await rpc.notification("turn.error");
    expect(ended).toMatchObject({ turn: { status: "cancelled" }, error: { reason: "Cancelled" } });
    expect((await rpc.request("turn.cancel", { threadId })).error?.code).toBe(-32003);
    expect(await rpc.end()).toBe(0);
  });

  test("a turn that fails is told with its reason", async () => {
    const rpc = await open();
    await turn(rpc, await newThread(rpc), "broken");
    expect(await rpc.notification("turn.error")).toMatchObject({
      turn: { status: "error" },
      error: { reason: "ProviderUnauthorized", message: expect.stringContaining("refused the key") },
    });
    expect(await rpc.end()).toBe(0);
  });

  test("a model can be named for a turn, an agent that is not there cannot", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    const start = { threadId, input: text("x") };
    const wrong = await rpc.request("turn.start", { ...start, model: { providerID: "nobody", modelID: "x" } });
    expect(wrong.error).toMatchObject({ code: -32602, data: { reason: "UnknownModel" } });
    expect((await rpc.request("turn.start", { ...start, agent: "poet" })).error?.code).toBe(-32602);
    await rpc.result("turn.start", { ...start, agent: "code" });
    expect((await rpc.notification("turn.completed")).turn.status).toBe("completed");
    expect(await rpc.end()).toBe(0);
  });
});

describe("items and approvals", () => {
  test("an approval is asked for and given once: the file is written and told as an artifact", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    await turn(rpc, threadId, "write");
    const asked = await rpc.notification("approval.requested");
    expect(asked).toMatchObject({
      threadId,
      requestId: expect.stringMatching(/^call_/),
      itemId: expect.stringMatching(/^item_[0-9A-Z]{26}$/),
      tool: "fs.write",
      args: { path: "out.txt" },
    });
    const { requestId } = asked;
    const wrong = await rpc.request("approval.respond", { requestId, decision: "perhaps" });
    expect(wrong.error?.code).toBe(-32602);
    expect(await rpc.result("approval.respond", { requestId, decision: "once" })).toEqual({ ok: true });
    await rpc.notification("turn.completed");
    expect(readFileSync(join(home.workspace, "out.txt"), "utf8")).toBe("made\n");
    const items = rpc.messages.flatMap((m) => (Array.isArray(m) || m.params?.item === undefined ? [] : [m]));
    const done = items.filter(({ method }) => method === "item.completed").map(({ params }) => params.item);
    expect(done.map(({ type }) => type)).toEqual([
      "user_message",
      "assistant_message",
      "assistant_message",
      "approval",
      "artifact",
      "tool_exec",
      "assistant_message",
    ]);
    expect(done[1].data).toMatchObject({ kind: "reasoning", text: "A file is wanted." });
    expect(done[3].data).toMatchObject({ decision: "once", tool: "fs.write" });
    expect(done[4].data).toMatchObject({ path: "out.txt" });
    const started = items.filter(({ method }) => method === "item.started").map(({ params }) => params.item.itemId);
    expect(started.toSorted()).toEqual(done.map(({ itemId }) => itemId).toSorted());
    // Settled already: recorded as too late, and nothing comes of it.
    expect(await rpc.result("approval.respond", { requestId, decision: "once" })).toEqual({ ok: true });
    const nobody = { requestId: `call_${"0".repeat(26)}`, decision: "once" };
    expect((await rpc.request("approval.respond", nobody)).error?.code).toBe(-32004);
    expect(await rpc.end()).toBe(0);
  });

  test("always holds for the tool in this thread; reject is told to the model", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    await turn(rpc, threadId, "write");
    const first = await rpc.notification("approval.requested");
    await rpc.result("approval.respond", { requestId: first.requestId, decision: "always" });
    await rpc.notification("turn.completed");
    await turn(rpc, threadId, "write");
    await rpc.notification("turn.completed");
    const asked = () => rpc.messages.filter((m) => !Array.isArray(m) && m.method === "approval.requested").length;
    expect(asked()).toBe(1);
    const other = await newThread(rpc);
    await turn(rpc, other, "write");
    const second = await rpc.notification("approval.requested");
    expect(second.threadId).toBe(other);
    await rpc.result("approval.respond", { requestId: second.requestId, decision: "reject" });
    const denied = await rpc.see(
      ({ method, params }) => method === "item.completed" && params.item.data?.outcome === "denied",
    );
    expect(denied.params.item).toMatchObject({ type: "tool_exec", threadId: other });
    expect(await rpc.end()).toBe(0);
  });

  test("an agent at the other end is never asked, and refused what only people may do", async () => {
    const rpc = await open("--identity-class", "agent");
    const threadId = await newThread(rpc);
    const command = { kind: "SetMode", session: threadId, mode: "accept-edits" };
    expect((await rpc.request("command.submit", { command })).error).toMatchObject({
      code: -32006,
      message: expect.stringContaining("Only a human may"),
      data: { name: "NotAllowed", reason: "NotAllowed" },
    });
    await turn(rpc, threadId, "write");
    await rpc.notification("turn.completed");
    expect(rpc.messages.some((m) => !Array.isArray(m) && m.method === "approval.requested")).toBe(false);
    expect(existsSync(join(home.workspace, "out.txt"))).toBe(false);
    expect(await rpc.end()).toBe(0);
  });

  test("output of a call is a log item", async () => {
    const rpc = await open("--auto-approve", "--sandbox", "off");
    await turn(rpc, await newThread(rpc), "shell");
    await rpc.notification("turn.completed");
    const ofType = (type: string) =>
      rpc.messages.flatMap((m) => {
        if (Array.isArray(m)) return [];
        return m.params?.item?.type === type || m.params?.type === type ? [m.method] : [];
      });
    expect(ofType("tool_log")).toEqual(["item.started", "item.delta", "item.completed"]);
    expect(await rpc.end()).toBe(0);
  });

  test("a question is answered with a command of the protocol", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    await turn(rpc, threadId, "ask");
    const { requestId, question } = await rpc.notification("question.asked");
    expect(question).toBe("Which one?");
    const command = { kind: "AnswerQuestion", session: threadId, call_id: requestId, answer: "the blue one" };
    expect(await rpc.result("command.submit", { command })).toEqual({ ok: true });
    await rpc.notification("turn.completed");
    const own = await rpc.request("command.submit", { command: { kind: "CancelTurn", session: threadId } });
    expect(own.error?.code).toBe(-32602);
    expect(await rpc.end()).toBe(0);
  });
});

test("a question of a delegate is told and answered like one of the thread", async () => {
  home.put("harness.md", "---\nname: team\n---\n\nYou lead a team.\n");
  home.put(".harness/agents/writer.md", "---\ndescription: Writes.\ntools: [fs.write]\n---\n\nYou write.\n");
  home.put(
    "team.yaml",
    `name: team
rules:
  - when: {tool: delegate}
    reply: [{text: "It is back."}]
  - when: {input: lead}
    reply: [{tool: delegate, args: {agent: writer, task: "a file"}}]
  - when: {tool: fs.write}
    reply: [{text: "Written."}]
otherwise: [{tool: fs.write, args: {path: out.txt, content: "made"}}]
`,
  );
  await ackProject(home);
  const rpc = startRpc(home, "--model", "scripted:team.yaml");
  await rpc.result("initialize");
  const threadId = await newThread(rpc);
  await turn(rpc, threadId, "lead");
  const asked = await rpc.notification("approval.requested");
  expect(asked).toMatchObject({ tool: "fs.write", threadId: expect.not.stringMatching(threadId) });
  await rpc.result("approval.respond", { requestId: asked.requestId, decision: "once" });
  expect((await rpc.notification("turn.completed")).turn.threadId).toBe(threadId);
  expect(readFileSync(join(home.workspace, "out.txt"), "utf8")).toBe("made");
  expect(await rpc.end()).toBe(0);
});

test("a call that was cut off is told when its thread is opened again, and settled with a command", async () => {
  const first = await open("--auto-approve", "--sandbox", "off");
  const threadId = await newThread(first);
  await turn(first, threadId, "cut off");
  await first.see(({ method, params }) => method === "item.started" && params.item.type === "tool_exec");
  await vi.waitFor(() => expect(existsSync(join(home.workspace, "begun.txt"))).toBe(true), 30_000);
  first.child.kill("SIGKILL");
  await first.exit;
  const second = await open();
  const refused = await second.request("turn.start", { threadId, input: text("hello") });
  expect(refused.error).toMatchObject({ code: -32002, data: { reason: "OrphanUnresolved" } });
  const { callId, tool } = await second.notification("call.orphaned");
  expect(tool).toBe("exec");
  const command = { kind: "ResolveOrphan", session: threadId, call_id: callId, resolution: "failed" };
  expect(await second.result("command.submit", { command })).toEqual({ ok: true });
  await turn(second, threadId, "hello");
  expect((await second.notification("turn.completed")).turn.threadId).toBe(threadId);
  expect(await second.end()).toBe(0);
});

describe("the wire", () => {
  test("each kind of bad input has its code, and the connection goes on", async () => {
    const rpc = startRpc(home, "--model", "scripted:editor.yaml");
    // Before initialize a request is refused, and a notification does nothing and is not answered.
    rpc.send('{"jsonrpc":"2.0","method":"thread.create","params":{}}\n');
    expect((await rpc.request("thread.list")).error).toMatchObject({
      code: -32600,
      data: { reason: "HandshakeRequired" },
    });
    await rpc.result("initialize");
    const code = async (raw: string | Uint8Array) => {
      rpc.send(raw);
      return (await rpc.see(({ error }) => error !== undefined)).error?.code;
    };
    expect(await code("not json\n")).toBe(-32700);
    expect(await code('{"jsonrpc":"2.0","id":1,\n')).toBe(-32700);
    expect(await code(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]))).toBe(-32700);
    expect(await code("[]\n")).toBe(-32600);
    expect(await code("42\n")).toBe(-32600);
    expect(await code('{"jsonrpc":"1.0","id":1,"method":"initialize"}\n')).toBe(-32600);
    expect(await code('{"jsonrpc":"2.0","id":{},"method":"initialize"}\n')).toBe(-32600);
    expect(await code('{"jsonrpc":"2.0","id":"r","result":{}}\n')).toBe(-32600);
    expect(await code('{"jsonrpc":"2.0","id":"m","method":"thread.destroy"}\n')).toBe(-32601);
    expect(await code('{"jsonrpc":"2.0","id":"p","method":"__proto__"}\n')).toBe(-32601);
    expect(await code('{"jsonrpc":"2.0","id":"a","method":"thread.get","params":["x"]}\n')).toBe(-32602);
    expect(await code('{"jsonrpc":"2.0","id":"b","method":"thread.get","params":{"threadId":7}}\n')).toBe(-32602);
    expect(await code('{"jsonrpc":"2.0","id":"t","method":"thread.get","params":{"threadId":"no"}}\n')).toBe(-32001);
    const unknown = `sess_${"0".repeat(26)}`;
    expect((await rpc.request("turn.start", { threadId: unknown, input: text("x") })).error?.code).toBe(-32001);
    expect((await rpc.request("turn.cancel", { threadId: unknown })).error?.code).toBe(-32001);
    const approval = { requestId: `call_${"0".repeat(26)}`, decision: "once" };
    expect((await rpc.request("approval.respond", approval)).error?.code).toBe(-32004);
    expect(await code(`${"[".repeat(100_000)}\n`)).toBe(-32700);
    expect((await rpc.result("thread.list")).threads).toEqual([]);
    expect(await rpc.end()).toBe(0);
  });

  test("a line above the bound is refused without being kept", async () => {
    const rpc = await open();
    const block = Buffer.alloc(1024 * 1024, "x");
    for (let i = 0; i < 12; i++) rpc.send(block);
    rpc.send("\n");
    const { error } = await rpc.see((message) => message.error !== undefined);
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining("10485760") });
    expect((await rpc.result("thread.list")).threads).toEqual([]);
    expect(await rpc.end()).toBe(0);
  });

  test("a batch is answered with a batch, and notifications in it with nothing", async () => {
    const rpc = await open();
    const entries = [
      { jsonrpc: "2.0", id: "a", method: "thread.list" },
      { jsonrpc: "2.0", method: "thread.list" },
      5,
      { jsonrpc: "2.0", id: "b", method: "nothing" },
    ];
    rpc.send(`${JSON.stringify(entries)}\n`);
    rpc.send(`${JSON.stringify([{ jsonrpc: "2.0", method: "thread.list" }])}\n`);
    await rpc.result("thread.list");
    const batches = rpc.messages.filter((m) => Array.isArray(m));
    expect(batches).toHaveLength(1);
    expect(batches[0]).toMatchObject([
      { id: "a", result: { threads: [] } },
      { id: null, error: { code: -32600 } },
      { id: "b", error: { code: -32601 } },
    ]);
    expect(await rpc.end()).toBe(0);
  });

  test("line separators of Unicode split nothing, in either direction", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    let raw = "";
    rpc.child.stdout.on("data", (chunk: string) => {
      raw += chunk;
    });
    await turn(rpc, threadId, "lines \u2028 and \u2029 and \u0085");
    const { item } = (await rpc.see(({ method }) => method === "item.completed")).params;
    expect(item.data.content).toEqual(text("lines \u2028 and \u2029 and \u0085"));
    await rpc.notification("turn.completed");
    expect(raw).not.toMatch(/[\u0085\u2028\u2029]/);
    expect(await rpc.end()).toBe(0);
  });

  test("standard output carries nothing else, whatever logs or crashes", async () => {
    const noise = home.put(
      "noise.mjs",
      `process.on("SIGUSR2", () => { console.log("noise"); process.stdout.write("more noise\\n"); });
       process.on("SIGWINCH", () => { throw new Error("crashed on purpose"); });`,
    );
    const loud = { ...home, env: { ...home.env, NODE_OPTIONS: `--import=${noise}` } };
    const rpc = startRpc(loud, "--model", "scripted:editor.yaml");
    await rpc.result("initialize");
    rpc.child.kill("SIGUSR2");
    await turn(rpc, await newThread(rpc), "hello");
    await rpc.notification("turn.completed");
    rpc.child.kill("SIGWINCH");
    expect(await rpc.exit).toBe(1);
    expect(rpc.err()).toContain("noise\nmore noise\n");
    expect(rpc.err()).toContain("crashed on purpose");
  });

  test("a wrong flag leaves standard output empty", async () => {
    for (const args of [
      ["rpc", "--json"],
      ["rpc", "--model", "nobody:x", "--json"],
      ["rpc", "--model", "nobody:x"],
    ]) {
      expect(await runCli(home, args)).toMatchObject({ code: 2, out: "" });
    }
  });
});

describe("the end", () => {
  test("one request through a pipe is answered, then it is over", async () => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
    const { code, out } = await runCli(home, ["rpc"], line);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { version: "1.0.0", capabilities: { turns: true } } });
  });

  test("the end of input cancels what runs, records it and tells it", async () => {
    const rpc = await open();
    const threadId = await newThread(rpc);
    await turn(rpc, threadId, "slow");
    await rpc.notification("item.delta");
    expect(await rpc.end()).toBe(0);
    expect((await rpc.notification("turn.error")).turn.status).toBe("cancelled");
    const log = readFileSync(join(home.workspace, ".harness/threads", threadId, "events.jsonl"), "utf8");
    expect(log).toContain('"kind":"SessionEnded"');
  });

  test("a reader that stopped reading does not keep the program from ending", async () => {
    const rpc = await open();
    rpc.child.stdout.pause();
    const line = '{"jsonrpc":"2.0","id":"x","method":"initialize"}';
    rpc.send(`${line}\n`.repeat(500));
    rpc.child.stdin.end();
    const exited = new Promise<number | null>((done) => void rpc.child.once("exit", done));
    expect(await exited).toBe(0);
  });

  test("a reader that goes away, and SIGTERM, end it in order, too", async () => {
    for (const how of ["reader", "signal"] as const) {
      const rpc = await open();
      const threadId = await newThread(rpc);
      await turn(rpc, threadId, "slow");
      await rpc.notification("item.delta");
      if (how === "signal") rpc.child.kill("SIGTERM");
      else {
        rpc.child.stdout.destroy();
        rpc.send('{"jsonrpc":"2.0","id":"x","method":"thread.list"}\n');
      }
      expect(await rpc.exit, how).toBe(0);
      const log = readFileSync(join(home.workspace, ".harness/threads", threadId, "events.jsonl"), "utf8");
      expect(log).toContain('"kind":"SessionEnded"');
    }
  });
});
