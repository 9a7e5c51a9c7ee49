/** A snapshot beside the log gives the same session, sooner; whatever is wrong with it, the log decides. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createUlidFactory } from "#base";
import {
  createConversation,
  createSession,
  createSessionCore,
  type EventDraft,
  type Reopened,
  reopenSession,
  type SessionStore,
} from "#engine";
import { CallId, ClientId, createIdMint, type Event, EXPIRED_CONTENT, TurnId } from "#protocol";
import { createFakeProvider, says, text } from "../../test/fakes/fake-provider.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { noRedaction } from "../../test/fakes/no-redaction.ts";
import { append, NOW, newSession, sessionId, TEST_KEY } from "../../test/store-suite.ts";
import { diagnoseStore } from "./doctor.ts";
import { rekeyStore } from "./rekey.ts";
import { defaultRetention, runRetention } from "./retention.ts";
import { openDatabase } from "./sqlite/driver.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const clock = createManualClock();
const key = TEST_KEY;
const id = sessionId(1);
const client = ClientId.from("1".repeat(26));
let directory: string;
let path: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "harness-snapshots-"));
  path = join(directory, "sessions.db");
  await withStore((store) => store.create(newSession(1)));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function withStore<Result>(work: (store: SessionStore) => Promise<Result>, with_ = key): Promise<Result> {
  const store = await openSqliteStore({ path, clock, key: with_ });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Opens the session as the program does, says one thing for each answer and leaves; returns what happened. */
async function talk(answers: readonly string[], everyEvents = 1): Promise<{ seen: Event[]; earlier: Reopened }> {
  await clock.advance(1); // turns of another run have other ids
  return withStore(async (store) => {
    const log = await store.acquire(id);
    const earlier = await reopenSession(store, log, id);
    const seen: Event[] = [];
    const core = createSessionCore({ redaction: noRedaction, id, clock, log, model: "fake:one" });
    const engine = createSession(core, {
      ids: createIdMint(createUlidFactory({ clock, random: { bytes: (count) => new Uint8Array(count) } })),
      store,
      provider: createFakeProvider(answers.map((answer) => says(text(answer)))),
      requestChain: [],
      toolChain: [],
      toolSources: [],
      toolSettings: { execution: "auto", onError: "stop" },
      maxSteps: 5,
      earlier,
      subscribers: [(event) => seen.push(event)],
      snapshotEveryEvents: everyEvents,
    });
    await engine.begin();
    for (const answer of answers) {
      await engine.send(client, [{ type: "text", text: `say ${answer}` }]).done;
      await engine.settled();
    }
    await log.release();
    return { seen, earlier };
  });
}

const reopened = (with_ = key): Promise<Reopened> =>
  withStore(async (store) => {
    const log = await store.acquire(id);
    const result = await reopenSession(store, log, id);
    await log.release();
    return result;
  }, with_);

async function wholeFold(store: SessionStore) {
  const conversation = createConversation();
  for (const event of await store.read(id, { after: 0, limit: 100_000 })) conversation.apply(event);
  return conversation.messages();
}

function tamper(sql: string): void {
  const db = openDatabase({ path, clock, key });
  db.exec(sql);
  db.close();
}

function count(table: string): unknown {
  const db = openDatabase({ path, clock, key });
  const rows = db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  db.close();
  return rows;
}

describe("opening", () => {
  it("reads the snapshot and what came after it", async () => {
    await talk(["one", "two"]);
    await talk(["three"], 1000);
    const { conversation, eventsRead, snapshotEvent } = await reopened();
    expect(conversation.messages()).toEqual(await withStore(wholeFold));
    const last = await withStore(async (store) => (await store.get(id))?.lastEventId ?? 0);
    expect(snapshotEvent).toBeGreaterThan(0);
    expect(eventsRead).toBe(last - snapshotEvent);
    expect(JSON.stringify(conversation.messages())).toContain("three");
  });

  it("goes on with the snapshot of an earlier run instead of making it anew", async () => {
    await talk(["one"]);
    await talk(["two"]);
    expect(count("snapshot_pieces")).toBe(2);
    expect((await reopened()).conversation.messages()).toEqual(await withStore(wholeFold));
  });

  it("makes one when enough has happened, and not before", async () => {
    await talk(["one"], 1000);
    expect(count("snapshots")).toBe(0);
    await talk(["two"], 7);
    expect(count("snapshots")).toBe(1);
  });

  it("leaves out a snapshot that a compaction has left behind", async () => {
    await talk(["one"]);
    const { snapshotEvent } = await reopened();
    const turn = TurnId.from("0".repeat(26));
    const started: EventDraft = { kind: "TurnStarted", ts: NOW, payload: { turn, content: [], model: "m" } };
    const compaction: EventDraft = {
      kind: "CompactionTriggered",
      ts: NOW,
      payload: { turn, boundary: snapshotEvent + 1, summary: "short" },
    };
    await withStore((store) => append(store, id, [{ ...started }, { ...started }, { ...started }, compaction], NOW));
    const { conversation, snapshotEvent: used } = await reopened();
    expect(used).toBe(0);
    expect(conversation.messages()).toEqual(await withStore(wholeFold));
    await talk(["two"]);
    expect((await reopened()).conversation.messages()).toEqual(await withStore(wholeFold));
  });
});

