/** Plan mode, plans that people agree to, modes and todos, in the whole program: what runs, what the model reads, what survives. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { agentFile, answers, delegates, makes } from "./fakes/roles.ts";

const PLAN = "1. Read a.txt\n2. Change it";
const write = (path: string) => ["fs_write", { path, content: "x" }] as const;

/** What the vendor was sent at the n-th request, as text. */
function request(rig: HarnessRig, at: number): string {
  return JSON.stringify(rig.vendor.requests[at]?.body);
}

function outcomes(rig: HarnessRig): readonly string[] {
  return rig.of("ToolResult").map(({ outcome }) => outcome);
}

describe("in plan mode", () => {
  test("commands run as readers where they need no question, and nothing else does", async () => {
    const rig = await createHarnessRig(
      [
        calls(["exec", { command: "ls" }], ["exec", { command: "touch made" }]),
        calls(["exec", { command: "cat a.txt", ask: true }]),
        says("done"),
      ],
      {
        interactive: true,
        settings: {
          tools: { execution: "auto", onError: "continue" },
          permissions: [
            { effect: "allow", rule: "Bash(ls)", source: "test" },
            { effect: "allow", rule: "Bash(touch *)", source: "test" },
          ],
        },
      },
    );
    rig.workspace.put("a.txt", "content");
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send();
    expect(outcomes(rig)).toEqual(["ok", "denied", "denied"]);
    expect(rig.of("ToolIntent")).toMatchObject([{ allowed_by: { by: "quiet preset", confinement: "reader" } }]);
    expect(rig.of("PermissionRequested")).toEqual([]);
    expect(existsSync(join(rig.workspace.root, "made"))).toBe(false);
  });

  test("the model reads where it begins and ends, and what was sent before stays as it was", async () => {
    const rig = await createHarnessRig([says("a"), says("b"), says("c")]);
    await rig.send("one");
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send("two");
    await rig.submit({ kind: "SetMode", mode: "ask" });
    await rig.send("three");
    const sent = rig.vendor.requests.map(({ body }) => (body as { messages: readonly unknown[] }).messages);
    expect(request(rig, 0)).not.toContain("Plan mode is");
    expect(request(rig, 1)).toContain("Plan mode is on");
    expect(request(rig, 2)).toContain("Plan mode is off");
    expect(sent[1]?.slice(0, sent[0]?.length)).toEqual(sent[0]);
    expect(sent[2]?.slice(0, sent[1]?.length)).toEqual(sent[1]);
  });

  test("the person edits the plan and approves it, and what was agreed is in every later request", async () => {
    const rig = await createHarnessRig(
      [calls(["plan", { plan: PLAN }]), calls(write("made")), says("done"), says("more")],
      { interactive: true, settings: { permissions: [{ effect: "allow", rule: "Write", source: "test" }] } },
    );
    await rig.submit({ kind: "EnterPlanMode" });
    const turn = rig.send();
    expect(await rig.next("QuestionAsked")).toMatchObject({ plan: PLAN });
    await rig.submit({ kind: "ExitPlanMode", approve: true, plan: "1. Only this" });
    await turn;
    expect(outcomes(rig)).toEqual(["ok", "ok"]);
    expect(rig.of("PlanChanged")).toMatchObject([{ state: "agreed", plan: "1. Only this", edited: true }]);
    const order = rig.events.map(({ kind }) => kind);
    expect(order.indexOf("PlanChanged")).toBeLessThan(order.lastIndexOf("PlanModeChanged"));
    await rig.send("go on");
    for (const at of [1, 2, 3]) expect(request(rig, at)).toContain("edited your plan and agreed to this text");
  });

  test("what a person says instead of approving reaches the model, and plan mode stays on", async () => {
    const rig = await createHarnessRig([calls(["plan", { plan: PLAN }]), calls(write("made")), says("done")], {
      interactive: true,
    });
    await rig.submit({ kind: "EnterPlanMode" });
    const turn = rig.send();
    const { call_id } = await rig.next("QuestionAsked");
    await rig.submit({ kind: "AnswerQuestion", call_id, answer: "First look at b.txt" });
    await turn;
    expect(request(rig, 1)).toContain("First look at b.txt");
    expect(outcomes(rig)).toEqual(["ok", "denied"]);
    expect(rig.of("PlanChanged")).toEqual([]);
  });

  test("one plan waits at a time, and an answer counts only for the plan that was shown", async () => {
    const rig = await createHarnessRig(
      [calls(["plan", { plan: PLAN }], ["plan", { plan: "1. Something else" }]), says("done")],
      { interactive: true },
    );
    await rig.submit({ kind: "EnterPlanMode" });
    const turn = rig.send();
    const { call_id } = await rig.next("QuestionAsked");
    const other = rig.of("ToolCallStarted").find((call) => call.call_id !== call_id)?.call_id;
    const late = rig.submit({ kind: "ExitPlanMode", call_id: other, approve: true });
    await expect(late).rejects.toMatchObject({ reason: "CallNotFound" });
    await rig.submit({ kind: "ExitPlanMode", call_id, approve: true });
    await turn;
    expect(rig.of("QuestionAsked")).toHaveLength(1);
    expect(rig.of("PlanChanged")).toMatchObject([{ state: "agreed", plan: PLAN }]);
    expect(request(rig, 1)).toContain("Propose one plan at a time");
  });

  test.each(["approve", '{"plan":"1. Something else"}'])("a rejection approves nothing: %s", async (reason) => {
    const rig = await createHarnessRig([calls(["plan", { plan: PLAN }]), says("done")], { interactive: true });
    await rig.submit({ kind: "EnterPlanMode" });
    const turn = rig.send();
    const { call_id } = await rig.next("QuestionAsked");
    await rig.submit({ kind: "ExitPlanMode", call_id, approve: false, reason });
    await turn;
    expect(rig.of("PlanChanged")).toEqual([]);
    const [{ content } = { content: [] }] = rig.of("ToolResult");
    expect(content).toMatchObject([{ text: expect.stringContaining(`They said: ${reason}`) }]);
  });

  test("a plan that nobody could answer stays proposed and can be approved later", async () => {
    const rig = await createHarnessRig([calls(["plan", { plan: PLAN }]), says("waiting"), says("done")]);
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send();
    expect(rig.harness.control.sessions()).toMatchObject([{ plan: "proposed" }]);
    await rig.submit({ kind: "ExitPlanMode", approve: true });
    await rig.send("go on");
    expect(rig.of("PlanChanged").map(({ state, plan }) => [state, plan])).toEqual([
      ["proposed", PLAN],
      ["agreed", PLAN],
    ]);
    expect(request(rig, 2)).toContain("The user agreed to this plan");
  });

  test.each([
    ["an agent may enter it", { kind: "EnterPlanMode" }, undefined],
    ["only a person approves", { kind: "ExitPlanMode", approve: true }, "NotAllowed"],
    ["only a person sets another mode", { kind: "SetMode", mode: "accept-edits" }, "NotAllowed"],
    ["only a person closes a plan", { kind: "ClosePlan", as: "done" }, "NotAllowed"],
  ] as const)("%s", async (_name, command, reason) => {
    const rig = await createHarnessRig([]);
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: false });
    const submitted = agent.submit({ ...command, session: rig.session });
    if (reason === undefined) expect(await submitted).toEqual({});
    else await expect(submitted).rejects.toMatchObject({ reason });
  });
});

