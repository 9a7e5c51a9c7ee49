/** Export and import against each other, between all the stores. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ClientId, EXPIRED_CONTENT, LogId, type SessionId, TokenId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { callDrafts, draft, sessionStarted, turnDrafts, turnId } from "../../test/fakes/session-drafts.ts";
import { append, NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../test/store-suite.ts";
import type { ArchiveStore } from "./archive.ts";
import { branchSession } from "./branch.ts";
import { expirePayload } from "./expired-payload.ts";
import { exportLines } from "./export.ts";
import { importSession } from "./import.ts";
import { openJsonlStore } from "./jsonl/store.ts";
import { createMemoryStore } from "./memory-store.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { verifyEvidence } from "./verify.ts";

const directory = mkdtempSync(join(tmpdir(), "harness-port-"));
afterAll(() => rmSync(directory, { recursive: true }));
const clock = createManualClock();
let opened = 0;
const stores: Readonly<Record<string, () => Promise<ArchiveStore>>> = {
  memory: async () => createMemoryStore(),
  sqlite: () => openSqliteStore({ path: join(directory, `${++opened}.db`), clock, key: TEST_KEY }),
  jsonl: () => openJsonlStore({ root: join(directory, `${++opened}`), clock }),
};

async function fill(store: ArchiveStore): Promise<void> {
  await store.create(newSession(1, { parent: sessionId(7) }));
  await store.update(sessionId(1), { title: "A title", pinned: true, state: "ended" });
  const drafts = [
    sessionStarted(),
    ...turnDrafts(1, "first", "one \u2028 answer \ud800", callDrafts(1, { a: 1 }, "out")),
    ...turnDrafts(2, "second", "two answers"),
  ];
  await append(store, sessionId(1), drafts, NOW);
  const open = callDrafts(3, {}, "").slice(0, 4);
  await append(store, sessionId(1), [draft("TurnStarted", { turn: turnId(3), content: [], model: "m" }), ...open], NOW);
}

async function exported(store: ArchiveStore, id: SessionId = sessionId(1)): Promise<string[]> {
  const meta = await store.get(id);
  if (meta === undefined) throw new Error("the session is there");
  return Array.fromAsync(exportLines(meta, store.readEvidence(id), "0.1.0"));
}

const importing = (lines: readonly string[], change: object = {}) => ({
  lines: () => lines,
  name: "it.jsonl",
  now: NOW,
  ...change,
});

describe.each(Object.keys(stores))("from %s", (from) => {
  it("leaves inputs that waited behind, and says so in the copy", async () => {
    const source = (await stores[from]?.()) ?? createMemoryStore();
    await fill(source);
    const by = ClientId.from("01JZ0000000000000000000003");
    const token = { ids: [TokenId.from("01JZ0000000000000000000004")], until: NOW };
    const waits = draft("InputQueued", { content: [{ type: "text", text: "deploy" }], by, allowed_by: token });
    const queued = ((await source.get(sessionId(1)))?.lastEventId ?? 0) + 1;
    await append(source, sessionId(1), [waits, ...turnDrafts(4, "third", "three"), waits], NOW);
    const lines = await exported(source);
    const inputsOf = async (store: ArchiveStore, id: SessionId) =>
      (await store.read(id, { after: queued - 1, limit: 100 })).filter(({ kind }) => kind.startsWith("Input"));
    const [kept, renamed] = [createMemoryStore(), createMemoryStore()];
    await importSession(kept, importing(lines));
    const newLog = LogId.from("01JZ0000000000000000000009");
    const { session } = await importSession(renamed, importing(lines, { newLog }));
    const branch = await branchSession(source, sessionId(1), { now: NOW });
    const left = (id: number) => ({ kind: "InputRefused", payload: { queued: id, reason: "InputLeftBehind" } });
    const last = lines.length - 2;
    const all = [{ kind: "InputQueued" }, { kind: "InputQueued" }, left(queued), left(last)];
    expect(await inputsOf(kept, sessionId(1))).toMatchObject(all);
    expect(await inputsOf(renamed, session)).toMatchObject(all);
    expect(await inputsOf(source, branch.session)).toMatchObject([{ kind: "InputQueued" }, left(queued)]);
    expect((await inputsOf(source, sessionId(1))).length).toBe(2);
    const { findings } = await verifyEvidence(kept.readEvidence(sessionId(1)), { trustedKeys: [] });
    expect(findings.filter(({ what }) => what !== "unsigned")).toEqual([]);
    await source.close();
  });

  it.each(Object.keys(stores))("to %s and back is the same, byte for byte", async (to) => {
    const source = (await stores[from]?.()) ?? createMemoryStore();
    const target = (await stores[to]?.()) ?? createMemoryStore();
    await fill(source);
    const lines = await exported(source);
    const imported = await importSession(target, importing(lines));
    expect(imported).toEqual({ session: sessionId(1), events: lines.length - 2, evidence: "kept" });
    expect(await exported(target)).toEqual(lines);
    expect(await target.get(sessionId(1))).toEqual(await source.get(sessionId(1)));
    const log = await target.acquire(sessionId(1));
    expect((await log.openCalls()).map(({ id }) => id)).toEqual([20]);
    expect(await log.append([textDraft("on")], NOW)).toBe(lines.length - 1);
    await log.release();
    const { findings } = await verifyEvidence(target.readEvidence(sessionId(1)), { trustedKeys: [] });
    expect(findings.filter(({ what }) => what !== "unsigned")).toEqual([]);
    await Promise.all([source.close(), target.close()]);
  });
});

describe("an export", () => {
  it("begins with a head and has its keys in order", async () => {
    const store = createMemoryStore();
    await fill(store);
    const lines = await exported(store);
    const [head = "", first = ""] = lines;
    expect(JSON.parse(head)).toEqual({
      x_export: {
        format: 2,
        protocol_version: "0.1.0",
        session: {
          id: sessionId(1),
          working_dir: "/w",
          profile: "default",
          model: "scripted:x",
          created_at: NOW,
          updated_at: NOW,
          title: "A title",
          state: "ended",
          pinned: true,
          parent: sessionId(7),
          last_event_id: 20,
        },
      },
    });
    expect(Object.keys(JSON.parse(first))).toEqual(["id", "kind", "session", "originator", "ts", "payload"]);
    // The evidence of a turn stands with its end.
    const ended = lines.find((line) => line.includes('"kind":"TurnEnded"')) ?? "";
    expect(Object.keys(JSON.parse(ended)).at(-1)).toBe("x_evidence");
    expect(Object.keys(JSON.parse(ended).x_evidence)).toEqual(["hash", "salt", "content"]);
  });
});

describe("an import", () => {
  async function lines(): Promise<string[]> {
    const store = createMemoryStore();
    await fill(store);
    return exported(store);
  }
  const edit = (text: string[], line: number, change: (text: string) => string): string[] =>
    text.map((before, index) => (index === line - 1 ? change(before) : before));

  it("of a session that is there is refused, unless new ids are asked for", async () => {
    const store = createMemoryStore();
    await fill(store);
    const text = await exported(store);
    await expect(importSession(store, importing(text))).rejects.toMatchObject({
      reason: "UsageInvalid",
      message: expect.stringContaining("--new-id"),
    });
    const newLog = LogId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
    const { session, evidence } = await importSession(store, importing(text, { newLog }));
    expect(evidence).toBe("made");
    const branch = await branchSession(store, sessionId(1), { at: 15, log: newLog, now: NOW });
    expect(branch).toMatchObject({ session, created: false });
    const again = await exported(store, session);
    expect(again.join("\n")).not.toContain(sessionId(1));
    expect(again).toHaveLength(text.length);
    expect(await importSession(createMemoryStore(), importing(again))).toMatchObject({ session, evidence: "kept" });
  });

  it("of lines without evidence makes it", async () => {
    const bare = (await lines()).map((line) => line.replace(/,"x_evidence":\{[^}]*\}/, ""));
    const store = createMemoryStore();
    expect(await importSession(store, importing(bare))).toMatchObject({ session: sessionId(1), evidence: "made" });
    expect(await importSession(createMemoryStore(), importing(await exported(store)))).toMatchObject({
      evidence: "kept",
    });
  });

  it("takes content that has expired", async () => {
    const store = createMemoryStore();
    const text = (await lines()).map((line) => {
      const { kind, payload } = JSON.parse(line) as { kind?: string; payload: unknown };
      if (kind === undefined) return line;
      return line.replace(JSON.stringify(payload), expirePayload(kind, JSON.stringify(payload)));
    });
    expect(text[2]).toContain(EXPIRED_CONTENT);
    expect(await importSession(store, importing(text))).toMatchObject({ evidence: "kept" });
    expect(await exported(store)).toEqual(text);
  });

  it.each<[string, (text: string[]) => string[], string]>([
    ["nothing", () => [], "it.jsonl is empty"],
    ["no export", () => ["{}"], "line 1: 'x_export' is missing"],
    ["no JSON", (text) => edit(text, 1, () => "hello"), "line 1: it is not JSON"],
    [
      "a newer format",
      (text) => edit(text, 1, (line) => line.replace('"format":2', '"format":3')),
      "line 1: the format is 3",
    ],
    ["a broken line", (text) => edit(text, 4, (line) => line.slice(1)), "line 4: it is not JSON"],
    [
      "an unknown kind",
      (text) => edit(text, 3, (line) => line.replace("TurnStarted", "Nonsense")),
      "line 3: '' is not valid",
    ],
    [
      "a wrong payload",
      (text) => edit(text, 3, (line) => line.replace('"model":"scripted:x"', '"model":7')),
      "line 3: 'model'",
    ],
    [
      "a changed payload",
      (text) => edit(text, 3, (line) => line.replace('"first"', '"other"')),
      "line 12: the payload is not the one that was recorded (events 1 to 11)",
    ],
    [
      "a changed time",
      (text) => edit(text, 3, (line) => line.replace(NOW, "2026-01-01T00:00:01.000Z")),
      "line 12: the evidence does not follow from the lines before (events 1 to 11)",
    ],
    ["a missing line", (text) => text.toSpliced(5, 1), "line 6: event 5 is missing"],
    [
      "swapped lines",
      (text) => [...text.slice(0, 2), text[3] ?? "", text[2] ?? "", ...text.slice(4)],
      "line 3: event 2 is missing",
    ],
    [
      "content that is expired only in part",
      (text) => edit(text, 3, (line) => line.replace('"text":"first"', `"text":"${EXPIRED_CONTENT}"`)),
      "line 12: the payload is not the one",
    ],
    ["a cut end", (text) => text.slice(0, -3), "has no 'x_evidence' for event 16 and what follows: it was cut off"],
    ["a cut end after a turn", (text) => text.slice(0, -6), "ends after event 15 of 20"],
    [
      "another session",
      (text) => edit(text, 3, (line) => line.replace(sessionId(1), sessionId(2))),
      "line 3: the event belongs to",
    ],
    ["an empty line", (text) => text.toSpliced(4, 0, ""), "line 5: it is not JSON"],
    [
      "evidence that is gone from a line",
      (text) => edit(text, 12, (line) => line.replace(/,"x_evidence":\{[^}]*\}/, "")),
      "line 16: the payload is not the one that was recorded (events 1 to 15)",
    ],
    [
      "evidence that is none",
      (text) => edit(text, 12, (line) => line.replace('"salt":', '"pepper":')),
      "line 12: 'x_evidence' is not the evidence",
    ],
    [
      "input that a schema must fill in",
      (text) => edit(text, 3, (line) => line.replace('"type":"text",', "")),
      "line 3: the payload is not in its canonical form",
    ],
  ])("of a file with %s is refused with its line, and nothing is written", async (_, change, message) => {
    const store = createMemoryStore();
    await expect(importSession(store, importing(change(await lines())))).rejects.toMatchObject({
      reason: "UsageInvalid",
      message: expect.stringContaining(message),
    });
    expect(await store.list({ limit: 9 })).toEqual([]);
  });
});
