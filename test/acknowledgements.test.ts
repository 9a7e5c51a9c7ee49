/** Nobody is told that a command was carried out before the log has it. `bench/ack-kill.ts` shows the same with kill -9. */
import { describe, expect, test } from "vitest";
import type { SessionStore } from "#engine";
import { type EventKind, ReasonError, type SessionCommandKind, type SessionCommandOf } from "#protocol";
import { createMemoryStore } from "#stores";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import type { MockReply } from "./fakes/mock-reply.ts";

/** A store whose log can be made to wait, or to fail. */
function createGatedStore() {
  const base = createMemoryStore();
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  let failure: Error | undefined;
  const store: SessionStore = {
    ...base,
    async update(id, fields) {
      if (failure !== undefined) throw failure;
      await base.update(id, fields);
    },
    async acquire(id) {
      const log = await base.acquire(id);
      return {
        ...log,
        async append(drafts, now) {
          await gate.promise;
          if (failure !== undefined) throw failure;
          return log.append(drafts, now);
        },
      };
    },
  };
  return {
    store,
    close() {
      gate = Promise.withResolvers<void>();
    },
    open: () => gate.resolve(),
    fail(error: Error | undefined) {
      failure = error;
    },
  };
}

async function openRig(...replies: MockReply[]) {
  const log = createGatedStore();
  const rig = await createHarnessRig(replies, {
    interactive: true,
    plugins: [{ name: "store", register: (host) => host.setStore(log.store) }],
  });
  return { log, rig };
}

async function untilAsked(rig: HarnessRig, kind: "PermissionRequested" | "QuestionAsked") {
  await rig.submit({ kind: "SendInput", content: [{ type: "text", text: "go" }] });
  return (await rig.next(kind)).call_id;
}

type SessionCommand = { [Kind in SessionCommandKind]: SessionCommandOf<Kind> }[SessionCommandKind];

interface Acknowledged {
  readonly kind: string;
  readonly replies: readonly MockReply[];
  /** Brings the session to where the command can be given. */
  command(rig: HarnessRig): Promise<SessionCommand>;
  /** What is in the log when it was. */
  readonly event: EventKind;
}

const write = calls(["fs.write", { path: "a.txt", content: "x" }]);
const question = calls(["ask_user", { question: "Which?", options: ["a", "b"] }]);
const text = [{ type: "text", text: "hello" } as const];

const acknowledged: readonly Acknowledged[] = [
  {
    kind: "SendInput",
    replies: [says("hi")],
    event: "TurnStarted",
    command: async () => ({ kind: "SendInput", content: text }),
  },
  {
    kind: "RunShellCommand",
    replies: [],
    event: "TurnStarted",
    command: async () => ({ kind: "RunShellCommand", command: "true" }),
  },
  {
    kind: "AnswerPermission",
    replies: [write, says("done")],
    event: "PermissionAnswered",
    command: async (rig) => ({
      kind: "AnswerPermission",
      call_id: await untilAsked(rig, "PermissionRequested"),
      decision: "allow_tool",
    }),
  },
  {
    kind: "AnswerQuestion",
    replies: [question, says("done")],
    event: "QuestionAnswered",
    command: async (rig) => ({
      kind: "AnswerQuestion",
      call_id: await untilAsked(rig, "QuestionAsked"),
      answer: "b",
    }),
  },
  {
    kind: "QueueInput",
    replies: [write, says("done"), says("and that")],
    event: "InputQueued",
    async command(rig) {
      await untilAsked(rig, "PermissionRequested");
      return { kind: "QueueInput", content: text };
    },
  },
  {
    kind: "SteerTurn",
    replies: [write, says("done")],
    event: "TurnSteered",
    async command(rig) {
      await untilAsked(rig, "PermissionRequested");
      return { kind: "SteerTurn", content: text };
    },
  },
  {
    kind: "SetModel",
    replies: [],
    event: "ModelChanged",
    command: async () => ({ kind: "SetModel", model: "openai:other" }),
  },
  {
    kind: "EnterPlanMode",
    replies: [],
    event: "PlanModeChanged",
    command: async () => ({ kind: "EnterPlanMode" }),
  },
  {
    kind: "SetContext",
    replies: [],
    event: "ContextSet",
    command: async () => ({ kind: "SetContext", values: { mode: "review" } }),
  },
  {
    kind: "RevokeRule",
    replies: [write, says("done")],
    event: "RuleChanged",
    async command(rig) {
      const call_id = await untilAsked(rig, "PermissionRequested");
      await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_tool" });
      await rig.next("TurnEnded");
      return { kind: "RevokeRule", rule: "fs.write" };
    },
  },
];