it("gives the same session as all events, for any log", async () => {
  const number = fc.integer({ min: 1, max: 3 });
  const turnOf = (n: number) => TurnId.from(String(n).padStart(26, "0"));
  const callOf = (n: number) => CallId.from(String(n).padStart(26, "0"));
  const content = (value: string) => [{ type: "text" as const, text: value }];
  const draft: fc.Arbitrary<EventDraft> = fc.oneof(
    fc.tuple(number, fc.string({ unit: "binary" })).map(
      ([n, value]): EventDraft => ({
        kind: "TurnStarted",
        ts: NOW,
        payload: { turn: turnOf(n), content: content(value), model: "m" },
      }),
    ),
    fc.tuple(number, number, fc.string({ unit: "binary" })).map(
      ([n, step, value]): EventDraft => ({
        kind: "TextDelta",
        ts: NOW,
        payload: { turn: turnOf(n), step, block: 0, text: value },
      }),
    ),
    fc.tuple(number, number, fc.jsonValue()).map(
      ([n, call, args]): EventDraft => ({
        kind: "ToolCallStarted",
        ts: NOW,
        payload: { turn: turnOf(n), step: 1, block: call, call_id: callOf(call), name: "a", label: "A", args },
      }),
    ),
    fc.tuple(number, number, fc.string()).map(
      ([n, call, value]): EventDraft => ({
        kind: "ToolResult",
        ts: NOW,
        payload: {
          turn: turnOf(n),
          step: 1,
          call_id: callOf(call),
          name: "a",
          content: content(value),
          is_error: false,
          outcome: "ok",
          duration_ms: 1,
        },
      }),
    ),
  );
  const groups = fc.array(fc.array(draft, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });
  let made = 1;
  await withStore((store) =>
    fc.assert(
      fc.asyncProperty(groups, fc.array(draft, { maxLength: 6 }), async (kept, tail) => {
        made += 1;
        const session = sessionId(made);
        await store.create(newSession(made));
        const log = await store.acquire(session);
        const live = createConversation();
        let follows = 0;
        for (const group of kept) {
          const first = await log.append(group, NOW);
          for (const event of await store.read(session, { after: first - 1, limit: 100 })) live.apply(event);
          const { isWhole, pieces } = live.take();
          const event = first + group.length - 1;
          const isKept = await log.snapshots?.write({ format: 2, event, follows: isWhole ? 0 : follows, pieces });
          expect(isKept).toBe(true);
          follows = event;
        }
        await log.append(tail, NOW);
        const { conversation, snapshotProblem } = await reopenSession(store, log, session);
        const whole = createConversation();
        for (const event of await store.read(session, { after: 0, limit: 1000 })) whole.apply(event);
        expect(snapshotProblem).toBeUndefined();
        expect(conversation.messages()).toEqual(whole.messages());
        await log.release();
      }),
      { numRuns: 150 },
    ),
  );
});

