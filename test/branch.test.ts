/** A branch that is made while its source is open, and goes on in the real engine on its own. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPortability } from "#stores";
import { createSystemClock } from "#world";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

test("a branch is resumed with the conversation up to its cut, under its own ids", async () => {
  const root = join(createTemporaryWorkspace().root, "log");
  const rig = await createHarnessRig(
    [calls(["fs_list", { path: "." }]), says("first answer"), says("second answer"), says("another second answer")],
    { store: { kind: "jsonl", root } },
  );
  await rig.send("first question");
  const cut = rig.events.findLast(({ kind }) => kind === "TurnEnded")?.id ?? 0;
  await rig.send("second question");

  const { openJsonlStore, branchSession } = await loadPortability();
  const store = await openJsonlStore({ root, clock: createSystemClock() });
  const branch = await branchSession(store, rig.session, { at: cut, now: "2026-01-01T00:00:00.000Z" });
  const { session } = await rig.client.submit({ kind: "CreateSession", resume: branch.session });
  expect(session).toBe(branch.session);
  const input = { type: "text", text: "instead" } as const;
  const { done } = await rig.client.submit({ kind: "SendInput", session: branch.session, content: [input] });
  expect(await done).toMatchObject({ outcome: "answered" });

  const asked = JSON.stringify(rig.vendor.requests.at(-1)?.body);
  expect(asked).toContain("first question");
  expect(asked).toContain("first answer");
  expect(asked).not.toContain("second");
  const source = await store.get(rig.session);
  const grown = await store.get(branch.session);
  expect(source?.lastEventId).toBe(rig.events.filter((event) => event.session === rig.session).at(-1)?.id);
  expect(grown?.lastEventId).toBeGreaterThan(cut);
  await store.close();
});

test("an input that waited in its source does not begin in a branch", async () => {
  const root = join(createTemporaryWorkspace().root, "log");
  const rig = await createHarnessRig([says("first answer"), says("second answer"), says("third answer")], {
    store: { kind: "jsonl", root },
  });
  const content = (text: string) => [{ type: "text" as const, text }];
  const first = { session: rig.session, content: content("first question") };
  const { done } = await rig.client.submit({ kind: "SendInput", ...first });
  await rig.client.submit({ kind: "QueueInput", session: rig.session, content: content("second question") });
  await done;
  await expect.poll(() => rig.events.filter(({ kind }) => kind === "TurnEnded").length).toBe(2);
  const cut = rig.events.find(({ kind }) => kind === "TurnEnded");
  expect(cut).toMatchObject({ payload: { queued: [expect.any(Number)] } });

  const { openJsonlStore, branchSession } = await loadPortability();
  const store = await openJsonlStore({ root, clock: createSystemClock() });
  const { session } = await branchSession(store, rig.session, { at: cut?.id ?? 0, now: "2026-01-01T00:00:00.000Z" });
  await rig.client.submit({ kind: "CreateSession", resume: session });
  const { done: answered } = await rig.client.submit({ kind: "SendInput", session, content: content("instead") });
  await answered;
  const started = rig.events.filter((event) => event.session === session && event.kind === "TurnStarted");
  expect(started).toMatchObject([{ payload: { content: content("instead") } }]);
  expect(JSON.stringify(rig.vendor.requests.at(-1)?.body)).not.toContain("second question");
  await store.close();
});
