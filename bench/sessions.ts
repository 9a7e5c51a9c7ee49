/**
 * The session log against a bare batched insert into the same encrypted database, in one run: appending in groups and one
 * by one, resuming long sessions, and the size of the file. Ratios count; the machine does not.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConversation, type EventDraft, type SessionLog, type SessionStore, type SnapshotShelf } from "#engine";
import { type Event, SessionId } from "#protocol";
import { openSqliteStore } from "#stores";
import { createRemains } from "../src/engine/remains.ts";
import { createSnapshotKeeper, SNAPSHOT_EVERY_EVENTS } from "../src/engine/snapshot-keeper.ts";
import { toRecord } from "../src/stores/record.ts";
import { openDatabase, type SqliteDatabase } from "../src/stores/sqlite/driver.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";
import { sessionDrafts } from "./session-drafts.ts";

const GROUP = 100;
const THROUGHPUT_EVENTS = 10_000;
const ROUNDS = 15;
const SINGLE_EVENTS = 500;
const RESUMES = 20;
/** About 1.6 MB of payload: more than today's models take in, so that real sessions are compacted sooner. */
const COMPACT_EVERY = 10_000;
/** What an event may take besides twice its payload. */
const FIXED_BYTES_PER_EVENT = 256;
const NOW = "2026-01-01T00:00:00.000Z";
const clock = { now: () => Date.now() };
const key = { bytes: randomBytes(32), source: "the benchmark" };

/** `part` is `append` or `resume`; both when absent. */
export async function benchSessions(part?: string): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), "harness-bench-sessions-"));
  try {
    return [
      ...(part === "resume" ? [] : await benchAppend(join(directory, "append.db"))),
      ...(part === "append" ? [] : await benchResume(join(directory, "resume.db"))),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function benchAppend(path: string): Promise<Figure[]> {
  const store = await openSqliteStore({ path, clock, key });
  const db = openDatabase({ path, clock, key });
  const drafts = [...sessionDrafts(THROUGHPUT_EVENTS)];
  const insertBare = createBareTable(db);
  const groups = inGroups(drafts, GROUP);
  const ours: number[] = [];
  const floors: number[] = [];
  let made = 0;
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await perEventUs(drafts.length, () => appendGroups(store, sessionId(made++), groups)));
    floors.push(await perEventUs(drafts.length, () => insertBare(groups)));
  }
  const singles = await singleAppends(store, sessionId(9998), drafts.slice(0, SINGLE_EVENTS));
  const snapshotMs: number[] = [];
  const besideSnapshots = await singleAppends(store, sessionId(9999), drafts, snapshotMs);
  db.close();
  await store.close();
  return [
    {
      name: `append in groups of ${GROUP}, per event (floor: bare batched insert)`,
      unit: "µs",
      ours: median(ours),
      floor: median(floors),
      maxRatio: 2,
    },
    { name: "one durable event, p95", unit: "ms", ours: percentile(singles, 0.95), limit: 5 },
    { name: "one durable event, median", unit: "ms", ours: median(singles) },
    {
      name: "one durable event, snapshots included, p95",
      unit: "ms",
      ours: percentile(besideSnapshots, 0.95),
      limit: 5,
    },
    { name: "one durable event, snapshots included, longest", unit: "ms", ours: Math.max(...besideSnapshots) },
    { name: `writing a snapshot, longest of ${snapshotMs.length}`, unit: "ms", ours: Math.max(...snapshotMs) },
  ];
}

/** The same rows in groups of the same size, without a store around them. */
function createBareTable(db: SqliteDatabase): (groups: readonly (readonly EventDraft[])[]) => Promise<void> {
  db.exec(`CREATE TABLE bare (session INTEGER, id INTEGER, kind TEXT, ts TEXT, originator TEXT, payload TEXT) STRICT;
    CREATE UNIQUE INDEX bare_since ON bare (session, id)`);
  const insert = db.prepare("INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?)");
  let session = 0;
  let id = 0;
  const write = db.transaction((drafts: readonly EventDraft[]) => {
    for (const draft of drafts) {
      const { kind, ts, originator, payload } = toRecord(draft);
      insert.run(session, ++id, kind, ts, originator, payload);
    }
  });
  return async (groups) => {
    session += 1;
    id = 0;
    for (const group of groups) write.immediate(group);
  };
}

