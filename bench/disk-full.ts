/**
 * Fills the disk of a daemon N times, at different moments and levels, and frees it again; figures and every failure.
 * `node bench/disk-full.ts [points] [seed]`. Needs the right to mount.
 */
import { fillDisks, RECOVERY_LIMIT_MS } from "../test/fakes/full-disks.ts";
import { whyNoDisk } from "../test/fakes/mounted-disk.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const DEFAULT_POINTS = 40;
const [points = DEFAULT_POINTS, seed = 1] = process.argv.slice(2).map(Number);

const missing = whyNoDisk();
if (missing !== undefined) {
  process.stderr.write(`bench/disk-full.ts cannot run: ${missing}\n`);
  process.exit(1);
}
const report = await fillDisks(points, createRandom(seed));
for (const [moment, times] of Object.entries(report.byMoment)) process.stdout.write(`${times} × ${moment}\n`);
for (const failure of report.failures) process.stdout.write(`✗ ${failure}\n`);
const figures: Figure[] = [
  { name: `points that were not recovered from, of ${points}`, unit: "", ours: points - report.points, limit: 0 },
  { name: "daemons ended", unit: "", ours: report.endedDaemons, limit: 0 },
  {
    name: `acknowledgements lost, of ${report.acknowledgements}`,
    unit: "",
    ours: report.lostAcknowledgements,
    limit: 0,
  },
  { name: `other failures (${report.refusals} refusals looked at)`, unit: "", ours: report.failures.length, limit: 0 },
  { name: "from free space to work, median", unit: "ms", ours: median(report.recoveryMs) },
  {
    name: "from free space to work, longest",
    unit: "ms",
    ours: Math.max(...report.recoveryMs),
    limit: RECOVERY_LIMIT_MS,
  },
];
printFigures(`${points} full disks, seed ${seed}`, figures);
process.exitCode = figures.every(holds) ? 0 : 1;

/** The same levels and moments for the same seed (mulberry32). */
function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
