/**
 * `node bench/session-network.ts [rounds]`: what it costs to open the network of a session, and what entering it adds to a command:
 * `true` in bubblewrap with and without it, in turns.
 */
import { spawn } from "node:child_process";
import { BWRAP, CONFINEMENT, openTestNetwork } from "../test/fakes/session-network.ts";
import { median, printFigures } from "./figures.ts";

const WARM_ROUNDS = 5;
const OPENINGS = 11;
const rounds = Number(process.argv[2] ?? 50);

const network = await openTestNetwork();
const alone = { file: BWRAP, args: ["--unshare-net", ...CONFINEMENT, "true"] };
const entered = network.enter({ file: BWRAP, args: [...CONFINEMENT, "true"] });
const open = { file: BWRAP, args: [...CONFINEMENT, "true"] };
const times = { alone: [] as number[], entered: [] as number[], open: [] as number[], opening: [] as number[] };
for (let round = -WARM_ROUNDS; round < rounds; round++) {
  for (const [list, line] of [
    [times.open, open],
    [times.alone, alone],
    [times.entered, entered],
  ] as const) {
    const ms = await timed(() => run(line.file, line.args));
    if (round >= 0) list.push(ms);
  }
}
await network.remove();
for (let opening = 0; opening < OPENINGS; opening++) {
  const startedMs = performance.now();
  const another = await openTestNetwork();
  times.opening.push(performance.now() - startedMs);
  await another.remove();
}
const floor = median(times.open);
printFigures(`session network, as ${process.getuid?.() === 0 ? "root" : "an ordinary user"}`, [
  { name: "`true` in bwrap, in the session network", unit: "ms", ours: median(times.entered), floor },
  { name: "`true` in bwrap with a network namespace of its own", unit: "ms", ours: median(times.alone), floor },
  { name: "opening a session network", unit: "ms", ours: median(times.opening) },
]);

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function run(file: string, args: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(file, [...args], { stdio: "ignore", detached: true });
    child.once("error", fail);
    child.once("close", (code) => (code === 0 ? done() : fail(new Error(`${file} ended with ${code}`))));
  });
}
