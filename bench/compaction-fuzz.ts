/**
 * Fuzzes compaction: hostile conversations on both wires, compacted at random points, judged by a strict mock vendor and by what must
 * stay in every request. `node bench/compaction-fuzz.ts [--seed N] [--sessions N] [--actions N]`.
 */
import { parseArgs } from "node:util";
import { fuzzCompaction } from "../test/fakes/compaction-fuzz.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    sessions: { type: "string", default: "20" },
    actions: { type: "string", default: "60" },
  },
});
const SHOWN = 8;
const [first, sessions, actions] = [Number(values.seed), Number(values.sessions), Number(values.actions)];
let [requests, problems] = [0, 0];
const compactions: Record<string, number> = {};
const endings: Record<string, number> = {};
const add = (to: Record<string, number>, counts: Readonly<Record<string, number>>): void => {
  for (const [name, count] of Object.entries(counts)) to[name] = (to[name] ?? 0) + count;
};
for (let seed = first; seed < first + sessions; seed++) {
  const report = await fuzzCompaction({ seed, vendor: seed % 2 === 0 ? "openai" : "anthropic", actions });
  requests += report.requests;
  problems += report.problems.length;
  add(compactions, report.compactions);
  add(endings, report.endings);
  for (const problem of report.problems.slice(0, SHOWN)) process.stdout.write(`seed ${seed}: ${problem}\n`);
}
process.stdout.write(`compactions: ${JSON.stringify(compactions)}\nturns: ${JSON.stringify(endings)}\n`);
const figures: Figure[] = [
  { name: `problems of ${requests} requests in ${sessions} sessions`, unit: "", ours: problems, limit: 0 },
];
printFigures("compaction-fuzz", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
