/**
 * Breaks the gate on purpose, again and again, and counts the calls that had their effect all the same.
 * `node bench/gate-faults.ts [faults]`.
 */
import { allFaults, runWithFault } from "../test/fakes/gate-faults.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const FAULTS = 600;
const CALLS = ["mark", "fs.write", "exec"] as const;

export async function benchGateFaults(count: number): Promise<Figure[]> {
  const faults = allFaults();
  let through = 0;
  for (let n = 0; n < count; n++) {
    const fault = faults[n % faults.length];
    if (fault === undefined) break;
    // A misuse is what a tool of its own does; the built-in tools have none.
    const call = fault.misuse === undefined ? (CALLS[Math.floor(n / faults.length) % CALLS.length] ?? "mark") : "mark";
    if (await runWithFault(fault, call)) {
      through += 1;
      process.stderr.write(`let through: ${fault.name} (${call})\n`);
    }
  }
  const control = await Promise.all(CALLS.map((call) => runWithFault({ name: "none" }, call)));
  return [
    {
      name: `calls let through by ${count} faults of the gate (${faults.length} kinds)`,
      unit: "calls",
      ours: through,
      limit: 0,
    },
    {
      name: "calls that did not run although nothing was broken",
      unit: "calls",
      ours: control.filter((ran) => !ran).length,
      limit: 0,
    },
  ];
}

if (import.meta.main) {
  const figures = await benchGateFaults(Number(process.argv[2] ?? FAULTS));
  printFigures("gate faults", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}
