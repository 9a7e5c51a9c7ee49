/**
 * A session of 500 tasks in a real daemon that ends three times, and whether its log explains every step.
 * `node bench/long-work.ts [tasks] [anthropic|openai]`
 */
import { runLongWork } from "../test/fakes/long-work.ts";
import { holds, printFigures } from "./figures.ts";

const MAX_SECONDS = 240;
const [tasks = 500, vendor = "anthropic"] = [Number(process.argv[2] ?? 500), process.argv[3]];
if (vendor !== "anthropic" && vendor !== "openai") throw new Error(`no vendor: ${vendor}`);

const startMs = performance.now();
const { counts, problems } = await runLongWork({ tasks, vendor });
const figures = [
  ...Object.entries(counts).map(([name, ours]) => ({ name, unit: "", ours })),
  { name: "steps that are not explained, and other problems", unit: "", ours: problems.length, limit: 0 },
  { name: "time", unit: "s", ours: (performance.now() - startMs) / 1000, limit: MAX_SECONDS },
];
for (const problem of problems.slice(0, 50)) process.stdout.write(`✗ ${problem}\n`);
printFigures(`${tasks} tasks in one session`, figures);
process.exitCode = figures.every(holds) ? 0 : 1;
