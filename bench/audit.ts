/**
 * What the evidence is worth and what it costs: random tamperings that must all be found, and appends with and without
 * hashes and signatures, taken in turns in one run. `node bench/audit.ts [tamperings]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock } from "#base";
import type { EventDraft } from "#engine";
import { SessionId } from "#protocol";
import { type Checkpoint, loadAudit } from "#sessions";
import { type EventRecord, toRecord } from "../src/sessions/record.ts";
import { openDatabase, type SqliteDatabase } from "../src/sessions/sqlite-driver.ts";
import { createSqliteStore } from "../src/sessions/sqlite-store.ts";
import {
  createRng,
  exported,
  itemsOf,
  newSigningKey,
  pieces,
  type SampleLog,
  sampleDrafts,
  tamperings,
} from "../test/fakes/tampering.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const TAMPERINGS = 10_000;
const SAMPLE_LOGS = 20;
/** Events in one append: one is what the engine writes while it streams; larger groups form under backlog. */
const BATCHES = [1, 10, 100];
const MAX_COST = 1.1;
const APPENDS = 3000;
const WARM_UP_APPENDS = 100;

const clock = createSystemClock();
const key = newSigningKey();
const STORE_KEY = { bytes: Buffer.alloc(32, 7), source: "the benchmark" };
const { readEvidenceLines, verifyEvidence } = await loadAudit();
const now = () => new Date(clock.now()).toISOString();

