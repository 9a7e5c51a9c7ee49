import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defined } from "#base";
import { createConversation, type EventDraft } from "#engine";
import { CallId, ClientId, EXPIRED_CONTENT, TurnId } from "#protocol";
import { parseEvent } from "#protocol/schemas";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { append, newSession, sessionId, TEST_KEY } from "../../test/store-suite.ts";
import { expirePayload, isExpired } from "./expired-payload.ts";
import { defaultRetention, expiringSessions, type RetentionPolicy, runRetention } from "./retention.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { verifyEvidence } from "./verify.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const key = TEST_KEY;
const turn = TurnId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const call_id = CallId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const originator = ClientId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const SECRET = "the secret";

let clock: ReturnType<typeof createManualClock>;
let startMs: number;
let directory: string;
let path: string;

beforeEach(() => {
  clock = createManualClock();
  startMs = clock.now();
  directory = mkdtempSync(join(tmpdir(), "harness-retention-"));
  path = join(directory, "sessions.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = () => openSqliteStore({ path, clock, key });
const at = (day: number): string => new Date(startMs + day * DAY_MS).toISOString();
const run = (day: number, policy: Partial<RetentionPolicy> = {}, maxBatches?: number) =>
  runRetention({
    path,
    key,
    clock: { now: () => startMs + day * DAY_MS },
    policy: { ...defaultRetention, ...policy },
    ...defined({ maxBatches }),
  });

function text(day: number, words = SECRET): EventDraft {
  return { kind: "TextDelta", ts: at(day), payload: { turn, step: 1, block: 0, text: words } };
}

/** One of every kind that carries content, in an order in which they happen. */
function contentDrafts(day: number): EventDraft[] {
  const ts = at(day);
  const args = { command: SECRET };
  const content = [{ type: "text" as const, text: SECRET }];
  return [
    { kind: "TurnStarted", ts, originator, payload: { turn, content, model: "m" } },
    { kind: "ThinkingDelta", ts, payload: { turn, step: 1, block: 0, text: SECRET, provider: "p", data: SECRET } },
    { kind: "TextDelta", ts, payload: { turn, step: 1, block: 1, text: SECRET } },
    // Extension fields are kept on the wire but have no static type.
    { kind: "TextDelta", ts, payload: { turn, step: 1, block: 1, text: SECRET, x_more: SECRET } as never },
    {
      kind: "ToolCallStarted",
      ts,
      payload: { turn, step: 1, block: 2, call_id, name: "exec", label: "Bash", args, class: "mutating" },
    },
    {
      kind: "PermissionRequested",
      ts,
      payload: { turn, call_id, name: "exec", label: "Bash", args, summary: SECRET, reason: "ask", argv_glob: SECRET },
    },
    { kind: "QuestionAsked", ts, payload: { turn, call_id, question: SECRET, options: [SECRET] } },
    { kind: "QuestionAnswered", ts, payload: { turn, call_id, answer: SECRET, by: originator } },
    { kind: "ToolCallProgress", ts, payload: { turn, call_id, text: SECRET } },
    { kind: "OrphanedCall", ts, payload: { turn, call_id, name: "exec", args, started_at: ts } },
    { kind: "OrphanResolved", ts, payload: { turn, call_id, resolution: "failed", by: "x", note: SECRET } },
    {
      kind: "ToolResult",
      ts,
      payload: { turn, step: 1, call_id, name: "exec", content, is_error: false, outcome: "ok", duration_ms: 1 },
    },
    {
      kind: "WorkspaceRestored",
      ts,
      payload: {
        action: "undo",
        by: "x",
        turns: [turn],
        calls: [call_id],
        restored: [{ path: SECRET, what: "removed" }],
        conflicts: [{ path: SECRET, why: "is gone now" }],
        failed: [],
        counts: { restored: 1, conflicts: 1, failed: 0 },
      },
    },
    { kind: "CustomEvent", ts, payload: { namespace: "n", kind: "k", payload: { deep: SECRET } } },
  ];
}

async function fill(n: number, drafts: readonly EventDraft[]): Promise<void> {
  const store = await open();
  await store.create(newSession(n));
  await append(store, sessionId(n), drafts, drafts.at(-1)?.ts ?? at(0));
  await store.close();
}

async function events(n: number) {
  const store = await open();
  const read = await store.read(sessionId(n), { after: 0, limit: 10_000 });
  await store.close();
  return read;
}

const secretIds = async (n: number): Promise<number[]> =>
  (await events(n)).filter((event) => JSON.stringify(event.payload).includes(SECRET)).map(({ id }) => id);

describe("content that has passed its time", () => {
  it("is replaced in every kind, and what is left is a valid event with its metadata", async () => {
    const drafts = contentDrafts(0);
    await fill(1, [...drafts, { kind: "ModelChanged", ts: at(0), payload: { model: "m2", previous: "m" } }]);
    expect(run(29.9)).toMatchObject({ expiredEvents: 0, isComplete: true });
    expect(run(30.1)).toMatchObject({ expiredEvents: drafts.length, isComplete: true });
    expect(await secretIds(1)).toEqual([]);
    const left = await events(1);
    for (const event of left) expect(parseEvent(event)).toEqual(event);
    expect(left.map(({ kind, ts }) => [kind, ts])).toEqual([
      ...drafts.map(({ kind }) => [kind, at(0)]),
      ["ModelChanged", at(0)],
    ]);
    expect(left[0]).toMatchObject({ originator, payload: { turn, model: "m" } });
    expect(left[4]?.payload).toEqual({
      turn,
      step: 1,
      block: 2,
      call_id,
      name: "exec",
      label: "Bash",
      class: "mutating",
      args: { expired: EXPIRED_CONTENT },
    });
    expect(run(30.1)).toMatchObject({ expiredEvents: 0 });
  });

  it("gives a conversation that says so", async () => {
    await fill(1, contentDrafts(0));
    run(31);
    const conversation = createConversation();
    for (const event of await events(1)) conversation.apply(event);
    const block = { type: "text", text: EXPIRED_CONTENT };
    expect(conversation.messages()).toEqual([
      { role: "user", content: [block] },
      {
        role: "assistant",
        content: [block, { type: "tool_use", id: call_id, name: "exec", input: { expired: EXPIRED_CONTENT } }],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: call_id, content: [block], is_error: false },
          { type: "text", text: expect.stringContaining(`Restored: "${EXPIRED_CONTENT}".`) },
        ],
      },
    ]);
  });

  it("leaves a chain that still verifies, each event intact or known to be expired", async () => {
    await fill(1, [...contentDrafts(0), text(20)]);
    run(31);
    const store = await open();
    expect(await verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys: [] })).toMatchObject({
      events: 15,
      expired: 14,
      findings: [],
    });
    await store.close();
  });

  it("goes with all of its link, which is of one hour", async () => {
    const later = (minutes: number): EventDraft => ({
      ...text(0),
      ts: new Date(startMs + minutes * 60_000).toISOString(),
    });
    await fill(1, [later(0), later(1), later(59), later(60)]);
    const minute = 1 / (24 * 60);
    run(30 + 2 * minute);
    expect(await secretIds(1)).toEqual([1, 2, 3, 4]);
    run(30 + 59.5 * minute);
    expect(await secretIds(1)).toEqual([4]);
  });

  it("goes event by event within a session, and a session that was pinned keeps it", async () => {
    await fill(1, [text(0), text(5), text(10)]);
    await fill(2, [text(0)]);
    const store = await open();
    await store.update(sessionId(2), { pinned: true });
    await store.close();
    run(36);
    expect(await secretIds(1)).toEqual([3]);
    expect(await secretIds(2)).toEqual([1]);
  });

  it("does not go early because the clock was set back while it was written, or is now", async () => {
    await fill(1, [text(40), text(1), text(41)]);
    run(50);
    expect(await secretIds(1)).toEqual([1, 2, 3]);
    run(70.5);
    expect(await secretIds(1)).toEqual([3]);
    run(0);
    run(-1000);
    expect(await secretIds(1)).toEqual([3]);
  });

  it("stays while its session is open, and goes when it was closed", async () => {
    await fill(1, [text(0)]);
    await fill(2, [text(0)]);
    const store = await open();
    const log = await store.acquire(sessionId(1));
    expect(run(31)).toMatchObject({ expiredEvents: 1, isComplete: true });
    expect(await secretIds(1)).toEqual([1]);
    await log.release();
    await store.close();
    expect(run(31)).toMatchObject({ expiredEvents: 1, isComplete: true });
    expect(await secretIds(1)).toEqual([]);
  });

  it("goes in bounded steps", async () => {
    await fill(
      1,
      Array.from({ length: 1200 }, () => text(0)),
    );
    expect(run(31, {}, 2)).toMatchObject({ expiredEvents: 1000, isComplete: false });
    expect(run(31, {}, 2)).toMatchObject({ expiredEvents: 200, isComplete: true });
  });

  it("is reached also behind sessions whose link is not old enough yet", async () => {
    const minute = 1 / (24 * 60);
    for (const n of [1, 2, 3]) await fill(n, [text(0), text(30 * minute)]);
    await fill(4, [text(0.5)]);
    expect(run(30 + 10 * minute, {}, 1)).toMatchObject({ expiredEvents: 0, isComplete: true });
    await fill(5, [text(0.001)]);
    expect(run(30 + 10 * minute, {}, 1)).toMatchObject({ expiredEvents: 1 });
  });
});

