/** A queued input over a snapshot: the log is then not read from its beginning, and the input is still delivered, once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSystemClock, createSystemRandom, createUlidFactory } from "#base";
import { reopenSession } from "#engine";
import { createIdMint, type Event } from "#protocol";
import { openSqliteStore } from "#sessions";
import { createFakeProvider, says, text } from "./fakes/fake-provider.ts";
import { createPlainSession } from "./fakes/plain-session.ts";

const clock = createSystemClock();
const ids = createIdMint(createUlidFactory({ clock, random: createSystemRandom() }));
const content = (value: string) => [{ type: "text" as const, text: value }];

test("an input that waited when the snapshot was made begins its turn after the restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "harness-queue-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const key = { bytes: Buffer.alloc(32, 1), source: "a test" };
  const store = await openSqliteStore({ path: join(folder, "sessions.db"), clock, key });
  onTestFinished(() => store.close());
  const id = ids.session();
  const createdAt = new Date(clock.now()).toISOString();
  await store.create({ id, workingDir: "/w", profile: "p", model: "fake:one", createdAt });

  async function open(isNew: boolean) {
    const log = await store.acquire(id);
    const earlier = isNew ? undefined : await reopenSession(store, log, id);
    const seen: Event[] = [];
    const session = createPlainSession({
      id,
      clock,
      ids,
      store,
      log,
      provider: createFakeProvider([says(text("one")), says(text("two"))]),
      snapshotEveryEvents: 1,
      subscribers: [(event) => seen.push(event)],
      ...(earlier === undefined ? {} : { earlier }),
    });
    return { session, log, seen, earlier };
  }

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
