/** Kills the daemon N times at random moments; figures and every failure. `node bench/daemon-kill.ts [kills] [seed]`. */
import { killDaemons } from "../test/fakes/daemon-kills.ts";

const DEFAULT_KILLS = 60;
const [kills = DEFAULT_KILLS, seed = 1] = process.argv.slice(2).map(Number);

const report = await killDaemons(kills, createRandom(seed));
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

/** The same moments for the same seed (mulberry32). */
function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
