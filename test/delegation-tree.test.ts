/** Agents as a tree: side by side, stopped together, on one budget, with questions that reach a person, through a crash. */
import { describe, expect, test } from "vitest";
import type { Event, EventKind, EventOf } from "#protocol";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { processesWith } from "./fakes/marked-processes.ts";
import {
  agentFile,
  answers,
  delegates,
  HARNESS,
  hangs,
  lastText,
  makes,
  type Role,
  type Roles,
  textsOf,
} from "./fakes/roles.ts";

const agents = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`.harness/agents/${name}.md`, text]));
const harness = (head: string) => HARNESS.replace("model: roles:one\n", `model: roles:one\n${head}`);
const scout = agents({ scout: agentFile("scout", "tools: [fs.list, exec, ask_user]\n") });
const launch = (...tasks: string[]) =>
  makes(...tasks.map((task) => ["delegate_async", { agent: "scout", task }] as const));
const says = (call: Parameters<typeof lastText>[0]) => answers(lastText(call))(call);

describe("tasks", () => {
  test("run side by side, and are waited for together", async () => {
    let together = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const rig = await createDelegationRig(scout, {
      root: [launch("A", "B", "C"), makes(["task.await", {}]), says],
      scout: (call) => async () => {
        together += 1;
        most = Math.max(most, together);
        if (together === 3) gate.resolve();
        await gate.promise;
        together -= 1;
        return answers(`done ${lastText(call)}`)(call);
      },
    });
    await rig.send("go");
    expect(most).toBe(3);
    const [, , , awaited] = rig.results();
    expect(JSON.parse(awaited ?? "")).toMatchObject([
      { status: "ok", result: "done A" },
      { status: "ok", result: "done B" },
      { status: "ok", result: "done C" },
    ]);
    expect(rig.of("DelegationEnded").map(({ mode, status }) => [mode, status])).toEqual(Array(3).fill(["async", "ok"]));
  });

  test("can be asked for again and again, and cancelled", async () => {
    let task = "";
    const root: Role = (call, step) => {
      if (step === 0) return launch("Hang.");
      if (step === 1) task = JSON.parse(lastText(call)).task;
      if (step <= 4) return makes(["task.poll", { task }]);
      if (step === 5) return makes(["task.cancel", { task }]);
      return step === 6 ? makes(["task.poll", { task: "sess_nobody" }]) : answers("ok");
    };
    const rig = await createDelegationRig(scout, { root, scout: [hangs] });
    await rig.send("go");
    expect(rig.of("ToolResult").map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "delegate_async ok",
      ...Array(4).fill("task.poll ok"),
      "task.cancel ok",
      "task.poll error",
    ]);
    expect(JSON.parse(rig.results()[5] ?? "")).toMatchObject({ task, status: "cancelled", reason: "Cancelled" });
  });

  test("that nobody waited for end with the turn, before it", async () => {
    const rig = await createDelegationRig(scout, { root: [launch("Hang."), answers("never mind")], scout: [hangs] });
    expect(await rig.send("go")).toMatchObject({ outcome: "answered" });
    const order = rig.all.map(({ kind, session }) => `${session === rig.session ? "root" : "scout"} ${kind}`);
    expect(rig.of("DelegationEnded")).toMatchObject([{ status: "cancelled" }]);
    expect(order.indexOf("root DelegationEnded")).toBeLessThan(order.indexOf("root TurnEnded"));
    expect(order.indexOf("scout SessionEnded")).toBeLessThan(order.indexOf("root DelegationEnded"));
    expect(rig.ofSession(rig.children()[0], "Cancelled")).toMatchObject([{ reason: "parent" }]);
  });

  test("are over when their time is", async () => {
    const rig = await createDelegationRig(
      { "harness.md": harness("delegation: { timeout_ms: 100 }\n"), ...scout },
      { root: [delegates({ agent: "scout", task: "Hang.", timeout_ms: 999_999 }), says], scout: [hangs] },
    );
    await rig.send("go");
    expect(rig.parsed()).toMatchObject([{ status: "timeout", reason: "ToolTimeout" }]);
  });
});

