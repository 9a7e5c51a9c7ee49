/** Inputs that waited when a daemon ended run when the next one starts, without anybody opening their sessions. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Harness } from "#program";
import { ReasonError, type SessionId } from "#protocol";
import { openWaitingSessions } from "../src/daemon/waiting.ts";
import { says } from "./fakes/harness-rig.ts";
import { createManualClock } from "./fakes/manual-clock.ts";
import { openMemoryHarness } from "./fakes/memory-harness.ts";
import { startMockProvider } from "./fakes/mock-provider-server.ts";

const content = (text: string) => [{ type: "text" as const, text }];

async function arena() {
  const folder = mkdtempSync(join(tmpdir(), "harness-waiting-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const vendor = await startMockProvider();
  const gate = Promise.withResolvers<void>();
  onTestFinished(async () => {
    gate.resolve();
    await vendor.close();
  });
  const key = { bytes: Buffer.alloc(32, 1), source: "a test" };

  async function open(model = "openai:mock-model"): Promise<Harness> {
    const harness = await openMemoryHarness({
      env: { PATH: process.env.PATH, OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: `${vendor.url}/v1` },
      workspace: folder,
      model,
      store: { kind: "sqlite", path: join(folder, "sessions.db"), key: () => key },
    });
    onTestFinished(() => harness.shutdown());
    return harness;
  }

  /** A session with a turn that does not end, and inputs behind it. */
  async function waiting(harness: Harness, texts: readonly string[], workingDir = folder): Promise<SessionId> {
    vendor.reply({ ...says("never"), headersAfter: gate.promise } as never);
    const client = harness.control.connect({ identityClass: "human", interactive: false });
    const { session } = await client.submit({ kind: "CreateSession", working_dir: workingDir });
    if (session === undefined) throw new Error("no session");
    const asked = vendor.requests.length;
    await client.submit({ kind: "SendInput", session, content: content("begin") });
    while (vendor.requests.length === asked) await new Promise((resolve) => setImmediate(resolve));
    for (const text of texts) await client.submit({ kind: "QueueInput", session, content: content(text) });
    return session;
  }

  /** As a daemon does it when it has started. */
  async function openAll(harness: Harness, atOnce = 4) {
    const clock = createManualClock();
    const seen = { opened: [] as SessionId[], skipped: [] as (readonly [SessionId, string])[] };
    const done = openWaitingSessions({
      clock,
      control: harness.control,
      store: harness.store,
      atOnce,
      signal: new AbortController().signal,
      onOpened: (session) => void seen.opened.push(session),
      onSkipped: (session, error) =>
        void seen.skipped.push([session, error instanceof ReasonError ? error.reason : String(error)]),
    });
    return { clock, seen, done };
  }

  return { folder, vendor, open, waiting, openAll };
}

/** The inputs of the turns that began in a session. */
async function turns(harness: Harness, session: SessionId): Promise<string[]> {
  const events = await harness.store.read(session, { after: 0, limit: 1000 });
  return events.flatMap((event) =>
    event.kind === "TurnStarted" ? event.payload.content.map((block) => (block.type === "text" ? block.text : "")) : [],
  );
}

async function finished(harness: Harness, session: SessionId): Promise<void> {
  for (let engine = harness.control.session(session); engine?.running !== undefined; ) await engine.running.ended;
}

test("after a shutdown; one that a person ended stays ended", async () => {
  const { open, waiting, openAll, vendor } = await arena();
  const first = await open();
  const stopped = await waiting(first, ["one", "two"]);
  const ended = await waiting(first, ["never"]);
  const plain = await waiting(first, []);
  await first.control
    .connect({ identityClass: "human", interactive: false })
    .submit({ kind: "EndSession", session: ended });
  await first.shutdown();
  vendor.reply(says("to one"), says("to two"));

  const second = await open();
  const { clock, seen, done } = await openAll(second);
  while ((await turns(second, stopped)).length < 3) await clock.advance(1000);
  await finished(second, stopped);
  await clock.advance(1000);
  await done;
  expect(seen).toEqual({ opened: [stopped], skipped: [] });
  expect(await turns(second, stopped)).toEqual(["begin", "one", "two"]);
  expect(await turns(second, ended)).toEqual(["begin"]);
  expect(second.control.sessions().map(({ id }) => id)).toEqual([stopped]);
  expect(second.control.session(plain)).toBeUndefined();
});

test("one that another process holds is left alone, and keeps its model; one without its folder is skipped", async () => {
  const { open, waiting, openAll, vendor, folder } = await arena();
  const gone = join(folder, "gone");
  mkdirSync(gone);
  const first = await open();
  const broken = await waiting(first, ["first in the queue"], gone);
  const good = await waiting(first, ["good"]);
  await first.shutdown();
  rmSync(gone, { recursive: true });
  const holder = await open("openai:another-model");
  const held = await waiting(holder, ["held"]);
  const before = await holder.store.get(held);
  vendor.reply(says("done"));

  const second = await open();
  const { clock, seen, done } = await openAll(second);
  while ((await turns(second, good)).length < 2) await clock.advance(1000);
  await finished(second, good);
  await clock.advance(1000);
  await done;
  expect(seen.opened).toEqual([good]);
  expect(seen.skipped).toEqual([
    [broken, expect.any(String)],
    [held, "SessionBusy"],
  ]);
  expect(await second.store.get(held)).toEqual(before);
  // What could not be opened is not held either: with its folder back it works.
  mkdirSync(gone);
  vendor.reply(says("done"));
  const client = second.control.connect({ identityClass: "human", interactive: false });
  expect(await client.submit({ kind: "CreateSession", resume: broken })).toEqual({ session: broken });
  while ((await turns(second, broken)).length < 2) await finished(second, broken);
  await finished(second, broken);
});

test("so many at once, and those first that have waited longest", async () => {
  const { open, waiting, openAll, vendor } = await arena();
  const first = await open();
  const sessions = [];
  for (const text of ["a", "b", "c"]) sessions.push(await waiting(first, [text]));
  await first.shutdown();
  const gates = sessions.map(() => Promise.withResolvers<void>());
  vendor.reply(...gates.map(({ promise }) => ({ ...says("done"), headersAfter: promise }) as never));

  const second = await open();
  const { clock, seen, done } = await openAll(second, 1);
  for (const [index, session] of sessions.entries()) {
    while (seen.opened.length <= index) await clock.advance(1000);
    while ((await turns(second, session)).length < 2) await clock.advance(1000);
    await clock.advance(60_000);
    expect(seen.opened).toEqual(sessions.slice(0, index + 1));
    gates[index]?.resolve();
    await finished(second, session);
  }
  await clock.advance(1000);
  await done;
});