describe("a plan", () => {
  const agreed = async (...replies: Parameters<typeof createHarnessRig>[0]) => {
    const rig = await createHarnessRig(replies);
    await rig.submit({ kind: "ExitPlanMode", approve: true, plan: PLAN });
    return rig;
  };

  test("is closed by the agent when it is carried out", async () => {
    const rig = await agreed(calls(["plan", { done: true }]), says("done"));
    await rig.send();
    expect(rig.of("PlanChanged")).toMatchObject([{ state: "agreed" }, { state: "done" }]);
  });

  test("is dropped by a person, and the model reads that", async () => {
    const rig = await agreed(says("ok"));
    await rig.submit({ kind: "ClosePlan", as: "dropped" });
    await rig.send();
    expect(request(rig, 0)).toContain("The user dropped the plan");
    await expect(rig.submit({ kind: "ClosePlan", as: "dropped" })).rejects.toMatchObject({ reason: "NotAllowed" });
  });

  test("of a megabyte is refused, and so is an edit that is too long", async () => {
    const rig = await createHarnessRig(
      [calls(["plan", { plan: "x".repeat(1024 ** 2) }]), calls(["plan", { plan: PLAN }]), says("done")],
      { interactive: true },
    );
    const turn = rig.send();
    const { call_id } = await rig.next("QuestionAsked");
    await rig.submit({ kind: "AnswerQuestion", call_id, answer: JSON.stringify({ plan: "y".repeat(40_000) }) });
    await turn;
    expect(outcomes(rig)).toEqual(["error", "error"]);
    expect(rig.of("PlanChanged")).toEqual([]);
  });
});

