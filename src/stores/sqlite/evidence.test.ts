import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../test/fakes/manual-clock.ts";
import { createRng, exported, newSigningKey, pieces, sampleDrafts, writeTurns } from "../../../test/fakes/tampering.ts";
import { append, NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../../test/store-suite.ts";
import { branchSession } from "../branch.ts";
import type { Signer } from "../checkpoint.ts";
import { type EvidenceItem, readEvidenceLines } from "../evidence-lines.ts";
import { exportLines } from "../export.ts";
import { importSession } from "../import.ts";
import { verifyEvidence } from "../verify.ts";
import { openDatabase } from "./driver.ts";
import { createSqliteStore } from "./store.ts";

const clock = createManualClock();
const key = newSigningKey();
const trustedKeys = [key.publicKey];
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-evidence-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const openStore = (signer: Signer = key) => {
  const db = openDatabase({ path: join(directory, "log.db"), clock, key: TEST_KEY });
  return { db, store: createSqliteStore(db, clock, signer) };
};

const shape = (items: readonly EvidenceItem[]) =>
  items.map((item) => (item.type === "record" ? item.record.kind : item.type));

it("has a checkpoint a moment after the end of a turn, and one where the writer left", async () => {
  const { store } = openStore();
  await store.create(newSession(1));
  const log = await store.acquire(sessionId(1));
  const shapeNow = async () => shape(await Array.fromAsync(store.readEvidence(sessionId(1))));
  const [ended, ...turn] = sampleDrafts(createRng(1), 1).reverse();
  await log.append(turn.reverse(), NOW);
  expect((await shapeNow()).slice(-2)).toEqual(["TurnEnded", "head"]);
  await vi.waitFor(
    async () => expect((await shapeNow()).slice(-3)).toEqual(["TurnEnded", "checkpoint", "head"]),
    30_000,
  );
  await log.append(ended === undefined ? [] : [ended], NOW);
  const during = await shapeNow();
  expect(during.slice(-4)).toEqual(["TurnEnded", "checkpoint", "SessionEnded", "head"]);
  await log.release();
  const after = await shapeNow();
  expect(after).toEqual([...during.slice(0, -1), "checkpoint", "head"]);
  // Nothing new to sign.
  await (await store.acquire(sessionId(1))).release();
  expect(await shapeNow()).toEqual(after);
  await store.close();
});

it("is signed by the next writer when a crash came first, and says when it did", async () => {
  const { store: first } = openStore();
  await first.create(newSession(1));
  const log = await first.acquire(sessionId(1));
  await log.append(sampleDrafts(createRng(1), 1), NOW);
  await first.close();
  const { store, db } = openStore();
  const verdict = () => verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys });
  expect((await verdict()).findings.map(({ what }) => what)).toEqual(["unsigned"]);
  db.prepare("UPDATE sessions SET owner = NULL").run();
  const next = await store.acquire(sessionId(1));
  expect(await verdict()).toMatchObject({ checkpoints: 1, unsealed: 0, findings: [] });
  await next.release();
  expect(await verdict()).toMatchObject({ checkpoints: 1, findings: [] });
  await store.close();
});

it("tells that the row of a session is ahead of its events, and takes its time from them while it is open", async () => {
  const { store, db } = openStore();
  await store.create(newSession(1));
  const log = await store.acquire(sessionId(1));
  await log.append([{ ...textDraft("a"), ts: "2026-03-01T00:00:00.000Z" }, textDraft("b")], NOW);
  await log.append([{ ...textDraft("c"), ts: "2026-03-02T00:00:00.000Z" }], NOW);
  expect((await store.get(sessionId(1)))?.updatedAt).toBe("2026-03-02T00:00:00.000Z");
  await log.release();
  db.prepare("DELETE FROM events WHERE id = 3").run();
  db.prepare("DELETE FROM checkpoints").run();
  const { findings } = await verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys });
  expect(findings.map(({ event, what }) => `${event} ${what}`)).toEqual(["3 truncated"]);
  await store.close();
});

it("is read in pages, in order, and leaves out what is appended meanwhile", async () => {
  const { store } = openStore();
  await store.create(newSession(1));
  await append(store, sessionId(1), sampleDrafts(createRng(1), 150), NOW);
  const { lastEventId } = (await store.get(sessionId(1))) ?? { lastEventId: 0 };
  let records = 0;
  async function* withWriter(): AsyncGenerator<EvidenceItem> {
    for await (const item of store.readEvidence(sessionId(1))) {
      if (item.type === "record" && ++records === 300)
        await append(store, sessionId(1), sampleDrafts(createRng(2), 1), NOW);
      yield item;
    }
  }
  expect(await verifyEvidence(withWriter(), { trustedKeys })).toMatchObject({
    events: lastEventId,
    checkpoints: 1,
    unsealed: 0,
    findings: [],
  });
  await store.close();
});

