/** A queued input over a snapshot: the log is then not read from its beginning, and the input is still delivered, once. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createUlidFactory, defined } from "#base";
import { reopenSession } from "#engine";
import { createIdMint, type Event, type EventPayload } from "#protocol";
import { openSqliteStore } from "#stores";
import { createSystemClock, createSystemRandom } from "#world";
import { createFakeProvider, type FakeResponse, says, text } from "./fakes/fake-provider.ts";
import { createPlainSession } from "./fakes/plain-session.ts";

const clock = createSystemClock();
const ids = createIdMint(createUlidFactory({ clock, random: createSystemRandom() }));
const content = (value: string) => [{ type: "text" as const, text: value }];

const turn = ids.turn();
const cost = {
  ...{ turn, step: 1, provider: "fake", model: "fake:one", cost_usd: 0.5 },
  usage: { input_tokens: 10, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 },
};
const labelled: EventPayload<"ToolResult"> = {
  ...{ turn, step: 1, call_id: ids.call(), name: "fs.read", is_error: false, outcome: "ok", duration_ms: 1 },
  content: [],
  labels: ["private"],
};

/** A store with one session, and how to open it: as its first program, or as the next one. */
async function openStore() {
  const folder = mkdtempSync(join(tmpdir(), "harness-queue-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const key = { bytes: Buffer.alloc(32, 1), source: "a test" };
  const store = await openSqliteStore({ path: join(folder, "sessions.db"), clock, key });
  onTestFinished(() => store.close());
  const id = ids.session();
  const createdAt = new Date(clock.now()).toISOString();
  await store.create({ id, workingDir: "/w", profile: "p", model: "fake:one", createdAt });

  async function open(isNew: boolean, responses: FakeResponse[] = [says(text("one")), says(text("two"))]) {
    const log = await store.acquire(id);
    const earlier = isNew ? undefined : await reopenSession(store, log, id);
    const seen: Event[] = [];
    const session = createPlainSession({
      id,
      clock,
      ids,
      store,
      log,
      provider: createFakeProvider(responses),
      snapshotEveryEvents: 1,
      subscribers: [(event) => seen.push(event)],
      ...defined({ earlier }),
    });
    return { session, log, seen, earlier };
  }

  return { open };
}

test("an input that waited when the snapshot was made begins its turn after the restart", async () => {
  const { open } = await openStore();
  const first = await open(true);
  first.session.holdQueue();
  const { done } = first.session.send(ids.client(), content("a"));
  await first.session.queue(ids.client(), content("b"));
  await done;
  await first.session.settled();
  expect(first.seen.at(-1)).toMatchObject({ kind: "TurnEnded", payload: { queued: [expect.any(Number)] } });
  await first.log.release();

  const second = await open(false);
  expect(second.earlier).toMatchObject({ eventsRead: 0, snapshotEvent: first.seen.at(-1)?.id });
  await second.session.begin();
  await second.session.running?.ended;
  const started = second.seen.filter(({ kind }) => kind === "TurnStarted");
  expect(started).toMatchObject([{ payload: { content: [{ text: "b" }] } }]);
  await second.session.settled();
  await second.log.release();

  const third = await open(false);
  await third.session.begin();
  expect(third.session.running).toBeUndefined();
  await third.log.release();
});

test("what waits and what the session holds outlive the snapshot at the end of a turn that was cut off", async () => {
  const { open } = await openStore();
  const first = await open(true, [() => new Promise(() => undefined)]);
  void first.session.send(ids.client(), content("a"));
  await first.session.queue(ids.client(), content("b"));
  await first.session.bus.publish("CostIncremented", cost);
  await first.session.bus.publish("ToolResult", labelled);
  await first.session.bus.publish("PlanModeChanged", { active: true });
  await first.log.release();

  const second = await open(false);
  second.session.holdQueue();
  await second.session.begin();
  await second.session.settled();
  const totals = { cost_usd: 0.5, tokens: 11, steps: 1, calls: 0 };
  expect(second.seen.at(-1)).toMatchObject({
    kind: "TurnEnded",
    payload: {
      reason: "Interrupted",
      session_total: totals,
      labels: ["private"],
      plan_mode: true,
      queued: [expect.any(Number)],
    },
  });
  await second.log.release();

  const third = await open(false);
  expect(third.earlier).toMatchObject({ eventsRead: 0, snapshotEvent: second.seen.at(-1)?.id });
  expect(third.earlier?.remains).toMatchObject({ spent: totals, labels: ["private"], planMode: true });
  expect(third.session.queued).toBe(1);
  await third.log.release();
});
