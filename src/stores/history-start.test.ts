/** A resume that starts at the last compaction sees the same conversation as one that reads everything. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createConversation, type EventDraft, reopenSession, type SessionStore } from "#engine";
import { ClientId, TurnId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { append, NOW, newSession, sessionId, TEST_KEY } from "../../test/store-suite.ts";
import { openDatabase } from "./sqlite/driver.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const clock = createManualClock();
const key = TEST_KEY;
let directory: string;
let path: string;
let store: SessionStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "harness-history-"));
  path = join(directory, "sessions.db");
  store = await openSqliteStore({ path, clock, key });
  await store.create(newSession(1));
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const turn = (n: number): TurnId => TurnId.from(String(n).padStart(26, "0"));
const started = (n: number): EventDraft => ({
  kind: "TurnStarted",
  ts: NOW,
  payload: { turn: turn(n), content: [{ type: "text", text: `input ${n}` }], model: "m" },
});
const said = (n: number): EventDraft => ({
  kind: "TextDelta",
  ts: NOW,
  payload: { turn: turn(n), step: 1, block: 0, text: `answer ${n}` },
});
const compacted = (n: number, boundary: number): EventDraft => ({
  kind: "CompactionTriggered",
  ts: NOW,
  payload: { turn: turn(n), boundary, summary: `up to ${boundary}` },
});

async function conversationAfter(after: number) {
  const conversation = createConversation();
  for (const event of await store.read(sessionId(1), { after, limit: 1000 })) conversation.apply(event);
  return conversation.messages();
}

it.each<[string, EventDraft[], number]>([
  ["nothing was compacted", [started(1), said(1), started(2), said(2)], 0],
  ["between turns", [started(1), said(1), started(2), said(2), compacted(2, 4), started(3), said(3)], 2],
  ["twice", [started(1), said(1), compacted(1, 2), started(2), said(2), compacted(2, 5), started(3), said(3)], 3],
  ["while a turn runs", [started(1), said(1), started(2), said(2), started(3), said(3), compacted(3, 6)], 2],
  [
    "with an earlier boundary the second time",
    [started(1), said(1), started(2), said(2), started(3), compacted(3, 4), compacted(3, 1)],
    1,
  ],
])("begins in the right place: %s", async (_, drafts, start) => {
  await append(store, sessionId(1), drafts, NOW);
  expect(await store.historyStart?.(sessionId(1))).toBe(start);
  expect(await store.turnCount?.(sessionId(1))).toBe(drafts.filter(({ kind }) => kind === "TurnStarted").length);
  expect(await conversationAfter(start)).toEqual(await conversationAfter(0));
});

it("keeps what the turn before a crash ended with, wherever the compaction was", async () => {
  const total = { cost_usd: 5, tokens: 10, steps: 1, calls: 1 };
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
  const queued: EventDraft = {
    kind: "InputQueued",
    ts: NOW,
    payload: { by: ClientId.from("0".repeat(26)), content: [{ type: "text", text: "waits" }] },
  };
  const ended: EventDraft = {
    kind: "TurnEnded",
    ts: NOW,
    payload: {
      ...{ turn: turn(2), outcome: "answered", steps: 1, usage, duration_ms: 1 },
      ...{ labels: ["untrusted"], queued: [1], session_total: total },
    },
  };
  const drafts = [queued, started(1), said(1), started(2), said(2), ended, compacted(2, 6), started(3), said(3)];
  await append(store, sessionId(1), drafts, NOW);
  const log = await store.acquire(sessionId(1));
  const { remains, inputs, eventsRead } = await reopenSession(store, log, sessionId(1));
  await log.release();
  expect({ labels: remains.labels, spent: remains.spent, waiting: inputs.waiting().map(({ id }) => id) }).toEqual({
    labels: ["untrusted"],
    spent: total,
    waiting: [1],
  });
  expect(eventsRead).toBe(6);
});

it("is found through the index, and only for a session that is there", async () => {
  await expect(store.historyStart?.(sessionId(2))).rejects.toMatchObject({ reason: "SessionNotFound" });
  const db = openDatabase({ path, clock, key });
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN SELECT id FROM events WHERE session = 1 AND kind = 'TurnStarted'
      AND kind IN ('TurnStarted', 'CompactionTriggered') ORDER BY id DESC LIMIT 1`)
    .all();
  db.close();
  expect(plan).toMatchObject([{ detail: expect.stringContaining("USING COVERING INDEX events_marks") }]);
});