describe("the mode accept-edits", () => {
  test("lets Edit and Write pass unasked; steering files, commands and other tools still ask", async () => {
    const rig = await createHarnessRig(
      [
        calls(write("a.txt"), ["fs_edit", { path: "a.txt", old_text: "x", new_text: "y" }], write(".git/config")),
        calls(["exec", { command: "touch b" }], ["fs_remove", { path: "a.txt" }]),
        says("done"),
      ],
      { settings: { tools: { execution: "auto", onError: "continue" } } },
    );
    await rig.submit({ kind: "SetMode", mode: "accept-edits" });
    await rig.send();
    expect(outcomes(rig)).toEqual(["ok", "ok", "denied", "denied", "denied"]);
    expect(rig.of("ModeChanged")).toMatchObject([{ mode: "accept-edits", previous: "ask" }]);
    expect((await rig.submit({ kind: "ListRules" })).result).toContainEqual({
      effect: "allow",
      rule: "fs.write",
      source: "mode accept-edits",
    });
    expect(rig.harness.control.sessions()).toMatchObject([{ mode: "accept-edits" }]);
  });

  test("replaces no secret file, except where a rule of the user lets it", async () => {
    const settings = { tools: { execution: "auto", onError: "continue" } } as const;
    const paths = [write(".env"), write("deploy.pem"), write("a.txt")];
    const rig = await createHarnessRig([calls(...paths), says("done")], { settings });
    await rig.submit({ kind: "SetMode", mode: "accept-edits" });
    await rig.send();
    expect(outcomes(rig)).toEqual(["denied", "denied", "ok"]);
    const permissions = [{ effect: "allow", rule: "Write", source: "test" }] as const;
    const ruled = await createHarnessRig([calls(...paths), says("done")], { settings: { ...settings, permissions } });
    await ruled.submit({ kind: "SetMode", mode: "accept-edits" });
    await ruled.send();
    expect(outcomes(ruled)).toEqual(["ok", "ok", "ok"]);
  });

  test("is what plan mode goes back to", async () => {
    const rig = await createHarnessRig([]);
    await rig.submit({ kind: "SetMode", mode: "accept-edits" });
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.submit({ kind: "ExitPlanMode", approve: true });
    expect(rig.of("ModeChanged").map(({ mode }) => mode)).toEqual(["accept-edits", "plan", "accept-edits"]);
  });
});

describe("the list of todos", () => {
  const todos = [
    { text: "read", state: "done" },
    { text: "write\u001b[2J", state: "active" },
  ];

  test("is an event and part of the session's state, with control characters made visible", async () => {
    const rig = await createHarnessRig([calls(["todos", { todos }]), says("done")]);
    await rig.send();
    const shown = [todos[0], { text: "write⟨U+001B⟩[2J", state: "active" }];
    expect(rig.of("TodosChanged")).toMatchObject([{ todos: shown }]);
    expect(rig.harness.control.sessions()).toMatchObject([{ todos: shown }]);
  });

  test.each([
    ["too many", Array.from({ length: 51 }, () => ({ text: "a", state: "pending" }))],
    ["one that is too long", [{ text: "a".repeat(201), state: "pending" }]],
    ["one without a text", [{ text: " ", state: "pending" }]],
    ["a state that there is not", [{ text: "a", state: "later" }]],
  ])("refuses %s and stays as it was", async (_name, wrong) => {
    const rig = await createHarnessRig([calls(["todos", { todos: wrong }]), says("done")]);
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true, reason: "InvalidArguments" }]);
    expect(rig.of("TodosChanged")).toEqual([]);
  });
});

test("a delegate reads that plan mode is on, its calls are held back, and it starts nothing in the background", async () => {
  const write = { path: "made", content: "x" };
  const rig = await createDelegationRig(
    {
      ".harness/agents/scout.md": agentFile("scout", "tools: [fs.write, exec]\n"),
      ".harness/agents/runner.md": agentFile("runner", "tools: [exec]\n"),
    },
    {
      root: [
        delegates({ agent: "scout", task: "Look." }),
        answers("done"),
        delegates({ agent: "runner", task: "Do." }),
        answers("done"),
      ],
      scout: [
        (call) => makes(["exec", { command: "ls" }], ["fs.write", write])(call),
        (call) => answers(JSON.stringify(call.request.messages))(call),
      ],
      runner: [makes(["exec", { command: "ls", background: true }]), answers("done")],
    },
  );
  await rig.submit({ kind: "EnterPlanMode" });
  await rig.send("go");
  const [child] = rig.children();
  expect(rig.ofSession(child, "PlanModeChanged")).toEqual([{ active: true }]);
  expect(rig.ofSession(child, "ToolResult").map(({ outcome, name }) => [name, outcome])).toEqual([
    ["exec", "ok"],
    ["fs.write", "denied"],
  ]);
  await rig.submit({ kind: "SetMode", mode: "ask" });
  await rig.send("again");
  const second = rig.children()[1];
  expect(JSON.stringify(rig.ofSession(second, "ToolResult"))).toContain("cannot run in the background here");
});
