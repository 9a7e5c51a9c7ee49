/**
 * From a key to the screen on a pseudo-terminal, while 200 deltas a second stream and a tool prints 1 MB a second; beside it a bare Node
 * that echoes, in turns. Usage: node bench/tui-load.ts [keys]
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as pty from "@lydell/node-pty";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const KEYS = Number(process.argv[2] ?? 200);
const KEY_EVERY_MS = 53;
const KEYS_A_LINE = 40;
const SETTLE_MS = 2_000;
/** Of the kernel's clock. */
const TICK_MS = 10;
const NS_PER_MS = 1e6;
const CTRL_U = "\u0015";
/** In no text that streams. */
const KEY = "Q";
const BARE = `process.stdin.setRawMode(true); process.stdin.on("data", (d) => process.stdout.write(d)); process.stdout.write("READY");`;

interface KeyTime {
  readonly ms: number;
  /** Without what the machine gave to other programs meanwhile. */
  readonly ownMs: number;
}

function open(args: readonly string[]) {
  const child = pty.spawn(process.execPath, [...args], {
    cols: 120,
    rows: 40,
    env: { ...process.env, TERM: "xterm-256color" },
  });
  let onData = (_data: string): void => undefined;
  let bytes = 0;
  child.onData((data) => {
    bytes += data.length;
    onData(data);
  });
  const ended = new Promise<void>((done) => child.onExit(() => done()));
  /** In which its main thread could have run, and the machine ran other programs. */
  const waitedMs = (): number =>
    Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "utf8").split(" ")[1]) / NS_PER_MS;
  const late = new Promise<never>((_, reject) => child.onExit(() => reject(new Error("it has ended"))));
  late.catch(() => undefined);
  return {
    bytes: () => bytes,
    /** Of all its threads, so far. */
    cpuMs(): number {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    async keyMs(): Promise<KeyTime> {
      const begin = performance.now();
      const waitedBefore = waitedMs();
      const shown = Promise.withResolvers<void>();
      onData = (data) => data.includes(KEY) && shown.resolve();
      child.write(KEY);
      await Promise.race([shown.promise, late]);
      const ms = performance.now() - begin;
      return { ms, ownMs: Math.max(0, ms - (waitedMs() - waitedBefore)) };
    },
    clear: () => child.write(CTRL_U),
    async end() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const ours = open([join(import.meta.dirname, "tui-load-child.ts")]);
const bare = open(["-e", BARE]);
await sleep(SETTLE_MS);
const times = { ours: [] as KeyTime[], bare: [] as KeyTime[] };
const begin = performance.now();
const before = ours.bytes();
const cpuBefore = ours.cpuMs();
for (let key = 0; key < KEYS; key++) {
  times.ours.push(await ours.keyMs());
  times.bare.push(await bare.keyMs());
  if (key % KEYS_A_LINE === KEYS_A_LINE - 1) ours.clear();
  await sleep(KEY_EVERY_MS);
}
const perSecond = ((ours.bytes() - before) / (performance.now() - begin)) * 1000;
const cpuShare = (ours.cpuMs() - cpuBefore) / (performance.now() - begin);
await Promise.all([ours.end(), bare.end()]);
const wall = (values: readonly KeyTime[]): readonly number[] => values.map(({ ms }) => ms);
const own = (values: readonly KeyTime[]): readonly number[] => values.map(({ ownMs }) => ownMs);
const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
const figures: readonly Figure[] = [
  { name: "key to screen, median", unit: "ms", ours: median(wall(times.ours)), floor: median(wall(times.bare)) },
  { name: "key to screen, p95", unit: "ms", ours: p95(wall(times.ours)), limit: 16 },
  { name: "… without what the machine gave to other programs", unit: "ms", ours: p95(own(times.ours)), limit: 16 },
  { name: "… of a bare Node beside it, p95", unit: "ms", ours: p95(wall(times.bare)) },
  { name: "CPU of the interface", unit: "%", ours: cpuShare * 100 },
  { name: "written to the terminal a second", unit: "kB", ours: perSecond / 1000 },
];
printFigures("200 deltas and 1 MB of output a second", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
