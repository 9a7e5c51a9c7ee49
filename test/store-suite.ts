/** What every session store must do, as tests that take the store as a parameter. Holds nothing about one kind of store. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { EventDraft, NewSession, SessionStore } from "#engine";
import { CallId, ClientId, type Event, SessionId, TurnId } from "#protocol";
import type { ArchiveStore } from "../src/stores/archive.ts";
import { branchSession } from "../src/stores/branch.ts";
import type { Signer } from "../src/stores/checkpoint.ts";
import { importSession } from "../src/stores/import.ts";
import type { MachineKey } from "../src/stores/machine-key.ts";
import { verifyEvidence } from "../src/stores/verify.ts";
import { createRng, exported, newSigningKey, sampleDrafts, writeTurns } from "./fakes/tampering.ts";

const TURN = TurnId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const CALL = CallId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const CLIENT = ClientId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");

/** The key of the machine that tests run on. */
export const TEST_KEY: MachineKey = { bytes: Buffer.alloc(32, 7), source: "the test" };
export const NOW = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-02T00:00:00.000Z";

/** The `n`-th session id of a test. */
export function sessionId(n: number): SessionId {
  return SessionId.from(String(n).padStart(26, "0"));
}

function callId(n: number): CallId {
  return CallId.from(String(n).padStart(26, "0"));
}

export function newSession(n: number, change: Partial<NewSession> = {}): NewSession {
  return { id: sessionId(n), workingDir: "/w", profile: "default", model: "scripted:x", createdAt: NOW, ...change };
}

export function textDraft(text: string): EventDraft {
  return { kind: "TextDelta", ts: NOW, payload: { turn: TURN, step: 1, block: 0, text } };
}

/** Appends as a writer that comes and goes. */
export async function append(
  store: SessionStore,
  id: SessionId,
  drafts: readonly EventDraft[],
  now: string,
): Promise<number> {
  const log = await store.acquire(id);
  try {
    return await log.append(drafts, now);
  } finally {
    await log.release();
  }
}

/**
 * A writer in another process is killed while it appends: what it was told to be stored is there, without gaps. `startChild` runs
 * the body of a module that has a `store` and `writeSync`.
 */
export async function killWriter(
  open: () => Promise<SessionStore>,
  startChild: (body: string) => ChildProcess,
): Promise<void> {
  const before = await open();
  await before.create(newSession(1));
  await before.close();
  const child = startChild(`const draft = ${JSON.stringify(textDraft("x".repeat(300)))};
    const log = await store.acquire(${JSON.stringify(sessionId(1))});
    for (let n = 1; ; n = (n % 5) + 1) {
      const first = await log.append(Array(n).fill(draft), draft.ts);
      writeSync(1, first + n - 1 + "\\n");
    }`);
  const ended = once(child, "exit");
  let acknowledged = "";
  for await (const chunk of child.stdout ?? []) {
    acknowledged += chunk;
    if (acknowledged.length > 1000) child.kill("SIGKILL");
  }
  // Its pipe closes a moment before it is gone.
  await ended;
  const told = Number(acknowledged.slice(0, acknowledged.lastIndexOf("\n")).split("\n").at(-1));
  expect(told).toBeGreaterThan(100);
  const store = await open();
  const ids = (await store.read(sessionId(1), { after: 0, limit: 1_000_000 })).map(({ id }) => id);
  expect(ids.length).toBeGreaterThanOrEqual(told);
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  expect(await append(store, sessionId(1), [textDraft("after")], NOW)).toBe(ids.length + 1);
  await store.close();
}

