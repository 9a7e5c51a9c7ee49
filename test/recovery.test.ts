/** Opening a session whose program stopped in the middle of a turn. */
import { describe, expect, test } from "vitest";
import type { Settings } from "#artifacts";
import type { EventDraft, SessionStore } from "#engine";
import { CallId, ClientId, type EventKind, type EventPayload, JobId, SessionId, TurnId } from "#protocol";
import { createMemoryStore } from "#stores";
import { createHarnessRig, says } from "./fakes/harness-rig.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const session = SessionId.from(ULID);
const turn = TurnId.from(ULID);
const originator = ClientId.from(ULID);
const call = (n: number) => CallId.from(String(n).padStart(26, "0"));
const NOW = "2026-01-01T00:00:00.000Z";

function draft<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): EventDraft {
  // The pair comes from one generic parameter, which the union type cannot express.
  return { kind, originator, ts: NOW, payload } as EventDraft;
}

function started(n: number, name: string, args: unknown, mutating: boolean): EventDraft[] {
  const toolClass = mutating ? "mutating" : "read_only";
  return [
    draft("ToolCallStarted", { turn, step: 1, block: n, call_id: call(n), name, label: name, args, class: toolClass }),
    draft("ToolIntent", { turn, step: 1, call_id: call(n), name, class: toolClass, args_hash: "0".repeat(64) }),
  ];
}

/** A store with a session that was cut off after these calls were begun. */
async function crashed(...calls: EventDraft[][]): Promise<SessionStore> {
  const store = createMemoryStore();
  await store.create({ id: session, workingDir: "", profile: "default", model: "openai:mock-model", createdAt: NOW });
  const log = await store.acquire(session);
  const input = { turn, content: [{ type: "text", text: "do it" } as const], model: "openai:mock-model" };
  await log.append([draft("TurnStarted", input), ...calls.flat()], NOW);
  await log.release();
  return store;
}

async function reopen(store: SessionStore, settings: Partial<Settings> = {}, interactive = false) {
  const rig = await createHarnessRig([says("I see."), says("And on.")], {
    settings,
    interactive,
    plugins: [{ name: "store", register: (host) => host.setStore(store) }],
  });
  rig.workspace.put("a.txt", "content of a\n");
  await rig.client.submit({ kind: "CreateSession", resume: session, working_dir: rig.workspace.root });
  const submit = rig.client.submit;
  const send = async (text: string) => {
    const { done } = await submit({ kind: "SendInput", session, content: [{ type: "text", text }] });
    return done;
  };
  const kinds = () => rig.events.filter((event) => event.session === session).map(({ kind }) => kind);
  return { rig, send, submit, kinds };
}