async function appendGroups(store: SessionStore, id: SessionId, groups: readonly EventDraft[][]): Promise<void> {
  await store.create({ id, workingDir: "/", profile: "default", model: "bench:one", createdAt: NOW });
  const log = await store.acquire(id);
  for (const group of groups) await log.append(group, NOW);
  await log.release();
}

/** What each event waits for: its own commit and, with `snapshotMs`, the snapshot that is being written when it comes. */
async function singleAppends(
  store: SessionStore,
  id: SessionId,
  drafts: readonly EventDraft[],
  snapshotMs?: number[],
): Promise<number[]> {
  await store.create({ id, workingDir: "/", profile: "default", model: "bench:one", createdAt: NOW });
  const log = await store.acquire(id);
  const follow = createFollower(id, log, snapshotMs);
  const times: number[] = [];
  let behind: Promise<void> = Promise.resolve();
  for (const draft of drafts) {
    const startMs = performance.now();
    await behind;
    const first = await log.append([draft], NOW);
    times.push(performance.now() - startMs);
    behind = follow([draft], first);
  }
  await behind;
  await log.release();
  return times;
}

export interface ResumeCase {
  readonly name: string;
  readonly events: number;
  readonly compactEvery?: number;
  /** As a log has it that was imported, or whose snapshot was thrown away. */
  readonly withoutSnapshot?: boolean;
  readonly workingDir?: string;
  readonly limitMs?: number;
  readonly limitMb?: number;
}

const RESUME_CASES: readonly ResumeCase[] = [
  { name: "100,000 events", events: 100_000, compactEvery: COMPACT_EVERY, limitMs: 300, limitMb: 200 },
  { name: "100,000 events, never compacted", events: 100_000, limitMs: 300, limitMb: 200 },
  { name: "100,000 events, never compacted, no snapshot", events: 100_000, withoutSnapshot: true },
  { name: "1,000,000 events", events: 1_000_000, compactEvery: COMPACT_EVERY, limitMs: 2000, limitMb: 200 },
  // 90 MB of conversation, more than any model reads: what is held in memory for it has no bound of its own.
  { name: "1,000,000 events, never compacted", events: 1_000_000, limitMs: 2000 },
];

async function benchResume(path: string): Promise<Figure[]> {
  const store = await openSqliteStore({ path, clock, key });
  const figures: Figure[] = [];
  const written = { payloadBytes: 0, events: 0, snapshotMs: [] as number[] };
  for (const [index, resumed] of RESUME_CASES.entries()) await writeSession(store, sessionId(index), resumed, written);
  await store.close();
  for (const [index, { name, limitMs, limitMb }] of RESUME_CASES.entries()) {
    const runs = Array.from({ length: RESUMES }, () => resumeOnce(path, sessionId(index)));
    const times = runs.map(({ ms }) => ms);
    const peak = Math.max(...runs.map(({ peakMb }) => peakMb));
    figures.push(
      {
        name: `resume of ${name}, p95 (${runs[0]?.events} read)`,
        unit: "ms",
        ours: percentile(times, 0.95),
        ...bound(limitMs),
      },
      { name: `resume of ${name}, median`, unit: "ms", ours: median(times) },
      { name: `resume of ${name}, peak memory`, unit: "MB", ours: peak, ...bound(limitMb) },
    );
  }
  const { payloadBytes, events, snapshotMs } = written;
  const megabyte = 1024 * 1024;
  figures.push(
    { name: "writing a snapshot, median (one for every 2,000 events)", unit: "ms", ours: median(snapshotMs) },
    { name: "writing a snapshot, p95", unit: "ms", ours: percentile(snapshotMs, 0.95) },
    { name: "writing a snapshot, per event", unit: "µs", ours: (sum(snapshotMs) * 1000) / events },
    {
      name: `file of ${events} events, ${(payloadBytes / megabyte).toFixed(0)} MB payload (limit: 2x payload + ${FIXED_BYTES_PER_EVENT} B each)`,
      unit: "MB",
      ours: statSync(path).size / megabyte,
      limit: Math.round((2 * payloadBytes + events * FIXED_BYTES_PER_EVENT) / megabyte),
    },
  );
  return figures;
}

