/**
 * kill -9 at random points: a process runs turns with calls that change things, is killed, and the next one resumes. Counts
 * events that were told and are lost, calls that ran twice, and cut-off calls that nobody was told of. `CRASH_RUNS` sets
 * how often; default 200.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diagnoseStore, openSqliteStore } from "#stores";
import { judge } from "./crash-session.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

/** A fresh log after so many crashes, so that reading it back stays short. */
const RUNS_PER_LOG = 20;
const LONGEST_LIFE_MS = 60;
const clock = { now: () => Date.now() };

export interface CrashTally {
  runs: number;
  /** Killed before recovery was over. */
  duringRecovery: number;
  events: number;
  calls: number;
  orphans: number;
  lostEvents: number;
  ranTwice: number;
  unrecorded: number;
  unsurfaced: number;
  damaged: number;
}

export async function crashCampaign(runs: number): Promise<CrashTally> {
  const tally: CrashTally = {
    runs: 0,
    duringRecovery: 0,
    events: 0,
    calls: 0,
    orphans: 0,
    lostEvents: 0,
    ranTwice: 0,
    unrecorded: 0,
    unsurfaced: 0,
    damaged: 0,
  };
  for (let done = 0; done < runs; done += RUNS_PER_LOG) await crashOneLog(Math.min(RUNS_PER_LOG, runs - done), tally);
  return tally;
}

async function crashOneLog(runs: number, tally: CrashTally): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "harness-crash-"));
  const path = join(directory, "sessions.db");
  const marks = join(directory, "marks");
  const key = { bytes: randomBytes(32), source: "the campaign" };
  let waiting: readonly string[] = [];
  let told = 0;
  let verdict: Awaited<ReturnType<typeof judge>> | undefined;
  try {
    for (let run = 0; run < runs; run++) {
      // The first one must get as far as making the session; later ones die in recovery as well.
      const lines = await runAndKill([path, marks, key.bytes.toString("hex")], run === 0 || Math.random() < 0.7);
      const namesOf = (word: string): string[] =>
        lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
      told = Math.max(told, ...namesOf("event").map(Number));
      tally.runs += 1;
      if (lines.includes("ready")) {
        tally.unsurfaced += waiting.filter((id) => !namesOf("orphan").includes(id)).length;
      } else {
        tally.duringRecovery += 1;
      }
      const store = await openSqliteStore({ path, clock, key });
      verdict = await judge(store, marks);
      await store.close();
      waiting = verdict.orphans;
      tally.orphans += verdict.orphans.length;
      tally.lostEvents += Math.max(0, told - verdict.events);
      tally.unrecorded += verdict.unrecorded.length;
      tally.unsurfaced += verdict.miscounted.length;
      tally.damaged += diagnoseStore({ path, clock, key }).filter(({ level }) => level === "error").length;
    }
    tally.events += verdict?.events ?? 0;
    tally.calls += verdict?.marks ?? 0;
    tally.ranTwice += verdict?.twice.length ?? 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The whole lines that it told before it was killed at a random time after it started, or after it was ready. */
async function runAndKill(args: readonly string[], whenReady: boolean): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "crash-child.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  let isDue = false;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
    if (isDue || !out.includes(whenReady ? "ready\n" : "start\n")) return;
    isDue = true;
    setTimeout(() => child.kill("SIGKILL"), Math.random() * LONGEST_LIFE_MS);
  });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  if (code !== null) throw new Error(`the process ended by itself with ${code}`);
  return out.slice(0, out.lastIndexOf("\n")).split("\n");
}

export function crashFigures(tally: CrashTally): Figure[] {
  const none = (name: string, ours: number): Figure => ({ name, unit: "", ours, limit: 0 });
  return [
    { name: "kills", unit: "", ours: tally.runs },
    { name: "of these during recovery", unit: "", ours: tally.duringRecovery },
    { name: "events in the logs", unit: "", ours: tally.events },
    { name: "mutating calls that ran", unit: "", ours: tally.calls },
    { name: "mutating calls cut off", unit: "", ours: tally.orphans },
    none("told events that are lost", tally.lostEvents),
    none("mutating calls that ran twice", tally.ranTwice),
    none("mutating calls that ran without a record", tally.unrecorded),
    none("cut-off calls that nobody was told of", tally.unsurfaced),
    none("damage found by the doctor", tally.damaged),
  ];
}

if (import.meta.main) {
  const figures = crashFigures(await crashCampaign(Number(process.env.CRASH_RUNS ?? 200)));
  printFigures("crashes", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