describe("a session that was cut off", () => {
  test("runs calls that change nothing again, closes the turn, and goes on", async () => {
    const { rig, send, kinds } = await reopen(await crashed(started(1, "fs.read", { path: "a.txt" }, false)));
    expect(kinds()).toEqual(["SessionStarted", "ToolIntent", "ToolOutcome", "ToolResult", "Error", "TurnEnded"]);
    expect(rig.of("TurnEnded")).toMatchObject([{ outcome: "error", reason: "Interrupted", steps: 1 }]);
    expect(await send("go on")).toMatchObject({ outcome: "answered" });
    expect(JSON.stringify(rig.vendor.requests[0]?.body)).toContain("content of a");
  });

  test.each([
    ["failed", "error"],
    ["succeeded", "ok"],
  ] as const)("halts at a call that may have changed something until it is marked %s", async (resolution, outcome) => {
    const store = await crashed(started(1, "exec", { command: "rm -rf build" }, true));
    const { rig, send, submit, kinds } = await reopen(store);
    expect(rig.of("OrphanedCall")).toEqual([
      { turn, call_id: call(1), name: "exec", args: { command: "rm -rf build" }, started_at: NOW },
    ]);
    await expect(send("go on")).rejects.toMatchObject({ reason: "OrphanUnresolved" });
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
    const answer = { kind: "ResolveOrphan", session, call_id: call(1), resolution, note: "I looked." } as const;
    await expect(agent.submit(answer)).rejects.toMatchObject({ reason: "NotAllowed" });
    await submit(answer);
    await expect(submit(answer)).rejects.toMatchObject({ reason: "CallNotFound" });
    expect(rig.of("ToolOutcome")).toMatchObject([{ call_id: call(1), outcome }]);
    expect(kinds().at(-1)).toBe("TurnEnded");
    expect(await send("go on")).toMatchObject({ outcome: "answered" });
    expect(JSON.stringify(rig.vendor.requests[0]?.body)).toContain("I looked.");
  });

  test("does not believe a log that says that a tool of ours changes nothing", async () => {
    const { rig, kinds } = await reopen(await crashed(started(1, "exec", { command: "touch ran" }, false)));
    expect(kinds()).toEqual(["SessionStarted", "OrphanedCall"]);
    expect(await rig.workspace.ports.files.stat("ran")).toBeUndefined();
  });

  test("takes the answer that somebody gave to a question, and does not ask it again", async () => {
    const question = { question: "Which?", options: ["a", "b"] };
    const store = await crashed(started(1, "ask_user", question, false), [
      draft("QuestionAsked", { turn, call_id: call(1), ...question }),
      draft("QuestionAnswered", { turn, call_id: call(1), answer: "b", by: originator }),
    ]);
    const { rig, kinds } = await reopen(store, {}, true);
    expect(kinds()).not.toContain("QuestionAsked");
    expect(rig.of("ToolResult")).toMatchObject([{ call_id: call(1), content: [{ type: "text", text: "b" }] }]);
  });

  test("does not ask again whether a call may run that somebody had allowed once", async () => {
    const args = { path: ".env" };
    const asked = { turn, call_id: call(1), name: "fs.read", label: "Read", args, summary: ".env", reason: "secret" };
    const store = await crashed([
      draft("PermissionRequested", asked),
      draft("PermissionAnswered", { turn, call_id: call(1), decision: "allow_once", by: originator }),
      ...started(1, "fs.read", args, false),
    ]);
    const { rig, kinds } = await reopen(store, {}, true);
    expect(kinds()).toEqual(["SessionStarted", "ToolOutcome", "ToolResult", "Error", "TurnEnded"]);
    expect(rig.of("ToolResult")).toMatchObject([{ call_id: call(1), outcome: "error" }]);
  });

  test("is in plan mode when it was", async () => {
    const planned = [draft("PlanModeChanged", { active: true })];
    const first = await reopen(await crashed(planned));
    await first.submit({ kind: "ExitPlanMode", session, approve: true });
    expect(first.rig.of("TurnEnded")).toMatchObject([{ plan_mode: true }]);
    expect(first.rig.of("PlanModeChanged")).toEqual([{ active: false }]);
  });

  test("has its mode, plan and todos, and says which background commands were lost", async () => {
    const job = JobId.from(ULID);
    const agreed = [
      draft("ModeChanged", { mode: "accept-edits", previous: "ask" }),
      draft("PlanChanged", { state: "agreed", plan: "1. Look" }),
      draft("TodosChanged", { todos: [{ text: "look", state: "active" }] }),
      draft("JobStarted", { turn, call_id: call(1), job, command: "npm test", timeout_ms: 1000 }),
    ];
    const { rig, send } = await reopen(await crashed(agreed));
    expect(rig.of("JobEnded")).toMatchObject([{ job, call_id: call(1), status: "lost" }]);
    expect(rig.harness.control.sessions().filter(({ id }) => id === session)).toMatchObject([
      { mode: "accept-edits", plan: "agreed", todos: [{ text: "look", state: "active" }], jobs: 0 },
    ]);
    expect(await send("go on")).toMatchObject({ outcome: "answered" });
    const sent = JSON.stringify(rig.vendor.requests[0]?.body);
    expect(sent).toContain("1. Look");
    expect(sent).toContain("was interrupted when the program stopped");
  });

  test("abort ends the session", async () => {
    const { rig, send, submit } = await reopen(await crashed(started(1, "fs.write", { path: "x" }, true)));
    await submit({ kind: "ResolveOrphan", session, call_id: call(1), resolution: "abort" });
    expect(rig.of("SessionEnded")).toEqual([{ reason: "user" }]);
    await expect(send("go on")).rejects.toMatchObject({ reason: "SessionNotFound" });
  });

  test("asks about each of several calls, and the next opening finds nothing left", async () => {
    const store = await crashed(
      started(1, "fs.write", { path: "x" }, true),
      started(2, "exec", { command: "y" }, true),
    );
    const { rig, submit } = await reopen(store);
    for (const n of [1, 2]) {
      await submit({ kind: "ResolveOrphan", session, call_id: call(n), resolution: "failed" });
    }
    await submit({ kind: "EndSession", session });
    rig.events.length = 0;
    await rig.client.submit({ kind: "CreateSession", resume: session, working_dir: rig.workspace.root });
    expect(rig.events.map(({ kind }) => kind)).toEqual(["SessionStarted"]);
  });
});

