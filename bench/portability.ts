/**
 * `node bench/portability.ts [kills]`: the JSONL store under kill -9 at random moments (default 40), the cost of one durable
 * append, and a session of 100,000 events read, exported, imported and branched. Exit code 1 when a requirement does not hold.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventDraft } from "#engine";
import { SessionId, TurnId } from "#protocol";
import { type ArchiveStore, loadPortability, openSqliteStore } from "#stores";
import { type Figure, holds, printFigures } from "./figures.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const ID = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const TURN = TurnId.from("01ARZ3NDEKTSV4RRFFQ69G5FAV");
const SINGLE_APPENDS = 500;
const EVENTS = 100_000;
const BATCH = 1000;
const KILL_AFTER_MAX_MS = 120;

const clock = { now: () => Date.now() };
const directory = mkdtempSync(join(tmpdir(), "harness-bench-"));
const { openJsonlStore, branchSession, exportLines, importSession, readTextLines } = await loadPortability();

const draft: EventDraft = {
  kind: "TextDelta",
  ts: NOW,
  payload: { turn: TURN, step: 1, block: 0, text: "x".repeat(200) },
};

try {
  const figures = [...(await appends()), ...(await longSession()), ...(await kills(Number(process.argv[2] ?? 40)))];
  printFigures("portability", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true });
}

function newSession() {
  return { id: ID, workingDir: "/w", profile: "default", model: "scripted:x", createdAt: NOW };
}

async function appends(): Promise<Figure[]> {
  const store = await openJsonlStore({ root: join(directory, "appends"), clock });
  await store.create(newSession());
  const log = await store.acquire(ID);
  const file = openSync(join(directory, "bare"), "w");
  const ours: number[] = [];
  const bare: number[] = [];
  const line = `${JSON.stringify(draft)}\n`;
  for (let n = 0; n < SINGLE_APPENDS; n++) {
    const start = performance.now();
    await log.append([draft], NOW);
    const between = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    ours.push(between - start);
    bare.push(performance.now() - between);
  }
  closeSync(file);
  await store.close();
  return [
    { name: "one durable event, p95 (floor: write and sync)", unit: "ms", ours: p95(ours), floor: p95(bare), limit: 5 },
  ];
}

async function longSession(): Promise<Figure[]> {
  const root = join(directory, "long");
  const writer = await openJsonlStore({ root, clock });
  await writer.create(newSession());
  const log = await writer.acquire(ID);
  for (let n = 0; n < EVENTS; n += BATCH) await log.append(Array<EventDraft>(BATCH).fill(draft), NOW);
  const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
  const ended = { turn: TURN, outcome: "answered", steps: 1, usage, duration_ms: 1 } as const;
  await log.append([{ kind: "TurnEnded", ts: NOW, payload: ended }], NOW);
  await writer.close();

  const store = await openJsonlStore({ root, clock });
  const opening = await time(async () => {
    const again = await store.acquire(ID);
    await again.openCalls();
    await again.release();
  });
  const reading = await time(async () => {
    for (let after = 0; after < EVENTS; after += BATCH) await store.read(ID, { after, limit: BATCH });
  });
  const path = join(directory, "export.jsonl");
  const before = process.memoryUsage().rss;
  const exporting = await time(() => writeExport(store, path));
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
  const target = await openSqliteStore({
    path: join(directory, "sessions.db"),
    clock,
    key: { bytes: Buffer.alloc(32, 7), source: "the benchmark" },
  });
  const importing = await time(async () => {
    await importSession(target, {
      name: path,
      lines: () => readTextLines(path, 1 << 28),
      now: new Date().toISOString(),
    });
  });
  const branching = await time(async () => {
    await branchSession(target, ID, { now: NOW });
  });
  await Promise.all([store.close(), target.close()]);
  const thousands = EVENTS / 1000;
  return [
    { name: `JSONL: open ${EVENTS} events for writing`, unit: "ms", ours: opening, limit: 300 },
    { name: "JSONL: read, per 1,000 events", unit: "ms", ours: reading / thousands },
    { name: "export, per 1,000 events", unit: "ms", ours: exporting / thousands },
    { name: `export of ${EVENTS} events, memory grown by`, unit: "MB", ours: grown, limit: 100 },
    { name: "import into SQLite, checked, per 1,000 events", unit: "ms", ours: importing / thousands },
    { name: "branch in SQLite, per 1,000 events", unit: "ms", ours: branching / thousands },
  ];
}

async function writeExport(store: ArchiveStore, path: string): Promise<void> {
  const meta = await store.get(ID);
  if (meta === undefined) throw new Error("the session is there");
  const file = openSync(path, "w");
  for await (const line of exportLines(meta, store.readEvidence(ID), "0.1.0")) {
    writeSync(file, `${line}\n`);
  }
  closeSync(file);
}

/** A writer is killed again and again; each time everything it has acknowledged must be there, and the chain whole. */
async function kills(runs: number): Promise<Figure[]> {
  const root = join(directory, "kills");
  const store = await openJsonlStore({ root, clock });
  await store.create(newSession());
  const script = join(directory, "writer.mjs");
  writeFileSync(script, writerScript(root));
  let lost = 0;
  let torn = 0;
  let told = 0;
  for (let run = 0; run < runs; run++) {
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"], env: {} });
    const ended = once(child, "exit");
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      if (text === "") setTimeout(() => child.kill("SIGKILL"), Math.random() * KILL_AFTER_MAX_MS);
      text += chunk.toString("latin1");
    });
    await ended;
    told = Math.max(told, ...text.split("\n").slice(0, -1).map(Number));
    const log = await store.acquire(ID);
    torn += log.repairs?.length ?? 0;
    await log.release();
    lost += Math.max(0, told - ((await store.get(ID))?.lastEventId ?? 0));
  }
  const path = join(directory, "killed.jsonl");
  await writeExport(store, path);
  const check = await openJsonlStore({ root: join(directory, "checked"), clock });
  // Verifies every link and every payload.
  const { events } = await importSession(check, {
    name: path,
    lines: () => readTextLines(path, 1 << 28),
    now: new Date().toISOString(),
  });
  await Promise.all([store.close(), check.close()]);
  process.stderr.write(
    `${runs} kills, ${told} events acknowledged, ${events} in the log, ${torn} torn writes repaired\n`,
  );
  return [{ name: `acknowledged events lost in ${runs} kills`, unit: "", ours: lost, limit: 0 }];
}

function writerScript(root: string): string {
  const sessions = new URL("../src/stores/index.ts", import.meta.url).href;
  return `import { writeSync } from "node:fs";
    import { loadPortability } from ${JSON.stringify(sessions)};
    const { openJsonlStore } = await loadPortability();
    const store = await openJsonlStore({ root: ${JSON.stringify(root)}, clock: { now: () => Date.now() } });
    const log = await store.acquire(${JSON.stringify(ID)});
    const draft = ${JSON.stringify(draft)};
    const large = { ...draft, payload: { ...draft.payload, text: "y".repeat(3_000_000) } };
    for (let n = 1; ; n++) {
      const drafts = n % 7 === 0 ? [draft, large] : Array(1 + (n % 5)).fill(draft);
      const first = await log.append(drafts, draft.ts);
      writeSync(1, first + drafts.length - 1 + "\\n");
    }`;
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function p95(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}
