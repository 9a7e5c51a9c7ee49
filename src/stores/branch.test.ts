import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ulidFromDigest } from "#base";
import { LogId, SessionId } from "#protocol";
import {
  CLIENT,
  callDrafts,
  callId,
  draft,
  sessionStarted,
  turnDrafts,
  turnId,
} from "../../test/fakes/session-drafts.ts";
import { append, NOW, newSession, sessionId } from "../../test/store-suite.ts";
import { type ArchiveStore, readRecords } from "./archive.ts";
import { branchLog, branchSession } from "./branch.ts";
import { rewriteId } from "./copied-session.ts";
import { createMemoryStore } from "./memory-store.ts";
import { verifyEvidence } from "./verify.ts";

const LATER = "2026-02-01T00:00:00.000Z";

/** Session 1: SessionStarted, a turn that ends at event 11, one that ends at 15, and the beginning of a third. */
async function sourceStore(): Promise<ArchiveStore> {
  const store = createMemoryStore();
  await store.create(newSession(1));
  const args = { command: "echo", note: callId(1), of: sessionId(1) };
  const drafts = [
    sessionStarted(),
    ...turnDrafts(1, "first", "one answer", callDrafts(1, args, callId(1))),
    ...turnDrafts(2, "second", "two answers"),
    draft("TurnStarted", { turn: turnId(3), content: [{ type: "text", text: "third" }], model: "scripted:x" }),
  ];
  await append(store, sessionId(1), drafts, NOW);
  return store;
}

async function dump(store: ArchiveStore, id: SessionId) {
  return Array.fromAsync(readRecords(store, id));
}

describe("branching", () => {
  it("copies up to the last end of a turn and says where it came from", async () => {
    const store = await sourceStore();
    const branch = await branchSession(store, sessionId(1), { now: LATER });
    expect(branch).toEqual({
      session: expect.stringMatching(SessionId.pattern),
      log: branchLog(sessionId(1), 15),
      at: 15,
      created: true,
    });
    expect(await store.get(branch.session)).toEqual({
      ...newSession(1),
      id: branch.session,
      createdAt: LATER,
      updatedAt: LATER,
      title: "",
      state: "active",
      pinned: false,
      parent: sessionId(1),
      lastEventId: 15,
    });
    const [first] = await store.read(branch.session, { after: 0, limit: 1 });
    expect(first).toMatchObject({ session: branch.session, payload: { parent: sessionId(1) } });
  });

  it("gives byte-identical events and ids wherever the same branch is made", async () => {
    const store = await sourceStore();
    const elsewhere = createMemoryStore();
    const meta = await store.get(sessionId(1));
    if (meta === undefined) throw new Error("the session is there");
    await elsewhere.restore(meta, await dump(store, sessionId(1)));
    const here = await branchSession(store, sessionId(1), { at: 11, now: LATER });
    const there = await branchSession(elsewhere, sessionId(1), { at: 11, now: NOW });
    expect(there).toEqual(here);
    const events = await store.read(here.session, { after: 0, limit: 99 });
    expect(JSON.stringify(await elsewhere.read(here.session, { after: 0, limit: 99 }))).toBe(JSON.stringify(events));
    expect(await dump(elsewhere, here.session)).toEqual(await dump(store, here.session));
  });

  it("rewrites every id by the rule and no content", async () => {
    const store = await sourceStore();
    const log = LogId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    const { session } = await branchSession(store, sessionId(1), { at: 11, log, now: LATER });
    const renamed = (id: string) => `${id.split("_")[0]}_${ulidFromDigest(hash("sha256", id + log, "buffer"))}`;
    expect(session).toBe(renamed(sessionId(1)));
    const events = await store.read(session, { after: 0, limit: 99 });
    expect(events[2]).toEqual({
      id: 3,
      kind: "ToolCallStarted",
      session,
      originator: renamed(CLIENT),
      ts: NOW,
      payload: {
        turn: renamed(turnId(1)),
        step: 1,
        block: 1,
        call_id: renamed(callId(1)),
        name: "exec",
        label: "Bash",
        args: { command: "echo", note: callId(1), of: sessionId(1) },
        class: "mutating",
      },
    });
    expect(events[4]).toMatchObject({ payload: { by: renamed(CLIENT) } });
    const outside = events.map(({ payload }) => ({ ...payload, args: 0, content: 0, parent: 0 }));
    for (const id of [sessionId(1), turnId(1), callId(1), CLIENT]) expect(JSON.stringify(outside)).not.toContain(id);
  });

  it("links its own chain", async () => {
    const store = await sourceStore();
    const { session } = await branchSession(store, sessionId(1), { now: LATER });
    await append(store, session, [sessionStarted()], NOW);
    const verdict = await verifyEvidence(store.readEvidence(session), { trustedKeys: [] });
    expect(verdict.findings.map(({ what }) => what)).toEqual(["unsigned", "unsigned"]);
    expect(verdict.events).toBe(16);
  });

  it("finds a branch that was made before and leaves it alone; another log makes another", async () => {
    const store = await sourceStore();
    const { session } = await branchSession(store, sessionId(1), { now: LATER });
    await append(store, session, [sessionStarted()], NOW);
    expect(await branchSession(store, sessionId(1), { now: LATER })).toMatchObject({ session, created: false });
    expect((await store.get(session))?.lastEventId).toBe(16);
    const log = LogId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    const other = await branchSession(store, sessionId(1), { now: LATER, log });
    expect(other).toMatchObject({ session: rewriteId(sessionId(1), log), created: true });
  });

  it.each([
    [4, "Event 4 of SESSION does not end a turn: the nearest turn ends at event 11; branch there."],
    [12, "Event 12 of SESSION does not end a turn: the nearest turns end at event 11 and event 15; branch there."],
    [16, "Event 16 of SESSION does not end a turn: the nearest turn ends at event 15; branch there."],
    [
      99,
      "Event 99 of SESSION does not end a turn: the last event is 16; the nearest turn ends at event 15; branch there.",
    ],
  ])("refuses event %d and names the places nearby", async (at, message) => {
    const store = await sourceStore();
    await expect(branchSession(store, sessionId(1), { at, now: LATER })).rejects.toMatchObject({
      reason: "BranchPointInvalid",
      message: message.replace("SESSION", sessionId(1)),
    });
    expect(await store.list({ limit: 9 })).toHaveLength(1);
  });

  it("refuses a session without a turn that has ended, and an unknown one", async () => {
    const store = createMemoryStore();
    await store.create(newSession(1));
    await expect(branchSession(store, sessionId(1), { now: LATER })).rejects.toThrow(
      "the session has no finished turn",
    );
    await expect(branchSession(store, sessionId(2), { now: LATER })).rejects.toMatchObject({
      reason: "SessionNotFound",
    });
  });
});