/** `open` gives an empty store; the suite closes it. */
export function describeStore(name: string, open: (signer?: Signer) => Promise<ArchiveStore>): void {
  const withStore = async (body: (store: ArchiveStore) => Promise<void>, signer?: Signer): Promise<void> => {
    const store = await open(signer);
    try {
      await body(store);
    } finally {
      await store.close();
    }
  };

  describe(`${name}: ownership`, () => {
    it("lets one writer have a session at a time, and readers always", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const log = await store.acquire(sessionId(1));
        await expect(store.acquire(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
        await expect(store.delete(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
        await log.append([textDraft("a")], NOW);
        expect(await store.read(sessionId(1), { after: 0, limit: 9 })).toHaveLength(1);
        await log.release();
        expect(await append(store, sessionId(1), [textDraft("b")], NOW)).toBe(2);
        await expect(store.acquire(sessionId(2))).rejects.toMatchObject({ reason: "SessionNotFound" });
      }));

    it("tells each writer when the newest event happened, so that none is earlier", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const first = await store.acquire(sessionId(1));
        expect(first.lastTs).toBeUndefined();
        const late = { ...textDraft("b"), ts: "2026-03-04T05:06:07.008Z" };
        await first.append([textDraft("a"), late], NOW);
        await first.release();
        const second = await store.acquire(sessionId(1));
        expect(second.lastTs).toBe(late.ts);
        await second.release();
      }));

    it("knows which calls were begun and not ended, also for the next writer", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const intent = (n: number): EventDraft => ({
          kind: "ToolIntent",
          ts: NOW,
          payload: {
            turn: TURN,
            step: 1,
            call_id: callId(n),
            name: "exec",
            class: "mutating",
            args_hash: "0".repeat(64),
          },
        });
        const outcome: EventDraft = {
          kind: "ToolOutcome",
          ts: NOW,
          payload: { turn: TURN, call_id: callId(1), outcome: "ok", result_hash: "0".repeat(64) },
        };
        await append(store, sessionId(1), [intent(1), intent(2), outcome, intent(3)], NOW);
        const log = await store.acquire(sessionId(1));
        expect((await log.openCalls()).map(({ id, payload }) => [id, payload.call_id])).toEqual([
          [2, callId(2)],
          [4, callId(3)],
        ]);
        await log.release();
      }));

    it("forgets a deleted session", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await append(store, sessionId(1), [textDraft("a")], NOW);
        await store.delete(sessionId(1));
        expect(await store.get(sessionId(1))).toBeUndefined();
        await expect(store.read(sessionId(1), { after: 0, limit: 9 })).rejects.toMatchObject({
          reason: "SessionNotFound",
        });
        await store.create(newSession(1));
        expect(await append(store, sessionId(1), [textDraft("a")], NOW)).toBe(1);
      }));
  });

  describe(`${name}: sessions`, () => {
    it("gives back what was created", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        expect(await store.get(sessionId(1))).toEqual({
          ...newSession(1),
          updatedAt: NOW,
          title: "",
          state: "active",
          pinned: false,
          lastEventId: 0,
        });
        expect(await store.get(sessionId(2))).toBeUndefined();
      }));

    it("refuses a second session with the same id and keeps the first", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await expect(store.create(newSession(1, { model: "other" }))).rejects.toThrow(sessionId(1));
        expect(await store.get(sessionId(1))).toMatchObject({ model: "scripted:x" });
      }));

    it("lists by last change, newest first, within the limit", () =>
      withStore(async (store) => {
        for (const n of [1, 2, 3]) await store.create(newSession(n));
        await append(store, sessionId(1), [textDraft("a")], LATER);
        const ids = async (limit: number) => (await store.list({ limit })).map((meta) => meta.id);
        expect(await ids(10)).toEqual([sessionId(1), sessionId(3), sessionId(2)]);
        expect(await ids(2)).toEqual([sessionId(1), sessionId(3)]);
        expect((await store.list({ limit: 1 }))[0]).toEqual(await store.get(sessionId(1)));
      }));

    it("lists the sessions of one folder", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await store.create(newSession(2, { workingDir: "/w/inner" }));
        await store.create(newSession(3));
        const found = await store.list({ limit: 10, workingDir: "/w" });
        expect(found.map((meta) => meta.id)).toEqual([sessionId(3), sessionId(1)]);
      }));

    it("updates the named fields only", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await store.update(sessionId(1), { title: "hello" });
        await store.update(sessionId(1), { state: "ended", profile: "strict", model: "scripted:y" });
        expect(await store.get(sessionId(1))).toEqual({
          ...newSession(1),
          pinned: false,
          updatedAt: NOW,
          title: "hello",
          state: "ended",
          profile: "strict",
          model: "scripted:y",
          lastEventId: 0,
        });
      }));

    it("names a session it does not know", () =>
      withStore(async (store) => {
        const unknown = { reason: "SessionNotFound", message: expect.stringContaining(sessionId(9)) };
        await expect(store.update(sessionId(9), { title: "x" })).rejects.toMatchObject(unknown);
        await expect(append(store, sessionId(9), [textDraft("a")], NOW)).rejects.toMatchObject(unknown);
        await expect(store.read(sessionId(9), { after: 0, limit: 1 })).rejects.toMatchObject(unknown);
      }));

    it("refuses everything once closed, and closing twice is fine", async () => {
      const store = await open();
      await store.create(newSession(1));
      await store.close();
      await store.close();
      await expect(store.get(sessionId(1))).rejects.toMatchObject({ reason: "StoreFailed" });
      await expect(store.list({ limit: 1 })).rejects.toMatchObject({ reason: "StoreFailed" });
      await expect(append(store, sessionId(1), [textDraft("a")], NOW)).rejects.toMatchObject({ reason: "StoreFailed" });
    });
  });

  describe(`${name}: events`, () => {
    it("numbers events from 1 without gaps, each session for itself", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await store.create(newSession(2));
        expect(await append(store, sessionId(1), [textDraft("a")], NOW)).toBe(1);
        expect(await append(store, sessionId(1), [textDraft("b"), textDraft("c")], NOW)).toBe(2);
        expect(await append(store, sessionId(2), [textDraft("z")], NOW)).toBe(1);
        expect(await append(store, sessionId(1), [textDraft("d")], NOW)).toBe(4);
        const events = await store.read(sessionId(1), { after: 0, limit: 10 });
        expect(events.map(({ id, payload }) => [id, "text" in payload && payload.text])).toEqual([
          [1, "a"],
          [2, "b"],
          [3, "c"],
          [4, "d"],
        ]);
        expect((await store.get(sessionId(1)))?.lastEventId).toBe(4);
      }));

    it("appends nothing when there is nothing", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        expect(await append(store, sessionId(1), [], LATER)).toBe(1);
        expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 0, updatedAt: NOW });
      }));

    it("appends all or nothing", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await append(store, sessionId(1), [textDraft("kept")], NOW);
        const broken = { kind: "CustomEvent", ts: NOW, payload: { namespace: "n", kind: "k", payload: 1n } } as const;
        await expect(append(store, sessionId(1), [textDraft("lost"), broken], LATER)).rejects.toThrow();
        expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 1, updatedAt: NOW });
        expect(await append(store, sessionId(1), [textDraft("next")], NOW)).toBe(2);
      }));

    it("reads page by page", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await append(
          store,
          sessionId(1),
          Array.from({ length: 25 }, (_, i) => textDraft(`${i}`)),
          NOW,
        );
        const seen: number[] = [];
        for (let after = 0; ; ) {
          const page = await store.read(sessionId(1), { after, limit: 10 });
          seen.push(...page.map((event) => event.id));
          if (page.length < 10) break;
          after = seen.at(-1) ?? 0;
        }
        expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
        expect(await store.read(sessionId(1), { after: 25, limit: 10 })).toEqual([]);
        expect(await store.read(sessionId(1), { after: 99, limit: 10 })).toEqual([]);
      }));

    it("ends a page with the event that reaches the bound in characters, and never before the first", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const drafts = [10, 10, 5000, 10, 6000, 10].map((length) => textDraft("x".repeat(length)));
        await append(store, sessionId(1), drafts, NOW);
        const pageAfter = async (after: number, maxChars: number): Promise<number[]> =>
          (await store.read(sessionId(1), { after, limit: 10, maxChars })).map(({ id }) => id);
        expect(await pageAfter(0, 4000)).toEqual([1, 2, 3]);
        expect(await pageAfter(3, 4000)).toEqual([4, 5]);
        expect(await pageAfter(4, 1)).toEqual([5]);
        expect(await pageAfter(5, 4000)).toEqual([6]);
        expect(await pageAfter(6, 4000)).toEqual([]);
        expect(await pageAfter(0, 1_000_000)).toEqual([1, 2, 3, 4, 5, 6]);
      }));

    it("gives payloads back exactly, extension fields included", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const drafts = awkwardDrafts();
        await append(store, sessionId(1), drafts, NOW);
        const expected = drafts.map((draft, index) => ({ id: index + 1, session: sessionId(1), ...draft }));
        expect(await store.read(sessionId(1), { after: 0, limit: 100 })).toEqual(expected as Event[]);
      }));

    it("has an originator only where one was given", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await append(store, sessionId(1), [{ ...textDraft("a"), originator: CLIENT }, textDraft("b")], NOW);
        const [first, second] = await store.read(sessionId(1), { after: 0, limit: 2 });
        expect(first?.originator).toBe(CLIENT);
        expect(second !== undefined && "originator" in second).toBe(false);
      }));

    it("keeps what was appended when the caller changes its objects afterwards", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const args = { path: "a" };
        const payload = { turn: TURN, step: 1, block: 0, call_id: CALL, name: "fs.read", label: "Read", args };
        await append(store, sessionId(1), [{ kind: "ToolCallStarted", ts: NOW, payload }], NOW);
        args.path = "b";
        expect(await store.read(sessionId(1), { after: 0, limit: 1 })).toMatchObject([
          { payload: { args: { path: "a" } } },
        ]);
      }));
  });

  describe(`${name}: evidence`, () => {
    const key = newSigningKey();
    const verdict = (store: ArchiveStore, id = sessionId(1)) =>
      verifyEvidence(store.readEvidence(id), { trustedKeys: [key.publicKey] });

    it("is chained and signed over many writers, and verifies", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await writeTurns(store, sessionId(1), createRng(1), sampleDrafts(createRng(1), 3));
        await writeTurns(store, sessionId(1), createRng(2), sampleDrafts(createRng(2), 1));
        const { events, findings, unsealed } = await verdict(store);
        expect({ events, findings, unsealed }).toEqual({
          events: (await store.get(sessionId(1)))?.lastEventId,
          findings: [],
          unsealed: 0,
        });
      }, key));

    it("comes in whole, with its checkpoints or with new ones, or not at all", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        await writeTurns(store, sessionId(1), createRng(1), sampleDrafts(createRng(1), 2));
        const { checkpoints } = await verdict(store);
        const lines = await exported(store, sessionId(1));
        const archived = { lines: () => lines, name: "it.jsonl", now: NOW };
        await store.delete(sessionId(1));
        await expect(verdict(store)).rejects.toMatchObject({ reason: "SessionNotFound" });
        await importSession(store, archived);
        expect(await verdict(store)).toMatchObject({ checkpoints, findings: [], unsealed: 0 });
        await expect(importSession(store, archived)).rejects.toThrow(sessionId(1));
        const { session } = await branchSession(store, sessionId(1), { now: NOW });
        expect(await verdict(store, session)).toMatchObject({ findings: [], unsealed: 0 });
        const meta = await store.get(sessionId(1));
        if (meta === undefined) throw new Error("the session is there");
        const breaking = function* (): Generator<never> {
          yield* [];
          throw new Error("no more");
        };
        const { lastEventId: _, ...fields } = { ...meta, id: sessionId(3) };
        await expect(store.restore(fields, breaking())).rejects.toThrow("no more");
        expect(await store.get(sessionId(3))).toBeUndefined();
      }, key));

    it("is not written by a writer that has left", () =>
      withStore(async (store) => {
        await store.create(newSession(1));
        const log = await store.acquire(sessionId(1));
        await log.release();
        await log.release();
        await expect(log.append([textDraft("late")], NOW)).rejects.toMatchObject({ reason: "StoreFailed" });
        expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 0 });
      }));
  });
}

/** Payloads that careless storage changes. */
function awkwardDrafts(): EventDraft[] {
  const args = { deep: [[[{ "": null, "a.b": [true, 1e21, -0.5, "é"] }]]], quote: "\"'\\", nul: "a\u0000b" };
  return [
    textDraft("line\u2028separator\u2029 \u{1f600} \r\n\t ﷽ a\u0301"),
    textDraft("\ud800 lone surrogate"),
    textDraft(""),
    textDraft("x".repeat(2_000_000)),
    {
      kind: "ToolCallStarted",
      ts: "2026-01-01T00:00:00Z",
      originator: CLIENT,
      payload: { turn: TURN, step: 1, block: 0, call_id: CALL, name: "exec", label: "Bash", args },
    },
    {
      kind: "CustomEvent",
      ts: NOW,
      // Extension fields are kept on the wire but have no static type.
      payload: { namespace: "n", kind: "k", payload: { a: 1 }, x_vendor: { kept: ["yes"] } } as never,
    },
  ];
}
