/**
 * Ten thousand turns in one daemon, a real process on a Unix socket: its memory in the last quarter must be what it was in the second.
 * Sessions come and go, clients break off and come back, every tenth turn asks for a permission. `node bench/daemon-soak.ts [TURNS]`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Connection, type Feed, httpTarget } from "#conformance";
import { createSystemClock } from "#world";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const TURNS = 10_000;
const TURNS_PER_SESSION = 50;
const ASKS_EVERY = 10;
const RECONNECTS_EVERY = 7;
const WAIT_MS = 30_000;
const MAX_GROWTH = 1.1;
const launcher = resolve(import.meta.dirname, "../bin/harness.cjs");

export interface SoakResult {
  readonly turns: number;
  readonly seconds: number;
  /** Resident memory after each session, in MB. */
  readonly samplesMb: readonly number[];
  /** Medians of the quarters. */
  readonly secondMb: number;
  readonly lastMb: number;
}

export async function soakDaemon(turns: number): Promise<SoakResult> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-soak-")));
  const workspace = join(home, "w");
  mkdirSync(workspace);
  const socketPath = join(home, "c.sock");
  const tokenFile = join(home, "token");
  const daemon = spawn(
    process.execPath,
    [
      launcher,
      "daemon",
      "run",
      "--listen",
      `unix:${socketPath}`,
      "--token-file",
      tokenFile,
      "-m",
      "scripted:conformance",
    ],
    { cwd: workspace, env: { PATH: process.env.PATH, HOME: home }, stdio: "ignore" },
  );
  try {
    const clock = createSystemClock();
    while (!existsSync(tokenFile)) await clock.sleep(50);
    const token = readFileSync(tokenFile, "utf8").trim();
    const target = httpTarget("rest", {
      place: { kind: "unix", path: socketPath },
      clock,
      waitMs: WAIT_MS,
      tokens: { human: token },
    });
    const startMs = clock.monotonicMs();
    const samplesMb: number[] = [];
    for (let done = 0; done < turns; done += TURNS_PER_SESSION) {
      const client = await target.connect();
      await client.handshake();
      await runSession(client, Math.min(TURNS_PER_SESSION, turns - done));
      await client.close();
      samplesMb.push(residentMb(daemon));
    }
    const quarter = Math.floor(samplesMb.length / 4);
    return {
      turns,
      seconds: (clock.monotonicMs() - startMs) / 1000,
      samplesMb,
      secondMb: median(samplesMb.slice(quarter, 2 * quarter)),
      lastMb: median(samplesMb.slice(3 * quarter)),
    };
  } finally {
    const gone = new Promise((done) => daemon.once("close", done));
    daemon.kill("SIGTERM");
    await gone;
    rmSync(home, { recursive: true, force: true });
  }
}

async function runSession(client: Connection, turns: number): Promise<void> {
  const { session, reason } = await client.create();
  if (session === undefined) throw new Error(`no session: ${reason}`);
  let feed = await client.watch(session, 0);
  let seen = 0;
  for (let n = 1; n <= turns; n++) {
    const isAsked = n % ASKS_EVERY === 0;
    const { turn } = await client.send(session, isAsked ? "write soak.txt" : "say hello");
    if (turn === undefined) throw new Error("the input was refused");
    if (isAsked) {
      const asked = await feed.until(
        ({ kind, id }) => kind === "PermissionRequested" && (id ?? 0) > seen,
        "a question",
      );
      await client.submit(session, { kind: "AnswerPermission", call_id: asked.callId, decision: "deny" });
    }
    seen = await endOf(feed, seen);
    if (n % RECONNECTS_EVERY === 0) {
      await feed.stop();
      feed = await client.watch(session, seen);
    }
  }
  await client.submit(session, { kind: "EndSession" });
}

async function endOf(feed: Feed, seen: number): Promise<number> {
  const { id } = await feed.until((one) => one.kind === "TurnEnded" && (one.id ?? 0) > seen, "the end of the turn");
  return id ?? seen;
}

function residentMb({ pid }: ChildProcess): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

if (process.argv[1] === import.meta.filename) {
  const result = await soakDaemon(Number(process.argv[2] ?? TURNS));
  const figures: Figure[] = [
    {
      name: `resident memory in the last quarter of ${result.turns} turns, against the second`,
      unit: "MB",
      ours: result.lastMb,
      floor: result.secondMb,
      maxRatio: MAX_GROWTH,
    },
    { name: "time for all of them", unit: "s", ours: result.seconds },
  ];
  printFigures("Daemon soak", figures);
  const shown = result.samplesMb.filter((_, index) => index % Math.ceil(result.samplesMb.length / 20) === 0);
  process.stdout.write(`\nsamples (MB): ${shown.map((mb) => mb.toFixed(0)).join(" ")}\n`);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