describe("a cancel", () => {
  test("ends the whole tree and its processes", async () => {
    const marker = `tree-${process.pid}-${Date.now()}`;
    const rig = await createDelegationRig(
      agents({
        boss: agentFile("boss", "tools: [delegate, delegate_async]\n"),
        worker: agentFile("worker", "tools: [exec]\n"),
      }),
      {
        root: [delegates({ agent: "boss", task: "Lead." }), answers("never")],
        boss: [
          makes(["delegate_async", { agent: "worker", task: "Work." }]),
          delegates({ agent: "worker", task: "Work." }),
          answers("never"),
        ],
        worker: [makes(["exec", { command: `sleep 600 & sleep 601; : ${marker}` }]), answers("never")],
      },
      { autoApprove: true },
    );
    const sent = rig.send("go");
    const isWorking = () =>
      rig.all.filter((event) => event.kind === "ToolIntent" && event.payload.name === "exec").length;
    while (isWorking() < 2)
      await rig.anywhere("ToolIntent").then(() => new Promise((resolve) => setTimeout(resolve, 5)));
    while (processesWith(marker).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await rig.submit({ kind: "CancelTurn" });
    expect(await sent).toMatchObject({ outcome: "cancelled" });
    expect(processesWith(marker)).toEqual([]);
    expect(rig.allOf("DelegationEnded").map(({ status }) => status)).toEqual(Array(3).fill("cancelled"));
    expect(rig.allOf("SessionEnded")).toHaveLength(3);
  });

  test("of a delegate alone leaves its parent at work", async () => {
    const rig = await createDelegationRig(scout, {
      root: [delegates({ agent: "scout", task: "Hang." }), says],
      scout: [hangs],
    });
    const sent = rig.send("go");
    const started = await rig.anywhere("DelegationStarted");
    await rig.client.submit({ kind: "CancelTurn", session: started.payload.session });
    expect(await sent).toMatchObject({ outcome: "answered" });
    expect(rig.parsed()).toMatchObject([{ status: "cancelled" }]);
  });
});

describe("the budget of a tree", () => {
  const boss = agents({ boss: agentFile("boss", "tools: [delegate, delegate_async, task.await, fs.list]\n") });
  const deep: Role = (call, step) => {
    const depth =
      call.request.messages.length === 0 ? 0 : Number(/\d+/.exec(textsOf(call.request.messages[0] as never))?.[0] ?? 0);
    if (step === 0 && depth < 3) return delegates({ agent: "boss", task: `depth ${depth + 1}` });
    return makes(["fs.list", { path: `./${"./".repeat(step)}` }]);
  };

  test.each([
    ["steps", { maxSteps: 9 }, "CostIncremented", 9],
    ["calls", { maxCalls: 7 }, "ToolIntent", 7],
    ["tokens", { maxTokens: 100 }, "CostIncremented", 7],
    ["cost", { maxCostUsd: 0.0065 }, "CostIncremented", 7],
  ] as const)("in %s is one for all depths, and stops all", async (_, tree, kind, count) => {
    const steps = "delegation: { iterations_per_depth: [20, 20] }\n";
    const files = { "harness.md": harness(steps), ...boss };
    const rig = await createDelegationRig(files, { root: deep, boss: deep }, { settings: { budgets: { tree } } });
    expect(await rig.send("depth 0")).toMatchObject({ outcome: "error", reason: "BudgetExceeded" });
    expect(rig.allOf(kind)).toHaveLength(count);
    expect(rig.allOf("DelegationEnded").map(({ status, reason }) => [status, reason])).toEqual(
      Array(3).fill(["failed", "BudgetExceeded"]),
    );
  });

  test.each([
    ["steps", { maxSteps: 8 }],
    ["tokens", { maxTokens: 115 }],
  ])("in %s is not overshot by agents that work side by side", async (_, tree) => {
    const busy: Role = (_call, step) => makes(["fs.list", { path: `./${"./".repeat(step)}` }]);
    const root: Role = [
      makes(...["A", "B", "C", "D", "E"].map((task) => ["delegate_async", { agent: "boss", task }] as const)),
      makes(["task.await", {}]),
    ];
    const rig = await createDelegationRig(boss, { root, boss: busy }, { settings: { budgets: { tree } } });
    await rig.send("go");
    expect(rig.allOf("CostIncremented")).toHaveLength(8);
  });

  test("counts what delegates of all depths used in earlier runs of the session", async () => {
    const once: Role = (call, step) => {
      const depth = Number(/depth (\d)/.exec(textsOf(call.request.messages[0] as never))?.[1] ?? 0);
      return step === 0 && depth < 2 ? delegates({ agent: "boss", task: `depth ${depth + 1}` }) : answers("done");
    };
    const root: Role = (call, step) =>
      lastText(call) === "again" || step > 2 ? makes(["fs.list", { path: "." }]) : once(call, step);
    const rig = await createDelegationRig(
      boss,
      { root, boss: once },
      { settings: { budgets: { tree: { maxSteps: 6 } } } },
    );
    expect(await rig.send("depth 0")).toMatchObject({ outcome: "answered" });
    expect(rig.of("TurnEnded")).toMatchObject([{ session_total: { steps: 2 }, tree_total: { steps: 5, calls: 2 } }]);
    const [below, own] = rig.allOf("DelegationEnded");
    expect([below?.tree_total, own?.steps, own?.tree_total?.steps]).toEqual([undefined, 2, 3]);
    await rig.submit({ kind: "EndSession" });
    await rig.client.submit({ kind: "CreateSession", resume: rig.session });
    expect(await rig.send("again")).toMatchObject({ outcome: "error", reason: "BudgetExceeded" });
    expect(rig.allOf("CostIncremented")).toHaveLength(6);
    expect(rig.of("TurnEnded").at(-1)).toMatchObject({ session_total: { steps: 4 }, tree_total: { steps: 7 } });
  });

  test("that is used up stops delegates in the middle of their calls", async () => {
    const rig = await createDelegationRig(
      { ...boss, ...agents({ slow: agentFile("slow") }) },
      {
        root: [
          makes(["delegate_async", { agent: "slow", task: "Hang." }]),
          makes(["fs.list", { path: "." }]),
          answers("never"),
        ],
        slow: [hangs],
      },
      { settings: { budgets: { tree: { maxCalls: 2 } } } },
    );
    expect(await rig.send("go")).toMatchObject({ reason: "BudgetExceeded" });
    expect(rig.of("DelegationEnded")).toMatchObject([{ status: "failed", reason: "BudgetExceeded" }]);
  });
});

describe("a question of a delegate", () => {
  const ask: Roles = {
    root: [delegates({ agent: "scout", task: "Ask." }), says],
    scout: [makes(["exec", { command: "touch x" }], ["ask_user", { question: "Which way?" }]), says],
  };

  test("reaches whoever may answer its root, with who asks, and is answered there", async () => {
    const rig = await createDelegationRig(scout, ask, { interactive: true });
    const sent = rig.send("go");
    const delegate = { agent: "scout", depth: 1, parent: rig.session };
    const requested = await waitFor(rig.events, "PermissionRequested");
    expect(requested.payload).toMatchObject({ name: "exec", delegate });
    const { session } = requested;
    const { call_id } = requested.payload;
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
    await agent.submit({ kind: "AttachSession", session });
    await expect(agent.submit({ kind: "AnswerPermission", session, call_id, decision: "allow_once" })).rejects.toThrow(
      "human",
    );
    await rig.client.submit({ kind: "AnswerPermission", session, call_id, decision: "allow_once" });
    const asked = await waitFor(rig.events, "QuestionAsked");
    expect(asked.payload).toMatchObject({ question: "Which way?", delegate });
    const answer = { call_id: asked.payload.call_id, answer: "left" };
    await rig.client.submit({ kind: "AnswerQuestion", session, ...answer });
    await sent;
    expect(rig.parsed()).toMatchObject([{ status: "ok", result: expect.stringContaining("left") }]);
  });

  test("is denied at once when nobody is there", async () => {
    const rig = await createDelegationRig(scout, ask);
    await rig.send("go");
    expect(rig.ofSession(rig.children()[0], "ToolResult").map(({ outcome }) => outcome)).toEqual(["denied", "error"]);
  });

  test("that was answered for the session holds for the whole tree", async () => {
    const run = (n: number) => makes(["exec", { command: `touch ${n}` }]);
    const rig = await createDelegationRig(
      scout,
      {
        root: [delegates({ agent: "scout", task: "Run." }), run(2), answers("done")],
        scout: [run(1), answers("done")],
      },
      { interactive: true },
    );
    const sent = rig.send("go");
    const { session, payload } = await waitFor(rig.events, "PermissionRequested");
    const { call_id } = payload;
    await rig.client.submit({ kind: "AnswerPermission", session, call_id, decision: "allow_tool" });
    await sent;
    expect(rig.allOf("PermissionRequested")).toHaveLength(1);
    expect(rig.allOf("ToolResult").map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      ...["exec ok", "delegate ok", "exec ok"],
    ]);
  });
});

