/**
 * What the last known heads cost: whole turns on stores that keep them and stores that do not, taken in turns in one run, and the
 * keeping of one head by itself. `node bench/heads.ts [turns]`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { EventDraft } from "#engine";
import { SessionId } from "#protocol";
import { type ArchiveStore, createKnownHeads, type HeadsPlace, loadPortability, openSqliteStore } from "#stores";
import { createSystemClock } from "#world";
import { createRng, newSigningKey, sampleDrafts } from "../test/fakes/tampering.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const TURNS = 150;
const WARM_UP_TURNS = 20;
const DELTAS = 48;
/** Of a turn with a writer that comes and goes, as `harness run` does: one that stays reads no head. */
const MAX_COST = 1.1;
const HEADS = 2000;
const MAX_HEAD_US = 500;

const clock = createSystemClock();
const signer = newSigningKey();
const key = { bytes: Buffer.alloc(32, 7), source: "the benchmark" };
const session = SessionId.from("1".padStart(26, "0"));
const now = () => new Date(clock.now()).toISOString();

type Open = (folder: string, heads: HeadsPlace | undefined) => Promise<ArchiveStore>;

const stores: Readonly<Record<string, Open>> = {
  sqlite: (folder, heads) =>
    openSqliteStore({ path: join(folder, "sessions.db"), clock, key, signer, ...(heads && { heads }) }),
  jsonl: async (folder, heads) =>
    (await loadPortability()).openJsonlStore({ root: folder, clock, signer, ...(heads && { heads }) }),
};

export async function benchHeads(turns: number): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), "harness-bench-heads-"));
  try {
    const figures: Figure[] = [];
    for (const [name, open] of Object.entries(stores)) {
      figures.push(...(await turnCost(join(directory, name), name, open, turns)));
    }
    return [...figures, ...headCost(directory)];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function turnCost(folder: string, name: string, open: Open, turns: number): Promise<Figure[]> {
  const kept = await open(join(folder, "with"), placeIn(folder));
  const bare = await open(join(folder, "without"), undefined);
  for (const store of [kept, bare]) {
    await store.create({ id: session, workingDir: "/w", profile: "p", model: "m", createdAt: now() });
  }
  const drafts = turnDrafts();
  const turnMs = { ours: [] as number[], floor: [] as number[] };
  const writerMs = { ours: [] as number[], floor: [] as number[] };
  for (let n = 0; n < WARM_UP_TURNS + turns; n++) {
    // In turns also within a pair: whoever goes second finds warm caches.
    for (const isOurs of n % 2 === 0 ? [true, false] : [false, true]) {
      const startMs = clock.monotonicMs();
      const log = await (isOurs ? kept : bare).acquire(session);
      const comeMs = clock.monotonicMs();
      for (const draft of drafts) await log.append([draft], draft.ts);
      const doneMs = clock.monotonicMs();
      await log.release();
      const goneMs = clock.monotonicMs();
      await setImmediate();
      if (n < WARM_UP_TURNS) continue;
      turnMs[isOurs ? "ours" : "floor"].push(goneMs - startMs);
      writerMs[isOurs ? "ours" : "floor"].push(comeMs - startMs + goneMs - doneMs);
    }
  }
  await kept.close();
  await bare.close();
  const medians = ({ ours, floor }: typeof turnMs) => ({ unit: "ms", ours: median(ours), floor: median(floor) });
  const what = `${name}: a turn of ${drafts.length} events, with known heads over without`;
  return [
    { name: what, ...medians(turnMs), maxRatio: MAX_COST },
    { name: `${name}: of that, the writer that comes and goes`, ...medians(writerMs) },
  ];
}

function headCost(directory: string): Figure[] {
  const heads = createKnownHeads(placeIn(directory), join(directory, "log"));
  const head = (event: number) => ({ lastEventId: event, hash: "a".repeat(64) });
  const startMs = clock.monotonicMs();
  heads.keep(session, head(1));
  const firstUs = (clock.monotonicMs() - startMs) * 1000;
  const keeping = timesUs((n) => heads.keep(session, head(n + 2)));
  const reading = timesUs(() => heads.read(session));
  return [
    { name: "keeping a head, median", unit: "µs", ours: median(keeping), limit: MAX_HEAD_US },
    { name: "keeping a head, longest", unit: "µs", ours: Math.max(...keeping) },
    { name: "the first head of a session, once", unit: "µs", ours: firstUs },
    { name: "reading a head, median", unit: "µs", ours: median(reading), limit: MAX_HEAD_US },
  ];
}

function timesUs(work: (n: number) => void): number[] {
  return Array.from({ length: HEADS }, (_, n) => {
    const startMs = clock.monotonicMs();
    work(n);
    return (clock.monotonicMs() - startMs) * 1000;
  });
}

function placeIn(folder: string): HeadsPlace {
  const onProblem = (message: string): never => {
    throw new Error(message);
  };
  return { directory: join(folder, "heads"), key: () => key, clock, onProblem };
}

/** One turn of text as it is streamed: what most of a log consists of. */
function turnDrafts(): EventDraft[] {
  const drafts = sampleDrafts(createRng(1), 1).slice(0, -1);
  const [started, delta] = drafts;
  const ended = drafts.at(-1);
  if (started === undefined || delta?.kind !== "TextDelta" || ended === undefined) throw new Error("a sample turn");
  const text = "It reads the file, finds the line and says what it will change there. ".repeat(3);
  return [started, ...Array<EventDraft>(DELTAS).fill({ ...delta, payload: { ...delta.payload, text } }), ended];
}

if (import.meta.main) {
  const figures = await benchHeads(Number(process.argv[2] ?? TURNS));
  printFigures("heads", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
