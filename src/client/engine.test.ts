/** The client of an engine in this process: it follows what it opens from the first event on, and loses nothing. */
import { expect, test } from "vitest";
import type { Event } from "#protocol";
import { createSystemClock, createSystemRandom } from "#world";
import { calls, createHarnessRig, says } from "../../test/fakes/harness-rig.ts";
import { connectEngine } from "./engine.ts";
import { MAILBOX_MAX_EVENTS } from "./mailbox.ts";

test("what happens in a session is told to whoever has opened it, from its first event on, and asked there", async () => {
  const rig = await createHarnessRig([calls(["fs.write", { path: "a.txt", content: "x" }]), says("done")]);
  const parts = { clock: createSystemClock(), random: createSystemRandom() };
  const client = connectEngine({ engine: rig.harness, interactive: true, ...parts });
  const session = await client.open();
  // Nobody looks at the events yet: the question waits for whoever will.
  await session.send("write it");
  const seen: Event[] = [];
  for await (const event of session.events({ since: 0 })) {
    seen.push(event);
    if (event.kind === "PermissionRequested") await session.answer(event.payload.call_id, "allow_once");
    if (event.kind === "TurnEnded") break;
  }
  expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
  expect(seen[0]?.kind).toBe("SessionStarted");
  expect(seen.filter(client.isOwn)).toHaveLength(seen.length - 1);
  expect(seen.find(({ kind }) => kind === "ToolResult")).toMatchObject({ payload: { outcome: "ok" } });
  await client.close();
});

test("who opens a session and looks at its events late gets all of them, from the log where they are too many", async () => {
  const rig = await createHarnessRig([]);
  const parts = { clock: createSystemClock(), random: createSystemRandom() };
  const client = connectEngine({ engine: rig.harness, interactive: false, ...parts });
  const session = await client.open();
  const bus = rig.harness.control.session(session.id)?.bus;
  for (let n = 0; n <= MAILBOX_MAX_EVENTS; n++) {
    await bus?.publish("CustomEvent", { namespace: "test", kind: "n", payload: n });
  }
  const { last_event_id: last } = await session.info();
  const ids: number[] = [];
  for await (const { id } of session.events({ since: 0 })) if (ids.push(id) === last) break;
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  await client.close();
});
