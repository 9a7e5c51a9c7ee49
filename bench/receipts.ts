/**
 * Calls of every kind through the whole program, on ports that write down what reaches them: counts the effects that have no
 * receipt. Then what the chain around a call costs, without the sync of its record. `node bench/receipts.ts [calls]`.
 */
import { measureGate } from "../test/fakes/gate-cost.ts";
import { runReceiptCampaign } from "../test/fakes/receipts.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const CALLS = 10_000;
const TIMED_CALLS = 3000;
const MAX_GATE_US = 300;

async function benchReceipts(calls: number): Promise<Figure[]> {
  const campaign = await runReceiptCampaign(calls);
  for (const line of [...campaign.unreceipted, ...campaign.unseen].slice(0, 20)) process.stderr.write(`${line}\n`);
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ");
  process.stdout.write(`outcomes: ${listed(campaign.outcomes)}\neffects: ${listed(campaign.effects)}\n`);
  const effects = Object.values(campaign.effects).reduce((sum, count) => sum + count, 0);
  return [
    { name: "calls that were not made", unit: "calls", ours: Math.max(0, calls - campaign.calls), limit: 0 },
    {
      name: `effects without a receipt: ${campaign.calls} calls, ${effects} effects, ${campaign.hookEffects} of them by hooks`,
      unit: "effects",
      ours: campaign.unreceipted.length,
      limit: 0,
    },
    { name: "effects on a receipt that never reached a port", unit: "effects", ours: campaign.unseen.length, limit: 0 },
  ];
}

async function benchGate(): Promise<Figure[]> {
  const { mutating, readOnly } = await measureGate(TIMED_CALLS);
  const of = (what: string, samples: readonly number[]): Figure[] => {
    const name = `gate around ${what}, record in memory`;
    return [
      { name: `${name}, median`, unit: "µs", ours: median(samples), limit: MAX_GATE_US },
      { name: `${name}, p95`, unit: "µs", ours: percentile(samples, 0.95), limit: MAX_GATE_US },
    ];
  };
  return [...of("a call that changes something", mutating), ...of("a call that reads", readOnly)];
}

function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;
}

if (import.meta.main) {
  const figures = [...(await benchGate()), ...(await benchReceipts(Number(process.argv[2] ?? CALLS)))];
  printFigures("receipts", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
