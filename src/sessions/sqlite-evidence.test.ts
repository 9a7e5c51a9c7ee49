import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createRng, newSigningKey, sampleDrafts } from "../../test/fakes/tampering.ts";
import type { EvidenceItem } from "./evidence-lines.ts";
import { openDatabase } from "./sqlite-driver.ts";
import { createSqliteStore } from "./sqlite-store.ts";
import { append, NOW, newSession, sessionId, textDraft } from "./store-suite.ts";
import { verifyEvidence } from "./verify.ts";

const clock = createManualClock();
const key = newSigningKey();
const trustedKeys = [key.publicKey];
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-evidence-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const openStore = (sign = key.sign) => {
  const db = openDatabase({ path: join(directory, "log.db"), clock });
  return { db, store: createSqliteStore(db, clock, sign) };
};

const shape = (items: readonly EvidenceItem[]) =>
  items.map((item) => (item.type === "record" ? item.record.kind : item.type));

it("has a checkpoint after the end of each turn, and one where the writer left", async () => {
  const { store } = openStore();
  await store.create(newSession(1));
  const log = await store.acquire(sessionId(1));
  await log.append(sampleDrafts(createRng(1), 1), NOW);
  const during = shape(await Array.fromAsync(store.readEvidence(sessionId(1))));
  expect(during.slice(-4)).toEqual(["TurnEnded", "checkpoint", "SessionEnded", "head"]);
  await log.release();
  const after = shape(await Array.fromAsync(store.readEvidence(sessionId(1))));
  expect(after).toEqual([...during.slice(0, -1), "checkpoint", "head"]);
  // Nothing new to sign.
  await (await store.acquire(sessionId(1))).release();
  expect(shape(await Array.fromAsync(store.readEvidence(sessionId(1))))).toEqual(after);
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
    checkpoints: 151,
    unsealed: 0,
    findings: [],
  });
  await store.close();
});

it("stores no end of a turn when it cannot be signed", async () => {
  const { store } = openStore(() => {
    throw new Error("no key");
  });
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