export async function benchAudit(count: number): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), "harness-bench-audit-"));
  try {
    const missed = await countMissed(directory, count);
    const figures: Figure[] = [{ name: `tamperings missed of ${count}`, unit: "logs", ours: missed, limit: 0 }];
    for (const batch of BATCHES) figures.push(await appendCost(directory, batch));
    return figures;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function countMissed(directory: string, count: number): Promise<number> {
  const rng = createRng(7);
  const logs: SampleLog[] = [];
  for (let n = 0; n < SAMPLE_LOGS; n++) logs.push(await sampleLog(join(directory, `sample-${n}.db`), rng));
  let missed = 0;
  for (let done = 0; done < count; ) {
    const tampering = tamperings[done % tamperings.length];
    const log = logs[Math.floor(rng() * logs.length)];
    if (tampering === undefined || log === undefined) throw new Error("there are tamperings and logs");
    const lines = await tampering.apply(log, rng);
    if (lines.join("\n") === log.lines.join("\n")) continue; // by chance the same: draw again
    done += 1;
    if ((await findings(lines, log, tampering.needsAnchor ? [log.anchor] : undefined)) > 0) continue;
    missed += 1;
    process.stderr.write(`missed: ${tampering.name}\n${lines.join("\n")}\n`);
  }
  return missed;
}

async function sampleLog(path: string, rng: () => number): Promise<SampleLog> {
  const store = createSqliteStore(openDatabase({ path, clock, key: STORE_KEY }), clock, key.sign);
  const session = await newSession(store, Math.floor(rng() * 1e9));
  const log = await store.acquire(session);
  await log.append(sampleDrafts(rng, 2 + Math.floor(rng() * 8)), now());
  await log.release();
  const lines = await exported(store, session);
  await store.close();
  const end = (await itemsOf(lines)).at(-1);
  if (end?.type !== "head") throw new Error("an export ends with the head");
  const anchor = key.sign({ session, event: end.head.lastEventId, hash: end.head.hash.toString("hex"), ts: now() });
  const sample = { lines, anchor, key };
  if ((await findings(lines, sample, [anchor])) > 0) throw new Error("an untouched log must be intact");
  return sample;
}

async function findings(lines: readonly string[], log: SampleLog, anchors?: readonly Checkpoint[]): Promise<number> {
  const options = { trustedKeys: [log.key.publicKey], ...(anchors === undefined ? {} : { anchors }) };
  return (await verifyEvidence(readEvidenceLines(pieces(lines)), options)).findings.length;
}

/** Microseconds for one event, medians over appends of the two kinds in turns. */
async function appendCost(directory: string, batch: number): Promise<Figure> {
  const withEvidence = createSqliteStore(
    openDatabase({ path: join(directory, `with-${batch}.db`), clock, key: STORE_KEY }),
    clock,
    key.sign,
  );
  const log = await withEvidence.acquire(await newSession(withEvidence, 1));
  const bareDb = openDatabase({ path: join(directory, `bare-${batch}.db`), clock, key: STORE_KEY });
  const bare = createBareAppend(bareDb);
  const drafts = turnDrafts();
  const ours: number[] = [];
  const floor: number[] = [];
  for (let n = -WARM_UP_APPENDS; n < APPENDS; n++) {
    const slice = Array.from(
      { length: batch },
      (_, at) => drafts[(n * batch + at + 100 * batch * WARM_UP_APPENDS) % drafts.length],
    );
    const some = slice.filter((draft) => draft !== undefined);
    // In turns also within a pair: whoever goes second finds warm caches.
    for (const isOurs of n % 2 === 0 ? [true, false] : [false, true]) {
      const at = now();
      const startMs = clock.monotonicMs();
      await (isOurs ? log.append(some, at) : bare(some, at));
      const eventUs = ((clock.monotonicMs() - startMs) * 1000) / batch;
      if (n >= 0) (isOurs ? ours : floor).push(eventUs);
    }
  }
  await withEvidence.close();
  bareDb.close();
  const name = `append of ${batch} at once, with evidence over without, for one event`;
  return { name, unit: "µs", ours: median(ours), floor: median(floor), maxRatio: MAX_COST };
}

/** One turn of text as it is streamed: what most of a log consists of. */
function turnDrafts(): EventDraft[] {
  const drafts = sampleDrafts(createRng(1), 1).slice(0, -1);
  const [started, delta] = drafts;
  const ended = drafts.at(-1);
  if (started === undefined || delta?.kind !== "TextDelta" || ended === undefined) throw new Error("a sample turn");
  const text = "It reads the file, finds the line and says what it will change there. ".repeat(3);
  return [started, ...Array<EventDraft>(48).fill({ ...delta, payload: { ...delta.payload, text } }), ended];
}

/** The store's own append, table for table and statement for statement, without hashes, salts and signatures. */
function createBareAppend(db: SqliteDatabase): (drafts: readonly EventDraft[], now: string) => Promise<number> {
  db.exec(`DROP TABLE events;
    CREATE TABLE events (session INTEGER NOT NULL REFERENCES sessions (key), id INTEGER NOT NULL CHECK (id > 0),
      kind TEXT NOT NULL, ts TEXT NOT NULL, originator TEXT, payload TEXT NOT NULL) STRICT;
    CREATE UNIQUE INDEX events_since ON events (session, id);
    INSERT INTO sessions (id, working_dir, profile, model, created_at, updated_at, head)
      VALUES ('x', '/', 'p', 'm', '', '', x'')`);
  const insert = db.prepare(
    "INSERT INTO events (session, id, kind, ts, originator, payload) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const update = db.prepare("UPDATE sessions SET updated_at = ?, owner_until = ? WHERE key = ?");
  const note = db.prepare("DELETE FROM open_calls WHERE session = ? AND call_id = ?");
  let last = 0;
  const insertAll = db.transaction((records: readonly EventRecord[], drafts: readonly EventDraft[], at: string) => {
    for (const { kind, ts, originator, payload } of records) insert.run(1, ++last, kind, ts, originator, payload);
    for (const draft of drafts) if (draft.kind === "ToolOutcome") note.run(1, draft.payload.call_id);
    update.run(at, clock.now(), 1);
  });
  return async (drafts, at) => {
    const first = last + 1;
    insertAll.immediate(drafts.map(toRecord), drafts, at);
    return first;
  };
}

async function newSession(store: ReturnType<typeof createSqliteStore>, n: number): Promise<SessionId> {
  const id = SessionId.from(String(n).padStart(26, "0"));
  await store.create({ id, workingDir: "/w", profile: "p", model: "m", createdAt: now() });
  return id;
}

if (import.meta.main) {
  const figures = await benchAudit(Number(process.argv[2] ?? TAMPERINGS));
  printFigures("audit", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
