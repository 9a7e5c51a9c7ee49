/** What an interface that comes later shows of what the session holds from before its time. */
import { expect, onTestFinished, test } from "vitest";
import { calls, says } from "../../test/fakes/harness-rig.ts";
import { startInterface } from "../../test/fakes/interface-rig.ts";
import type { MockReply } from "../../test/fakes/mock-reply.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

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