describe.each(acknowledged)("$kind", ({ replies, event, command }) => {
  test("is told when the log has it", async () => {
    const { log, rig } = await openRig(...replies);
    const given = await command(rig);
    log.close();
    let isTold = false;
    const reply = rig.submit(given).then(() => {
      isTold = true;
    });
    await tick();
    expect([isTold, rig.of(event).length]).toEqual([false, 0]);
    log.open();
    await reply;
    expect(rig.of(event).length).toBeGreaterThan(0);
    await rig.submit({ kind: "CancelTurn" });
  });

  test("is refused with the reason when the log cannot take it", async () => {
    const { log, rig } = await openRig(...replies);
    const given = await command(rig);
    log.fail(new Error("disk full"));
    await expect(rig.submit(given)).rejects.toMatchObject({ reason: "StoreFailed" });
    log.fail(undefined);
    expect(rig.of(event)).toEqual([]);
  });
});

test("a second answer to the same question is recorded as too late, also when both come before the log has one", async () => {
  const { log, rig } = await openRig(write, says("done"));
  const call_id = await untilAsked(rig, "PermissionRequested");
  log.close();
  const first = rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
  const second = rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
  log.open();
  await Promise.all([first, second]);
  await rig.next("TurnEnded");
  expect(rig.of("PermissionAnswered")).toMatchObject([{ decision: "deny" }]);
  expect(rig.of("AnswerTooLate")).toMatchObject([{ call_id, decision: "allow_once", by: rig.client.id }]);
});

test("of two inputs at once one is refused before the log has the other", async () => {
  const { log, rig } = await openRig(says("hi"));
  log.close();
  const first = rig.submit({ kind: "SendInput", content: text });
  await expect(rig.submit({ kind: "SendInput", content: text })).rejects.toMatchObject({ reason: "TurnInProgress" });
  log.open();
  expect((await first).turn).toBe(rig.of("TurnStarted")[0]?.turn);
});

test("whoever enters plan mode second is told when the log has the first", async () => {
  const { log, rig } = await openRig();
  log.close();
  let told = 0;
  const both = [1, 2].map(() => rig.submit({ kind: "EnterPlanMode" }).then(() => (told += 1)));
  await tick();
  expect(told).toBe(0);
  log.open();
  await Promise.all(both);
  expect(rig.of("PlanModeChanged")).toEqual([{ active: true }]);
});

test("two changes of the context at once both count", async () => {
  const { rig } = await openRig();
  await Promise.all([
    rig.submit({ kind: "SetContext", values: { mode: "review" } }),
    rig.submit({ kind: "SetContext", values: { env: "test" } }),
  ]);
  expect(rig.of("ContextSet").at(-1)).toEqual({ values: { mode: "review", env: "test" } });
});

test("an end that cannot be recorded is refused: the session stays open, and its queue goes on", async () => {
  const { log, rig } = await openRig(says("one"));
  log.fail(new ReasonError("StoreFailed", { detail: "no space is left" }));
  await expect(rig.submit({ kind: "EndSession" })).rejects.toMatchObject({ reason: "StoreFailed" });
  expect(await log.store.get(rig.session)).toMatchObject({ state: "active" });
  log.fail(undefined);
  await rig.submit({ kind: "QueueInput", content: text });
  expect(await rig.next("TurnEnded")).toMatchObject({ outcome: "answered" });
  await rig.submit({ kind: "EndSession" });
  expect(await log.store.get(rig.session)).toMatchObject({ state: "ended" });
  expect(rig.of("SessionEnded")).toEqual([{ reason: "user" }]);
});

/** Lets everything that is already due happen. */
function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
