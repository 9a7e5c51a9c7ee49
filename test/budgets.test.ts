/** Budgets and loops in the whole program: what is used up stops the turn, with at most one call too many. */
import { describe, expect, test } from "vitest";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";

const list = (path: string) => calls(["fs_list", { path }]);
/** Each with arguments of its own, so that nothing looks like a loop. */
const many = Array.from({ length: 12 }, (_, index) => list(`./${"./".repeat(index)}`));

describe("budgets", () => {
  test.each([
    ["tokens", { maxTokens: 1 }, 1],
    ["steps", { maxSteps: 2 }, 2],
    ["calls", { maxCalls: 3 }, 3],
  ] as const)("%s of a turn stop it before the next model call", async (kind, turn, asked) => {
    const rig = await createHarnessRig([...many, says("never")], { settings: { budgets: { turn } } });
    const ended = await rig.send();
    expect(ended).toMatchObject({ outcome: "error", reason: "BudgetExceeded" });
    expect(ended.message).toContain(kind);
    expect(rig.vendor.requests).toHaveLength(asked);
    expect(rig.of("ToolIntent").length).toBeLessThanOrEqual(asked);
    expect(rig.of("BudgetWarning")).toMatchObject([{ scope: "turn", kind }]);
  });

  test("calls that run side by side do not go past it together", async () => {
    const together = calls(
      ...Array.from({ length: 10 }, (_, index) => ["fs_list", { path: `./${"./".repeat(index)}` }] as const),
    );
    const rig = await createHarnessRig([together, says("done")], { settings: { budgets: { turn: { maxCalls: 3 } } } });
    await rig.send();
    expect(rig.of("ToolResult").filter(({ outcome }) => outcome === "ok")).toHaveLength(3);
  });

  test("a turn has its own budget, a session one for all its turns", async () => {
    const settings = { budgets: { turn: { maxSteps: 1 }, session: { maxSteps: 2 } } };
    const rig = await createHarnessRig([says("one"), says("two"), says("three")], { settings });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(await rig.send()).toMatchObject({ outcome: "error", reason: "BudgetExceeded" });
    expect(rig.vendor.requests).toHaveLength(2);
  });

  test.each(["session", "tree"] as const)(
    "one of a %s goes on where it was when the session is opened again",
    async (scope) => {
      const settings = { budgets: { [scope]: { maxSteps: 2 } } };
      const rig = await createHarnessRig([says("one"), says("two"), says("three")], { settings });
      expect(await rig.send()).toMatchObject({ outcome: "answered" });
      await rig.submit({ kind: "EndSession" });
      await rig.client.submit({ kind: "CreateSession", resume: rig.session });
      expect(await rig.send()).toMatchObject({ outcome: "answered" });
      expect(await rig.send()).toMatchObject({ outcome: "error", reason: "BudgetExceeded" });
    },
  );

  test("money counts where a price is known", async () => {
    const settings = {
      prices: { "openai:mock-model": { input: 1_000_000, output: 1_000_000 } },
      budgets: { session: { maxCostUsd: 0.5 } },
    };
    const rig = await createHarnessRig([says("dear"), says("never")], { settings });
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(await rig.send()).toMatchObject({ reason: "BudgetExceeded" });
    expect(rig.vendor.requests).toHaveLength(1);
  });
});

test("a budget in dollars refuses a model whose price nobody knows", async () => {
  const settings = { budgets: { session: { maxCostUsd: 0.5 } } };
  const rig = await createHarnessRig([says("free of charge?")], { settings });
  expect(await rig.send()).toMatchObject({ outcome: "error", reason: "PriceUnknown" });
  expect(rig.vendor.requests).toHaveLength(0);
});

test("what is left is told at the end of each turn", async () => {
  const rig = await createHarnessRig([says("one"), says("two")], {
    settings: { budgets: { session: { maxSteps: 5 } } },
  });
  await rig.send();
  await rig.send();
  expect(rig.of("BudgetLeft").map(({ budgets }) => budgets)).toEqual([
    [{ scope: "session", kind: "steps", used: 1, limit: 5 }],
    [{ scope: "session", kind: "steps", used: 2, limit: 5 }],
  ]);
  const kinds = rig.events.map(({ kind }) => kind).filter((kind) => kind === "BudgetLeft" || kind === "TurnEnded");
  expect(kinds).toEqual(["BudgetLeft", "TurnEnded", "BudgetLeft", "TurnEnded"]);
});

test("a tool that is called more often than its rate allows is refused, others are not", async () => {
  const rates = { models: {}, tools: [{ tool: "fs.[l]*", callsPerMinute: 2 }] };
  const read = calls(["fs_glob", { pattern: "*" }]);
  const rig = await createHarnessRig([...many.slice(0, 3), read, says("done")], { settings: { rateLimits: rates } });
  await rig.send();
  expect(rig.of("ToolResult").map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ["ok", undefined],
    ["ok", undefined],
    ["denied", "ToolRateLimited"],
    ["ok", undefined],
  ]);
  expect(JSON.stringify(rig.vendor.requests[3]?.body)).toMatch(
    /fs\.list may be called 2 times a minute .* again in \d+ s/,
  );
});

describe("the same call over and over", () => {
  test("is seen through another order of its arguments, blanks and a limit that changes nothing", async () => {
    const exec = (args: Record<string, unknown>) => calls(["exec", args]);
    const rig = await createHarnessRig([
      exec({ command: "ls", timeout_ms: 1000 }),
      exec({ timeout_ms: 1001, command: "ls " }),
      exec({ command: " ls", cwd: "." }),
      says("stuck"),
    ]);
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "ok", "denied"]);
  });

  test("is denied at the third when nobody can be asked", async () => {
    const rig = await createHarnessRig([list("."), list("."), list("."), says("stuck")]);
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "ok", "denied"]);
    expect(rig.of("CallJudged")).toMatchObject([{ judged: { effect: "ask", by: "repeated calls" } }]);
  });

  test("asks a person, who may let it go on", async () => {
    const rig = await createHarnessRig([list("."), list("."), list("."), says("done")], { interactive: true });
    const turn = rig.send();
    const { call_id, reason } = await rig.next("PermissionRequested");
    expect(reason).toContain("in a row");
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
    await turn;
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
  });

  test("is no loop when something else happens in between", async () => {
    const rig = await createHarnessRig([list("."), list("."), list("./."), list("."), list("."), says("done")]);
    await rig.send();
    expect(rig.of("ToolResult").every(({ outcome }) => outcome === "ok")).toBe(true);
  });
});
