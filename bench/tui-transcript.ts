/**
 * The real program attached to a session of 100,000 events, on a pseudo-terminal: the time from its start until the conversation is on
 * the screen, reading the transcript back to its first event and forth again, how long a key takes there, and the resident memory of
 * its process at each step; beside it a bare Node that writes one word, in turns. The program is an installed package, and the server a
 * process of its own. Usage: node bench/tui-transcript.ts [events]
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pty from "@lydell/node-pty";
import { installInto } from "../test/fakes/installed-package.ts";
import { TOKEN } from "./control-plane-server.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";
import { makeLogs, SESSION } from "./large-sessions-log.ts";
import type { Ready } from "./large-sessions-server.ts";

const EVENTS = Number(process.argv[2] ?? 100_000);
const STARTS = 5;
const KEYS = 200;
const KEY_EVERY_MS = 10;
const PATIENCE_MS = 120_000;
const MAX_MB = 140;
const NS_PER_MS = 1e6;
const BARE = `process.stdin.setRawMode(true); process.stdin.on("data", () => process.exit()); process.stdout.write("READY");`;
const server = join(import.meta.dirname, "large-sessions-server.ts");
const ESC = "\u001b";
const SEQUENCE = new RegExp(`${ESC}\\[[0-9;?]*[A-Za-z]`, "g");
const CTRL_D = "\u0004";
const CTRL_O = "\u000f";
const HOME = "\u001b[H";
const END = "\u001b[F";
const PAGE_UP = "\u001b[5~";
const PAGE_DOWN = "\u001b[6~";

const folder = mkdtempSync(join(tmpdir(), "harness-tui-transcript-"));
const launcher = installInto(join(folder, "package"));
let child: ChildProcess | undefined;
try {
  await makeLogs(folder, EVENTS);
  child = fork(server, [folder, "sqlite"]);
  const { socketPath } = await new Promise<Ready>((done) => child?.once("message", (ready) => done(ready as Ready)));
  const figures = await measure(socketPath);
  printFigures(`${EVENTS} events in the interface`, figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  child?.send("end");
  rmSync(folder, { recursive: true, force: true });
}

async function measure(socketPath: string): Promise<readonly Figure[]> {
  const shown: Taken[] = [];
  const bareMs: number[] = [];
  for (let start = 0; start <= STARTS; start++) {
    const { terminal, ...time } = await attached(socketPath);
    // The first one fills the cache of compiled code, which is written when it ends as people end it.
    if (start > 0) shown.push(time);
    terminal.type(CTRL_D);
    await terminal.ended;
    bareMs.push(await bareStartMs());
  }
  const { terminal } = await attached(socketPath);
  await sleep(500);
  const attachedMb = terminal.mb();
  terminal.type(CTRL_O);
  await terminal.shows("Transcript");
  const begin = performance.now();
  terminal.type(HOME);
  await terminal.shows(/ 1 of \d+ /);
  const backMs = performance.now() - begin;
  const backMb = terminal.mb();
  const keys = await keyTimes(terminal, PAGE_DOWN);
  terminal.type(END);
  await terminal.shows(/ (\d+) of \1 /);
  const upKeys = await keyTimes(terminal, PAGE_UP);
  const endMb = terminal.mb();
  const peakMb = terminal.peakMb();
  terminal.type("q");
  await terminal.next();
  terminal.type(CTRL_D);
  await terminal.ended;
  return [
    {
      name: "from exec until the conversation is shown, median",
      unit: "ms",
      ours: median(wall(shown)),
      floor: median(bareMs),
      limit: 400,
    },
    { name: "… without what the machine gave to other programs", unit: "ms", ours: median(own(shown)), limit: 400 },
    { name: "resident memory while attached", unit: "MB", ours: attachedMb, limit: MAX_MB },
    { name: "read back to the first event", unit: "ms", ours: backMs },
    { name: "… resident memory then", unit: "MB", ours: backMb, limit: MAX_MB },
    { name: "a page further down, p95 from the key to the screen", unit: "ms", ours: p95(wall(keys)), limit: 16 },
    { name: "… without what the machine gave to other programs", unit: "ms", ours: p95(own(keys)), limit: 16 },
    { name: "a page further up from the end, p95", unit: "ms", ours: p95(wall(upKeys)), limit: 16 },
    { name: "… without what the machine gave to other programs", unit: "ms", ours: p95(own(upKeys)), limit: 16 },
    { name: "resident memory at the end", unit: "MB", ours: endMb, limit: MAX_MB },
    { name: "highest resident memory", unit: "MB", ours: peakMb },
  ];
}

/** From exec until it has written a word. */
async function bareStartMs(): Promise<number> {
  const begin = performance.now();
  const terminal = openTerminal(pty.spawn(process.execPath, ["-e", BARE], { cwd: folder, cols: 120, rows: 40 }));
  await terminal.shows("READY");
  const ms = performance.now() - begin;
  terminal.type("q");
  await terminal.ended;
  return ms;
}

