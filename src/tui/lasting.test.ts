/** What an interface that comes later shows of what the session holds from before its time. */
import { expect, onTestFinished, test } from "vitest";
import { playScene, sceneEvent } from "../../test/fakes/golden-screens.ts";
import { calls, says } from "../../test/fakes/harness-rig.ts";
import { startInterface } from "../../test/fakes/interface-rig.ts";
import type { MockReply } from "../../test/fakes/mock-reply.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";
import { withLasting, withNewer } from "./lasting.ts";
import type { SessionFacts } from "./session-status.ts";
import { initialState, type State } from "./state.ts";

test("inputs that waited before are shown, come back for editing, and leave when they begin", async () => {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  const { rig, session, attach } = await startInterface([
    { ...says("one"), headersAfter: gate.promise } as MockReply,
    says("two"),
  ]);
  await session.send("a");
  await session.queue("first queued");
  await session.queue("second queued");
  const { last_event_id: since } = await session.info();
  const screen = await attach(since);
  await screen.shows(/^: queued: first queued\n: queued: second queued {2}Alt-↑ edits$/m);
  screen.type(KEYS.altUp);
  await screen.shows(/^second queued$/m);
  await session.queue("third queued");
  await screen.shows(/^: queued: first queued\n: queued: third queued/m);
  screen.type(KEYS.altUp);
  await screen.shows(/^third queued\nsecond queued$/m);
  gate.resolve();
  await screen.shows(/› first queued[\s\S]*two/);
  expect(screen.screen()).not.toContain(": queued");
  expect(rig.vendor.requests).toHaveLength(2);
});

test("the plan and the todos are there, and what happens later changes them", async () => {
  const { session, attach } = await startInterface([
    calls(["todos", { todos: [{ text: "look", state: "active" }] }]),
    says("done"),
  ]);
  await session.send("a");
  await session.submit({ kind: "ExitPlanMode", approve: true, plan: "1. Look around" });
  await expect.poll(async () => (await session.info()).todos).toHaveLength(1);
  const { last_event_id: since } = await session.info();
  const screen = await attach(since);
  await screen.shows(/: plan agreed: Look around[\s\S]*: todo 0\/1 {2}look/);
  await session.submit({ kind: "ClosePlan", as: "done" });
  await screen.shows("The plan is done.");
  await expect.poll(() => screen.screen()).not.toContain("plan agreed");
});

test("the conversation does not wait for what the session holds from before", async () => {
  const content = [{ type: "text", text: "what was asked" }];
  const shown = await playScene({
    events: [["TurnStarted", { turn: "turn_1", content, model: "m" }]],
    session: { submit: () => new Promise(() => undefined) },
  });
  expect(shown).toContain("› what was asked");
});

test("what has happened since counts on top of facts that come later", () => {
  const waits = (id: number, text: string) => ({ id, content: [{ type: "text", text }] });
  const events = [
    sceneEvent(11, "InputQueued", waits(11, "new")),
    sceneEvent(12, "TurnStarted", { turn: "turn_1", queued: 7, content: [], model: "m" }),
    sceneEvent(13, "PlanChanged", { state: "agreed", plan: "1. New plan" }),
    sceneEvent(14, "TextDelta", { turn: "turn_1", step: 1, block: 0, text: "not kept" }),
  ];
  const size = { columns: 80, rows: 24 };
  const fresh = initialState(sceneEvent(1, "", {}).session, { model: "m", theme: "dark", size, nowMs: 0, since: 10 });
  const lasting = events.reduce<State["lasting"]>(withNewer, fresh.lasting);
  expect(lasting?.events.map(({ id }) => id)).toEqual([11, 12, 13]);
  const facts = {
    queued: [7, 8, 11].map((id) => ({ id, text: `input ${id}` })),
    todos: [{ text: "look", state: "active" }],
    agreed_plan: "1. Old plan",
  } as unknown as SessionFacts; // only what is from before
  const known = withLasting({ ...fresh, lasting }, facts);
  expect(known.queue).toEqual([waits(8, "input 8"), waits(11, "new")]);
  expect(known.plan.agreed).toBe("1. New plan");
  expect(known.transcript.todos).toEqual(facts.todos);
  // From then on its events say what changes.
  expect(known.lasting).toBeUndefined();
  expect(withLasting({ ...known, queue: [] }, facts).queue).toEqual([]);
});