/** Appends a session as the engine would have, snapshots included. */
export async function writeSession(
  store: SessionStore,
  id: SessionId,
  { events: wanted, compactEvery, withoutSnapshot, workingDir = "/" }: ResumeCase,
  written: { payloadBytes: number; events: number; snapshotMs: number[] },
): Promise<void> {
  await store.create({ id, workingDir, profile: "default", model: "bench:one", createdAt: NOW });
  const log = await store.acquire(id);
  const follow = createFollower(id, log, withoutSnapshot === true ? undefined : written.snapshotMs);
  let group: EventDraft[] = [];
  const flush = async (): Promise<void> => {
    const first = await log.append(group, NOW);
    await follow(group, first);
    group = [];
  };
  for (const draft of sessionDrafts(wanted, compactEvery)) {
    written.payloadBytes += Buffer.byteLength(JSON.stringify(draft.payload));
    written.events += 1;
    group.push(draft);
    // A snapshot is made of what is in the log when a turn ends.
    if (group.length >= GROUP * 5 && draft.kind === "TurnEnded") await flush();
  }
  await flush();
  await log.release();
}

/** Folds what was appended and makes snapshots of it, as a session does; without `times` none are made. */
function createFollower(session: SessionId, log: SessionLog, times: number[] | undefined) {
  const conversation = createConversation();
  const remains = createRemains();
  const keeper =
    times &&
    createSnapshotKeeper({
      shelf: timedShelf(log, times),
      conversation,
      remains,
      snapshotEvent: 0,
      eventsSince: 0,
      everyEvents: SNAPSHOT_EVERY_EVENTS,
      onProblem: (problem) => {
        throw new Error(problem);
      },
    });
  return async (drafts: readonly EventDraft[], first: number): Promise<void> => {
    for (const [index, draft] of drafts.entries()) {
      // A draft with an id and a session is an event.
      const event = { ...draft, id: first + index, session } as Event;
      conversation.apply(event);
      remains.apply(event);
      keeper?.notice(event);
    }
    await keeper?.settled();
  };
}

function timedShelf({ snapshots }: SessionLog, times: number[]): SnapshotShelf {
  if (snapshots === undefined) throw new Error("the store keeps no snapshots");
  return {
    read: () => snapshots.read(),
    async write(snapshot) {
      const startMs = performance.now();
      const isKept = await snapshots.write(snapshot);
      times.push(performance.now() - startMs);
      if (!isKept) throw new Error("the snapshot was not kept");
      return isKept;
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function bound(limit: number | undefined): Pick<Figure, "limit"> {
  return limit === undefined ? {} : { limit };
}

interface Resume {
  readonly ms: number;
  readonly peakMb: number;
  readonly events: number;
}

function resumeOnce(path: string, id: SessionId): Resume {
  const script = join(import.meta.dirname, "session-resume.ts");
  const out = execFileSync(process.execPath, [script, path, id, key.bytes.toString("hex")], { encoding: "utf8" });
  return JSON.parse(out) as Resume;
}

async function perEventUs(events: number, work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return ((performance.now() - startMs) * 1000) / events;
}

function inGroups(drafts: readonly EventDraft[], size: number): EventDraft[][] {
  return Array.from({ length: Math.ceil(drafts.length / size) }, (_, i) => drafts.slice(i * size, (i + 1) * size));
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function sessionId(n: number): SessionId {
  return SessionId.from(String(n).padStart(26, "0"));
}

if (import.meta.main) {
  const figures = await benchSessions(process.argv[2]);
  printFigures("sessions", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