async function attached(socketPath: string) {
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, TOKEN);
  const begin = performance.now();
  const args = [launcher, "attach", SESSION, "--connect", `unix:${socketPath}`, "--token-file", tokenFile];
  const env = { PATH: process.env.PATH ?? "", HOME: folder, TERM: "xterm-256color" };
  const terminal = openTerminal(pty.spawn(process.execPath, args, { cwd: folder, env, cols: 120, rows: 40 }));
  await terminal.shows("4 steps");
  const ms = performance.now() - begin;
  return { ms, ownMs: ms - terminal.waitedMs(), terminal };
}

type Terminal = ReturnType<typeof openTerminal>;

function openTerminal(process: pty.IPty) {
  let shown = "";
  let wake = (): void => undefined;
  process.onData((data) => {
    shown += data;
    wake();
  });
  const ended = new Promise<void>((done) => process.onExit(() => done()));
  const status = (name: string): number => {
    const text = readFileSync(`/proc/${process.pid}/status`, "utf8");
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
  };
  return {
    ended,
    mb: () => status("VmRSS"),
    peakMb: () => status("VmHWM"),
    /** In which its main thread could have run, and the machine ran other programs. */
    waitedMs: () =>
      Number(readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "utf8").split(" ")[1]) / NS_PER_MS,
    /** What is shown is looked at from here on. */
    type(keys: string) {
      shown = "";
      process.write(keys);
    },
    async shows(text: string | RegExp) {
      const late = AbortSignal.timeout(PATIENCE_MS);
      late.addEventListener("abort", () => wake());
      const plain = (): string => shown.replaceAll(SEQUENCE, " ");
      while (typeof text === "string" ? !shown.includes(text) : !text.test(plain())) {
        if (late.aborted) throw new Error(`not shown: ${text}\n${shown.slice(-2_000)}`);
        await new Promise<void>((done) => {
          wake = done;
        });
      }
    },
    next: () =>
      new Promise<void>((done) => {
        wake = done;
      }),
  };
}

interface Taken {
  readonly ms: number;
  readonly ownMs: number;
}

async function keyTimes(terminal: Terminal, key: string): Promise<readonly Taken[]> {
  const times: Taken[] = [];
  for (let at = 0; at < KEYS; at++) {
    const begin = performance.now();
    const waitedBefore = terminal.waitedMs();
    terminal.type(key);
    await terminal.next();
    const ms = performance.now() - begin;
    times.push({ ms, ownMs: Math.max(0, ms - (terminal.waitedMs() - waitedBefore)) });
    await sleep(KEY_EVERY_MS);
  }
  return times;
}

function wall(times: readonly Taken[]): readonly number[] {
  return times.map(({ ms }) => ms);
}

function own(times: readonly Taken[]): readonly number[] {
  return times.map(({ ownMs }) => ownMs);
}

function p95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
}