it("stores no end of a turn when it cannot be signed", async () => {
  const refuse = () => {
    throw new Error("no key");
  };
  const { store } = openStore({ ready: refuse, sign: refuse });
  await store.create(newSession(1));
  const log = await store.acquire(sessionId(1));
  await log.append([textDraft("a")], NOW);
  await expect(log.append(sampleDrafts(createRng(1), 1), NOW)).rejects.toMatchObject({ reason: "StoreFailed" });
  expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 1 });
  await store.close();
});

it("goes with its session, and is not found without one", async () => {
  const { store, db } = openStore();
  await store.create(newSession(1));
  await append(store, sessionId(1), sampleDrafts(createRng(1), 1), NOW);
  await store.delete(sessionId(1));
  expect(db.prepare("SELECT count(*) AS n FROM checkpoints").get()).toEqual({ n: 0 });
  await expect(Array.fromAsync(store.readEvidence(sessionId(1)))).rejects.toMatchObject({ reason: "SessionNotFound" });
  await store.close();
});

describe("sessions that come in whole", () => {
  const signedExport = async () => {
    const { store } = openStore();
    await store.create(newSession(1));
    await writeTurns(store, sessionId(1), createRng(1), sampleDrafts(createRng(1), 2));
    return { store, lines: await exported(store, sessionId(1)) };
  };
  const openTarget = () => {
    const db = openDatabase({ path: join(directory, "target.db"), clock, key: TEST_KEY });
    return createSqliteStore(db, clock, newSigningKey());
  };
  const given = (lines: readonly string[]) => ({ lines: () => lines, name: "it.jsonl", now: NOW });

  it("keep the checkpoints they came with", async () => {
    const { store, lines } = await signedExport();
    const target = openTarget();
    expect(await importSession(target, given(lines))).toMatchObject({ evidence: "kept" });
    expect(await exported(target, sessionId(1))).toEqual(lines);
    expect(await verifyEvidence(target.readEvidence(sessionId(1)), { trustedKeys })).toMatchObject({
      checkpoints: 3,
      findings: [],
    });
    await Promise.all([store.close(), target.close()]);
  });

  it("are signed by the machine that makes their evidence", async () => {
    const { store } = await signedExport();
    const { session } = await branchSession(store, sessionId(1), { now: NOW });
    expect(await verifyEvidence(store.readEvidence(session), { trustedKeys })).toMatchObject({
      checkpoints: 2,
      unsealed: 0,
      findings: [],
    });
    await store.close();
  });

  it("are refused with a checkpoint or a head that is not theirs", async () => {
    const { store, lines } = await signedExport();
    const seal = lines.findIndex((line) => line.startsWith('{"x_checkpoint"'));
    const head = lines.length - 1;
    const flip = (line = "") => line.replace(/"hash":"(.)/, (_, digit) => `"hash":"${digit === "0" ? "1" : "0"}`);
    const target = openTarget();
    for (const [changed, message] of [
      [lines.with(seal, flip(lines[seal])), `line ${seal + 1}: the checkpoint does not belong`],
      [lines.with(seal, (lines[seal] ?? "").replace('"signature":"', '"signature":"x')), `line ${seal + 1}: it is no`],
      [
        lines.with(seal, lines[seal + 1] ?? "").with(seal + 1, lines[seal] ?? ""),
        `line ${seal + 2}: it is between events`,
      ],
      [lines.with(head, flip(lines[head])), `line ${head + 1}: the head does not follow`],
      [[...lines, lines[head] ?? ""], `line ${head + 2}: there are lines after`],
    ] as const) {
      await expect(importSession(target, given(changed))).rejects.toMatchObject({
        reason: "UsageInvalid",
        message: expect.stringContaining(message),
      });
    }
    expect(await target.list({ limit: 9 })).toEqual([]);
    await Promise.all([store.close(), target.close()]);
  });

  it("are exported as they were when they were asked for", async () => {
    const { store } = await signedExport();
    const meta = await store.get(sessionId(1));
    if (meta === undefined) throw new Error("the session is there");
    await append(store, sessionId(1), [textDraft("later")], NOW);
    const lines = await Array.fromAsync(exportLines(meta, store.readEvidence(sessionId(1)), "0.1.0"));
    expect(lines.at(-1)).toContain(`{"x_head":{"event":${meta.lastEventId},`);
    expect(await verifyEvidence(readEvidenceLines(pieces(lines)), { trustedKeys })).toMatchObject({ findings: [] });
    await store.close();
  });
});
