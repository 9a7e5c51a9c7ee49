/** Logs that an earlier version wrote, with a link for each event: they open, verify and go on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import {
  createRng,
  exported,
  inFirstFormat,
  itemsOf,
  newSigningKey,
  pieces,
  sampleDrafts,
  writeTurns,
} from "../../test/fakes/tampering.ts";
import { NOW, newSession, sessionId, TEST_KEY } from "../../test/store-suite.ts";
import { diagnoseStore } from "./doctor.ts";
import { type EvidenceItem, readEvidenceLines } from "./evidence-lines.ts";
import { importSession } from "./import.ts";
import { openJsonlStore } from "./jsonl/store.ts";
import { createMemoryStore } from "./memory-store.ts";
import { applyRetention, defaultRetention } from "./retention.ts";
import { connect, openDatabase } from "./sqlite/driver.ts";
import { APPLICATION_ID, LEDGER_SQL, migrations } from "./sqlite/migrations.ts";
import { createSqliteStore, openSqliteStore } from "./sqlite/store.ts";
import { verifyEvidence } from "./verify.ts";

const clock = createManualClock();
const key = newSigningKey();
const trustedKeys = [key.publicKey];
let directory: string;
let path: string;
let lines: readonly string[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "harness-first-"));
  path = join(directory, "sessions.db");
  const store = createMemoryStore({ signer: key, clock });
  await store.create(newSession(1));
  await writeTurns(store, sessionId(1), createRng(1), sampleDrafts(createRng(1), 3));
  lines = await inFirstFormat({ lines: await exported(store, sessionId(1)), key });
  await store.close();
});
afterEach(() => rmSync(directory, { recursive: true }));

/** As version 1 of the schema has it. */
function writeFirstSchema(items: readonly EvidenceItem[]): void {
  connect({ path, key: TEST_KEY }, (db) => {
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL; ${LEDGER_SQL}`);
    db.exec(migrations[0]?.sql ?? "");
    db.prepare("INSERT INTO schema_migrations VALUES (1, ?, ?)").run(NOW, migrations[0]?.sha256);
    db.prepare(
      `INSERT INTO sessions (id, working_dir, profile, model, created_at, updated_at, head)
        VALUES (?, '/w', 'default', 'scripted:x', ?, ?, x'')`,
    ).run(sessionId(1), NOW, NOW);
    for (const item of items) {
      if (item.type === "record") {
        const { id, kind, ts, originator, payload, link } = item.record;
        if (link === undefined || !("prev" in link)) throw new Error("each event has its own link");
        db.prepare("INSERT INTO events VALUES (1, ?, ?, ?, ?, ?, unhex(?), unhex(?), unhex(?))").run(
          ...[id, kind, ts, originator, payload, link.prev, link.salt, link.content],
        );
      } else if (item.type === "checkpoint") {
        const { event, hash, ts, key_id, public_key, signature } = item.checkpoint;
        db.prepare("INSERT INTO checkpoints VALUES (1, ?, unhex(?), ?, ?, unhex(?), unhex(?))").run(
          ...[event, hash, ts, key_id, public_key, signature],
        );
      } else if (item.type === "head") {
        db.prepare("UPDATE sessions SET head = unhex(?)").run(item.head.hash);
      }
    }
  }).close();
}

it("is migrated once, as it was, and verifies before and after more is written", async () => {
  writeFirstSchema(await itemsOf(lines));
  const store = await openSqliteStore({ path, clock, key: TEST_KEY, signer: key });
  const written = lines.filter((line) => line.startsWith('{"id"')).length;
  const verdict = () => verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys });
  expect((await exported(store, sessionId(1))).slice(1)).toEqual(lines.slice(1));
  expect(await verdict()).toMatchObject({ events: written, unsealed: 0, findings: [] });
  await writeTurns(store, sessionId(1), createRng(2), sampleDrafts(createRng(2), 2));
  const after = await verdict();
  expect(after).toMatchObject({ unsealed: 0, findings: [] });
  expect(after.events).toBeGreaterThan(written);
  expect(diagnoseStore({ path, clock, key: TEST_KEY })).toEqual([]);
  await store.close();
});

it("is told apart when it was changed, before and after it was migrated", async () => {
  const items = await itemsOf(lines);
  writeFirstSchema(
    items.map((item) =>
      item.type === "record" && item.record.id === 3
        ? { ...item, record: { ...item.record, payload: item.record.payload.replace('"step":1', '"step":2') } }
        : item,
    ),
  );
  const db = openDatabase({ path, clock, key: TEST_KEY });
  const store = createSqliteStore(db, clock, key);
  const found = async () =>
    (await verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys })).findings.map(
      ({ event, what }) => `${event} ${what}`,
    );
  expect(await found()).toEqual(["3 altered"]);
  db.prepare("UPDATE events SET ts = 'x' WHERE id = 5").run();
  expect(await found()).toEqual(["3 altered", "6 broken-link"]);
  await store.close();
});

it("loses content when its time has come, event by event", async () => {
  writeFirstSchema(await itemsOf(lines));
  const db = openDatabase({ path, clock, key: TEST_KEY });
  const store = createSqliteStore(db, clock, key);
  const later = { now: () => Date.parse("2027-01-01") };
  const { expiredEvents: expired } = applyRetention(db, { clock: later, policy: defaultRetention });
  expect(expired).toBeGreaterThan(3);
  expect(await verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys })).toMatchObject({
    expired,
    findings: [],
  });
  await store.close();
});

it.each(["memory", "jsonl", "sqlite"])("is imported with its evidence into %s, and goes on there", async (kind) => {
  const store =
    kind === "memory"
      ? createMemoryStore({ signer: key, clock })
      : kind === "jsonl"
        ? await openJsonlStore({ root: directory, clock, signer: key })
        : await openSqliteStore({ path, clock, key: TEST_KEY, signer: key });
  expect(await importSession(store, { lines: () => lines, name: "it", now: NOW })).toMatchObject({ evidence: "kept" });
  await writeTurns(store, sessionId(1), createRng(2), sampleDrafts(createRng(2), 1));
  const again = await exported(store, sessionId(1));
  expect(again.slice(1, lines.length - 1)).toEqual(lines.slice(1, -1));
  expect(await verifyEvidence(readEvidenceLines(pieces(again)), { trustedKeys })).toMatchObject({
    unsealed: 0,
    findings: [],
  });
  await store.close();
});