describe("the bound on the log", () => {
  const large = (day: number): EventDraft[] => Array.from({ length: 20 }, () => text(day, SECRET.repeat(10_000)));

  it("takes the oldest content that is neither pinned nor open, and gives the room back", async () => {
    for (const n of [1, 2, 3, 4]) await fill(n, large(n));
    const before = statSync(path).size;
    const store = await open();
    await store.update(sessionId(1), { pinned: true });
    const log = await store.acquire(sessionId(2));
    await store.close();
    const report = run(5, { maxStoreBytes: before * 0.8 });
    expect(report.usedBytes).toBeLessThanOrEqual(before * 0.8);
    expect(statSync(path).size).toBeLessThanOrEqual(before * 0.8);
    expect((await secretIds(1)).length).toBe(20);
    expect((await secretIds(2)).length).toBe(20);
    expect((await secretIds(3)).length).toBeLessThan(20);
    expect((await secretIds(4)).length).toBe(20);
    await log.release().catch(() => undefined);
  });

  it("leaves everything alone while it holds", async () => {
    await fill(1, large(1));
    expect(run(5)).toMatchObject({ expiredEvents: 0, isComplete: true });
  });
});

it("keeps the content of each session as long as its profile says", async () => {
  const store = await open();
  for (const [n, profile] of [
    [1, "default"],
    [2, "brief"],
    [3, "long"],
  ] as const) {
    await store.create(newSession(n, { profile }));
    await append(store, sessionId(n), [text(0)], at(0));
  }
  await store.close();
  const policy = { profileTtlMs: new Map(Object.entries({ brief: 2 * DAY_MS, long: 90 * DAY_MS, unused: 1 })) };
  const soon = (day: number) =>
    expiringSessions({
      ...{ path, key, clock: { now: () => startMs + day * DAY_MS } },
      policy: { ...defaultRetention, ...policy },
    }).map(({ id, expiresAt }) => [id, expiresAt]);
  expect(soon(25)).toEqual([
    [sessionId(2), at(2)],
    [sessionId(1), at(30)],
  ]);
  expect(run(1, policy).expiredEvents).toBe(0);
  expect(run(3, policy).expiredEvents).toBe(1);
  expect(soon(25)).toEqual([[sessionId(1), at(30)]]);
  expect(run(31, policy).expiredEvents).toBe(1);
  expect(run(89, policy).expiredEvents).toBe(0);
  expect(run(91, policy).expiredEvents).toBe(1);
});

it("tells which sessions lose content soon, the next one first", async () => {
  await fill(1, [text(5), text(20)]);
  await fill(2, [text(0)]);
  await fill(3, [text(20)]);
  await fill(4, [text(0)]);
  const store = await open();
  await store.update(sessionId(4), { pinned: true });
  await store.update(sessionId(1), { title: "one" });
  await store.close();
  const soon = (day: number) =>
    expiringSessions({ path, key, clock: { now: () => startMs + day * DAY_MS }, policy: defaultRetention });
  expect(soon(20)).toEqual([]);
  expect(soon(28.5)).toEqual([
    { id: sessionId(2), title: "", expiresAt: at(30) },
    { id: sessionId(1), title: "one", expiresAt: at(35) },
  ]);
});

it("expires a payload once: a second time changes nothing", () => {
  for (const { kind, payload } of contentDrafts(0)) {
    const once = expirePayload(kind, JSON.stringify(payload));
    expect(expirePayload(kind, once)).toBe(once);
    expect([isExpired(kind, once), isExpired(kind, JSON.stringify(payload))]).toEqual([true, false]);
    expect(once).not.toContain(SECRET);
  }
});