describe("a delegate that was cut off", () => {
  const child = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FAW");
  const begun = (mode: "sync" | "async") =>
    draft("DelegationStarted", {
      turn,
      call_id: call(1),
      session: child,
      agent: "scout",
      task: "Look.",
      mode,
      depth: 1,
      model: "openai:mock-model",
      tools: [],
      max_steps: 10,
      timeout_ms: 1000,
    });

  test("beside the turn has its end when the session is opened again, and the model is told", async () => {
    const [called] = started(1, "delegate_async", { task: "Look." }, false);
    const result = { turn, step: 1, call_id: call(1), name: "delegate_async", outcome: "ok", duration_ms: 0 } as const;
    const told = draft("ToolResult", { ...result, content: [{ type: "text", text: "{}" }], is_error: false });
    const store = await crashed([...(called === undefined ? [] : [called]), begun("async"), told]);
    await store.create({
      id: child,
      workingDir: "",
      profile: "default",
      model: "m:m",
      createdAt: NOW,
      parent: session,
    });
    const { rig, send, kinds } = await reopen(store);
    expect(kinds()).toEqual(["SessionStarted", "DelegationEnded", "Error", "TurnEnded"]);
    expect(rig.of("DelegationEnded")).toMatchObject([{ session: child, status: "interrupted", mode: "async" }]);
    expect(await store.get(child)).toMatchObject({ state: "ended", parent: session });
    await send("go on");
    const asked = JSON.stringify(rig.vendor.requests[0]?.body);
    expect(asked).toContain("was interrupted when the program stopped");
    expect(asked).toContain(child);
  });

  test("has used what it used: the budget of the tree goes on with it", async () => {
    const used = draft("CostIncremented", {
      ...{ turn, step: 1, provider: "m", model: "m:m", cost_usd: 0.5 },
      usage: { input_tokens: 10, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 },
    });
    const cutOff = async () => {
      const store = await crashed([begun("async")]);
      const made = { workingDir: "", profile: "default", model: "m:m", createdAt: NOW, parent: session };
      await store.create({ ...made, id: child });
      const log = await store.acquire(child);
      await log.append([used], NOW);
      await log.release();
      return store;
    };
    const prices = { "openai:mock-model": { input: 0, output: 0 } };
    const enough = await reopen(await cutOff(), { prices, budgets: { tree: { maxCostUsd: 0.51 } } });
    expect(await enough.send("go on")).toMatchObject({ outcome: "answered" });
    expect(enough.rig.of("TurnEnded").at(-1)?.tree_total).toMatchObject({ cost_usd: 0.5 });
    const spent = await reopen(await cutOff(), { prices, budgets: { tree: { maxCostUsd: 0.5 } } });
    expect(await spent.send("go on")).toMatchObject({ outcome: "error", reason: "BudgetExceeded" });
  });

  test("inside a call waits with that call for a person", async () => {
    const store = await crashed([...started(1, "delegate", { task: "Look." }, true), begun("sync")]);
    const { rig, send } = await reopen(store);
    expect(rig.of("DelegationEnded")).toMatchObject([{ session: child, status: "interrupted", mode: "sync" }]);
    expect(rig.of("OrphanedCall")).toMatchObject([{ name: "delegate" }]);
    await expect(send("go on")).rejects.toMatchObject({ reason: "OrphanUnresolved" });
  });

  test("tells which of its own calls were cut off, at every depth", async () => {
    const store = await crashed([...started(1, "delegate", { task: "Look." }, true), begun("sync")]);
    const below = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FAX");
    const made = { workingDir: "", profile: "default", model: "m:m", createdAt: NOW };
    const put = async (id: SessionId, parent: SessionId, drafts: readonly EventDraft[]): Promise<void> => {
      await store.create({ ...made, id, parent });
      const log = await store.acquire(id);
      await log.append(drafts, NOW);
      await log.release();
    };
    const asked = (cost_usd: number) =>
      draft("CostIncremented", {
        ...{ turn, step: 1, provider: "m", model: "m:m", cost_usd },
        usage: { input_tokens: 10, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 },
      });
    const deeper = { ...begun("sync").payload, session: below } as EventPayload<"DelegationStarted">;
    await put(child, session, [
      asked(0.5),
      ...started(2, "exec", { command: "make" }, true),
      ...started(3, "fs.read", { path: "a" }, false),
      ...started(4, "delegate", { task: "Look." }, true),
      draft("DelegationStarted", deeper),
    ]);
    await put(below, child, [asked(0.25), ...started(5, "fs.write", { path: "a", content: "x" }, true)]);
    const { rig } = await reopen(store);
    expect(rig.of("DelegationEnded")[0]?.cut_off).toEqual([
      { session: child, call_id: call(2), name: "exec" },
      { session: below, call_id: call(5), name: "fs.write" },
    ]);
    expect(await store.get(below)).toMatchObject({ state: "ended" });
    // What they used is not lost either: the budget of the tree goes on with it.
    expect(rig.of("DelegationEnded")[0]?.tree_total).toEqual({ cost_usd: 0.75, tokens: 22, steps: 2, calls: 4 });
  });
});