test("a delegate can be watched, and takes no input from clients", async () => {
  const rig = await createDelegationRig(scout, {
    root: [delegates({ agent: "scout", task: "Hang." }), says],
    scout: [hangs],
  });
  const sent = rig.send("go");
  const { session } = (await rig.anywhere("DelegationStarted")).payload;
  const seen: Event[] = [];
  const watcher = rig.harness.control.connect({
    identityClass: "human",
    interactive: false,
    onEvent: (event) => seen.push(event),
  });
  await watcher.submit({ kind: "AttachSession", session, since: 0 });
  const content = [{ type: "text", text: "hello" }] as const;
  await expect(watcher.submit({ kind: "SendInput", session, content: [...content] })).rejects.toMatchObject({
    reason: "NotAllowed",
  });
  await expect(watcher.submit({ kind: "EndSession", session })).rejects.toMatchObject({ reason: "NotAllowed" });
  await watcher.submit({ kind: "CancelTurn", session });
  await sent;
  const kinds = seen.map(({ kind }) => kind);
  expect(kinds[0]).toBe("SessionStarted");
  expect(kinds.at(-1)).toBe("SessionEnded");
  expect(seen.every((event) => event.session === session)).toBe(true);
});

test("a delegate cannot be opened again as an agent of its own: nothing would hold it to its limits", async () => {
  const rig = await createDelegationRig(scout, {
    root: [delegates({ agent: "scout", task: "Look." }), says],
    scout: [answers("seen")],
  });
  await rig.send("go");
  const [session] = rig.children();
  if (session === undefined) throw new Error("nobody was delegated to");
  const client = rig.harness.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
  await expect(client.submit({ kind: "CreateSession", resume: session })).rejects.toMatchObject({
    reason: "NotAllowed",
    message: expect.stringMatching(new RegExp(`${session} is the session of a delegate.*Continue ${rig.session}`)),
  });
});

/** The first event of a kind among those that a client was told, now or when it comes. */
async function waitFor<Kind extends EventKind>(events: readonly Event[], kind: Kind): Promise<EventOf<Kind>> {
  for (;;) {
    const found = events.find((event) => event.kind === kind);
    if (found !== undefined) return found as EventOf<Kind>; // chosen by its kind
    await new Promise((resolve) => setImmediate(resolve));
  }
}