describe("a snapshot that is not as it was written", () => {
  beforeEach(() => talk(["one", "two", "three"]));

  it.each([
    [
      "a piece that was changed",
      "UPDATE snapshot_pieces SET body = x'7b7d' WHERE piece = 2",
      /piece 2 of 3 was changed/,
    ],
    ["a piece that is gone", "DELETE FROM snapshot_pieces WHERE piece = 2", /piece 2 of 3 is missing/],
    ["an end that is gone", "UPDATE snapshots SET pieces = 2", /do not belong together/],
    ["a hash of another log", "UPDATE snapshots SET hash = zeroblob(32)", /another log/],
    ["another event", "UPDATE snapshots SET event = event - 1", /another log/],
    ["an event that does not exist", "UPDATE snapshots SET event = 9999", /another log/],
    ["content that has gone", "UPDATE sessions SET expired_to = 1", /has expired/],
  ])("%s: the log is read, a person is told, and it is made anew", async (_, sql, problem) => {
    const before = await withStore(wholeFold);
    tamper(sql);
    expect(diagnoseStore({ path, clock, key })).toEqual([
      { level: "warning", what: expect.stringMatching(problem), remedy: expect.stringContaining("Nothing is lost") },
    ]);
    const found = await reopened();
    expect(found).toMatchObject({ snapshotEvent: 0, snapshotProblem: expect.stringMatching(problem) });
    expect(found.conversation.messages()).toEqual(before);

    const { seen } = await talk(["four"]);
    expect(seen[0]).toMatchObject({
      kind: "Error",
      payload: { reason: "SnapshotUnusable", terminal: false, message: expect.stringMatching(problem) },
    });
    expect(diagnoseStore({ path, clock, key })).toEqual([]);
    const again = await reopened();
    expect(again.snapshotEvent).toBeGreaterThan(0);
    expect(again.conversation.messages()).toEqual(await withStore(wholeFold));
  });

  it("of another format is read from the log", async () => {
    tamper("UPDATE snapshots SET format = 99");
    expect(await reopened()).toMatchObject({ snapshotEvent: 0, snapshotProblem: "its format is 99, not 2" });
  });
});

describe("a snapshot goes with the log", () => {
  const day = 24 * 60 * 60 * 1000;
  const expire = (days: number) =>
    runRetention({ path, key, clock: { now: () => clock.now() + days * day }, policy: defaultRetention });

  it("when content has passed its time", async () => {
    await talk(["the secret"]);
    expect(expire(31).expiredEvents).toBeGreaterThan(0);
    expect([count("snapshots"), count("snapshot_pieces")]).toEqual([0, 0]);
    const { conversation, snapshotProblem } = await reopened();
    expect(snapshotProblem).toBeUndefined();
    expect(JSON.stringify(conversation.messages())).not.toContain("the secret");
    expect(JSON.stringify(conversation.messages())).toContain(EXPIRED_CONTENT);
  });

  it("and a writer whose lease was given up meanwhile keeps none of what it remembers", async () => {
    await withStore(async (store) => {
      const log = await store.acquire(id);
      const turn = TurnId.from("0".repeat(26));
      await log.append(
        [
          {
            kind: "TurnStarted",
            ts: NOW,
            payload: { turn, content: [{ type: "text", text: "the secret" }], model: "m" },
          },
        ],
        NOW,
      );
      // Retention leaves an open session alone; this writer counts as gone, on a machine that was asleep for example.
      tamper("UPDATE sessions SET owner = NULL");
      expire(31);
      const draft = { format: 2, event: 1, follows: 0, pieces: ["the secret"] };
      expect(await log.snapshots?.write(draft)).toBe(false);
      await log.release();
    });
    expect(count("snapshot_pieces")).toBe(0);
  });

  it("when the session is deleted", async () => {
    await talk(["one"]);
    await withStore((store) => store.delete(id));
    expect([count("snapshots"), count("snapshot_pieces")]).toEqual([0, 0]);
  });

  it("when the key is changed", async () => {
    await talk(["one"]);
    const before = (await reopened()).conversation.messages();
    const other = { bytes: Buffer.alloc(32, 8), source: "the other test" };
    rekeyStore({ path, from: key, to: other, clock });
    const after = await reopened(other);
    expect(after.snapshotEvent).toBeGreaterThan(0);
    expect(after.conversation.messages()).toEqual(before);
  });
});

it("tells that a long log has none", async () => {
  const turn = TurnId.from("0".repeat(26));
  const delta: EventDraft = { kind: "TextDelta", ts: NOW, payload: { turn, step: 1, block: 0, text: "a" } };
  await withStore((store) =>
    append(
      store,
      id,
      Array.from({ length: 20_001 }, () => delta),
      NOW,
    ),
  );
  expect(diagnoseStore({ path, clock, key })).toEqual([
    { level: "warning", what: expect.stringContaining("20001 events and no snapshot"), remedy: expect.any(String) },
  ]);
});

it("is made for a log of a version that had none", async () => {
  await talk(["one"], 1000);
  tamper("DELETE FROM schema_migrations WHERE version = 3; DROP TABLE snapshots; DROP TABLE snapshot_pieces");
  await talk(["two"]);
  expect((await reopened()).conversation.messages()).toHaveLength(4);
  expect(count("snapshots")).toBe(1);
});
