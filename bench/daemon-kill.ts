/** Kills the daemon N times at random moments; figures and every failure. `node bench/daemon-kill.ts [kills] [seed]`. */
import { killDaemons } from "../test/fakes/daemon-kills.ts";
import { createSeededRandom } from "./seeded-random.ts";

const DEFAULT_KILLS = 60;
const [kills = DEFAULT_KILLS, seed = 1] = process.argv.slice(2).map(Number);

const report = await killDaemons(kills, createSeededRandom(seed));
const sorted = report.startMs.toSorted((a, b) => a - b);
const at = (share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
console.log(
  `kills: ${JSON.stringify(report.kills)}, ${report.orphans} calls were cut off, ${report.events} events in the log`,
);
console.log(`start after a kill: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms (${sorted.length} starts)`);
for (const failure of report.failures) console.log(`✗ ${failure}`);
console.log(report.failures.length === 0 ? "✓ every restart mended it" : `✗ ${report.failures.length} failures`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
