/**
 * What the evidence is worth and what it costs: random tamperings that must all be found, and appends with and without
 * hashes and signatures, taken in turns in one run. `node bench/audit.ts [tamperings]`.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { defined } from "#base";
import type { EventDraft } from "#engine";
import { SessionId } from "#protocol";
import { type Checkpoint, loadAudit } from "#stores";
import { createSystemClock } from "#world";
import { CHECKPOINT_DELAY_MS } from "../src/stores/delayed-checkpoint.ts";
import { type chainDrafts, toRecord } from "../src/stores/record.ts";
import { openDatabase } from "../src/stores/sqlite/driver.ts";
import type { insertRecord } from "../src/stores/sqlite/evidence.ts";
import { createSqliteStore } from "../src/stores/sqlite/store.ts";
import {
  createRng,
  exported,
  itemsOf,
  newSigningKey,
  pieces,
  type SampleLog,
  sampleDrafts,
  tamperings,
  writeTurns,
} from "../test/fakes/tampering.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const TAMPERINGS = 10_000;
const SAMPLE_LOGS = 20;
/** Events in one append: one is what the engine writes while it streams; larger groups form under backlog. */
const COSTS = [
  { batch: 1, appends: 4000 },
  { batch: 10, appends: 3000 },
  { batch: 100, appends: 2000 },
] as const;
const MAX_COST = 1.1;
const WARM_UP_APPENDS = 200;
const CHECKPOINTS = 100;

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
    for (const cost of COSTS) figures.push(await appendCost(directory, cost));
    return figures;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function countMissed(directory: string, count: number): Promise<number> {
  const rng = createRng(7);
  const logs: SampleLog[] = [];
  for (let n = 0; n < SAMPLE_LOGS; n++) {
    logs.push(await sampleLog(join(directory, `sample-${n}.db`), rng));
  }
  let missed = 0;
  let same = 0;
  for (let done = 0; done < count + same; ) {
    const tampering = tamperings[done % tamperings.length];
    const log = logs[Math.floor(rng() * logs.length)];
    if (tampering === undefined || log === undefined) throw new Error("there are tamperings and logs");
    const lines = await tampering.apply(log, rng);
    done += 1;
    if (lines.join("\n") === log.lines.join("\n")) {
      same += 1; // by chance, or because there is nothing of this kind in the log
      continue;
    }
    if ((await findings(lines, log, tampering.needsAnchor ? [log.anchor] : undefined)) > 0) continue;
    missed += 1;
    process.stderr.write(`missed: ${tampering.name}\n${lines.join("\n")}\n`);
  }
  return missed;
}

async function sampleLog(path: string, rng: () => number): Promise<SampleLog> {
  const store = createSqliteStore(openDatabase({ path, clock, key: STORE_KEY }), clock, key);
  const session = await newSession(store, Math.floor(rng() * 1e9));
  await writeTurns(store, session, rng, sampleDrafts(rng, 2 + Math.floor(rng() * 8)));
  const lines = await exported(store, session);
  await store.close();
  const end = (await itemsOf(lines)).at(-1);
  if (end?.type !== "head") throw new Error("an export ends with the head");
  const anchor = key.sign({ session, event: end.head.lastEventId, hash: end.head.hash, ts: now() });
  const sample = { lines, anchor, key };
  if ((await findings(lines, sample, [anchor])) > 0) throw new Error("an untouched log must be intact");
  return sample;
}

async function findings(lines: readonly string[], log: SampleLog, anchors?: readonly Checkpoint[]): Promise<number> {
  const options = { trustedKeys: [log.key.publicKey], ...defined({ anchors }) };
  return (await verifyEvidence(readEvidenceLines(pieces(lines)), options)).findings.length;
}

/**
 * Microseconds for one event, medians over appends of the two kinds in turns: other work on the machine comes and goes. Turns
 * are signed between appends, at most so often; what that takes is measured apart and added to each event.
 */
async function appendCost(directory: string, { batch, appends }: (typeof COSTS)[number]): Promise<Figure> {
  const withEvidence = createSqliteStore(
    openDatabase({ path: join(directory, `with-${batch}.db`), clock, key: STORE_KEY }),
    clock,
    key,
  );
  const session = await newSession(withEvidence, 1);
  const log = await withEvidence.acquire(session);
  const bareDb = openDatabase({ path: join(directory, `without-${batch}.db`), clock, key: STORE_KEY });
  const without = createSqliteStore(bareDb, clock, undefined, { chain: unchained, insert: insertUnchained });
  const bareLog = await without.acquire(await newSession(without, 1));
  bareDb.exec("ALTER TABLE events DROP COLUMN link");
  const turn = turnDrafts();
  const ours: number[] = [];
  const floor: number[] = [];
  for (let n = 0; n < WARM_UP_APPENDS + appends; n++) {
    const drafts = Array.from({ length: batch }, (_, at) => turn[(n * batch + at) % turn.length]);
    const group = drafts.filter((draft) => draft !== undefined);
    // In turns also within a pair: whoever goes second finds warm caches.
    for (const isOurs of n % 2 === 0 ? [true, false] : [false, true]) {
      const startMs = clock.monotonicMs();
      await (isOurs ? log : bareLog).append(group, now());
      const eventUs = ((clock.monotonicMs() - startMs) * 1000) / batch;
      if (n >= WARM_UP_APPENDS) (isOurs ? ours : floor).push(eventUs);
      await setImmediate();
    }
  }
  await log.release();
  const checkpointUs = await checkpointCost(withEvidence, session, turn);
  await withEvidence.close();
  await without.close();
  const eventsBetween = Math.max(turn.length, (CHECKPOINT_DELAY_MS * 1000) / median(ours));
  const name = `append of ${batch} at once, with evidence over without, for one event`;
  const total = median(ours) + checkpointUs / eventsBetween;
  return { name, unit: "µs", ours: total, floor: median(floor), maxRatio: MAX_COST };
}

/** Microseconds to sign the end of the chain and to store that, in a commit of its own. */
async function checkpointCost(
  store: ReturnType<typeof createSqliteStore>,
  session: SessionId,
  turn: readonly EventDraft[],
): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < CHECKPOINTS; n++) {
    const log = await store.acquire(session);
    await log.append(turn, now());
    const startMs = clock.monotonicMs();
    await log.release();
    times.push((clock.monotonicMs() - startMs) * 1000);
  }
  return median(times);
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

/** Records as they would be without evidence. */
const unchained: typeof chainDrafts = (_session, head, drafts) => {
  let id = head.lastEventId;
  const records = drafts.map((draft) => {
    id += 1;
    return { id, ...toRecord(draft), link: undefined };
  });
  return { records, head: { lastEventId: id, hash: head.hash } };
};

const insertUnchained: typeof insertRecord = (statement, key, { id, kind, ts, originator, payload }) => {
  const sql = "INSERT INTO events (session, id, kind, ts, originator, payload) VALUES (?, ?, ?, ?, ?, ?)";
  statement(sql).run(key, id, kind, ts, originator, payload);
};

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
