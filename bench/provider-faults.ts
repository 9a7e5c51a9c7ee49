/**
 * `node bench/provider-faults.ts`: the whole program on vendors that go silent, cut, garble, drip and refuse, on both wire families, with
 * the key in the program and in the credential helper, and cancels in each phase of a call. Limits are scaled down by settings. Exit
 * code 1 unless every turn ends within its budget with the right reason, and every cancel within 100 ms.
 */
import { type CancelledCall, cancelInEachPhase } from "../test/fakes/cancelled-calls.ts";
import { type FaultTurn, runFaults } from "../test/fakes/fault-turns.ts";
import { faultTimeouts, providerFaults } from "../test/fakes/provider-faults.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const ROADS = ["held", "helper"] as const;
const FAMILIES = ["anthropic", "openai"] as const;
/** Beyond the budget: the log, the end of the turn, and a machine that is busy with other things. */
const SLACK_MS = 500;
const CANCEL_LIMIT_MS = 100;

const turns: FaultTurn[] = [];
const cancels: CancelledCall[] = [];
for (const road of ROADS) {
  for (const family of FAMILIES) {
    const ended = await runFaults(providerFaults, family, road);
    for (const { name, problem } of ended) {
      if (problem !== undefined) process.stderr.write(`${family}, ${road}: ${name}: ${problem}\n`);
    }
    turns.push(...ended);
    cancels.push(...(await cancelInEachPhase(family, road)));
  }
}
for (const { phase, family, road, tookMs } of cancels.filter(({ tookMs: ms }) => ms > CANCEL_LIMIT_MS)) {
  process.stderr.write(`${family}, ${road}: cancel while ${phase}: ${tookMs.toFixed(0)} ms\n`);
}

const figures: Figure[] = [
  {
    name: `turns on ${providerFaults.length} faults, 2 families, 2 ways of the key`,
    unit: "turns",
    ours: turns.length,
  },
  {
    name: "turns that hang",
    unit: "turns",
    ours: turns.filter(({ summary }) => summary === undefined).length,
    limit: 0,
  },
  {
    name: "turns that end otherwise than they have to",
    unit: "turns",
    ours: turns.filter(({ problem }) => problem !== undefined).length,
    limit: 0,
  },
  {
    name: `longest turn, budget ${faultTimeouts.stepMs} ms`,
    unit: "ms",
    ours: Math.max(...turns.map(({ tookMs }) => tookMs)),
    limit: faultTimeouts.stepMs + SLACK_MS,
  },
  { name: "cancels, in each phase", unit: "cancels", ours: cancels.length },
  {
    name: "longest cancel",
    unit: "ms",
    ours: Math.max(...cancels.map(({ tookMs }) => tookMs)),
    limit: CANCEL_LIMIT_MS,
  },
];
printFigures("providers that go silent", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
