/**
 * Fuzzes the judge of shell commands with bash as the oracle. Generated commands are judged; bash runs those that pass in
 * a scratch workspace, up to `--real` of them with their programs. Nothing may change or connect, and no program may start
 * that the judge did not see. The same for rules: with `allow Bash` and `deny Bash(touch *)`, what passes never starts
 * `touch`. `node bench/shell-fuzz.ts [--seed N] [--judge N] [--run N] [--real N] [--deny N]`; Linux with strace and bubblewrap.
 */
import { parseArgs } from "node:util";
import { createSystemClock } from "#base";
import { createShellFuzz } from "../test/fakes/shell-fuzz.ts";
import { createShellOracle, hasShellOracle } from "../test/fakes/shell-oracle.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const MAX_P99_MS = 2;
const MAX_WORST_MS = 50;
const PROGRESS = 100_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    judge: { type: "string", default: "100000" },
    run: { type: "string", default: "20000" },
    real: { type: "string", default: "2000" },
    deny: { type: "string", default: "1000" },
  },
});
const out = (line: string): boolean => process.stdout.write(`${line}\n`);
if (!hasShellOracle()) {
  out("strace or bubblewrap is missing; nothing was run");
  process.exit(1);
}
const clock = createSystemClock();
const fuzz = createShellFuzz({
  seed: Number(values.seed),
  now: () => clock.monotonicMs(),
  oracle: createShellOracle,
  report: out,
});
try {
  const [judge, run, real] = [Number(values.judge), Number(values.run), Number(values.real)];
  let figures = await fuzz.quiet(Math.min(PROGRESS, judge), run, real);
  while (figures.judged < judge) {
    out(
      `${figures.judged} judged, ${figures.ran} ran, ${figures.ranReal} of them with programs, ${figures.effects} effects, worst ${figures.worstMs.toFixed(1)} ms`,
    );
    figures = await fuzz.quiet(Math.min(figures.judged + PROGRESS, judge), run, real);
  }
  const rules = await fuzz.denied(Number(values.deny));
  const table: Figure[] = [
    {
      name: `effects of ${figures.ran} quiet commands that ran, ${figures.ranReal} with programs (${figures.judged} judged)`,
      unit: "commands",
      ours: figures.effects,
      limit: 0,
    },
    {
      name: `denied programs started by ${rules.ran} allowed commands that ran (${rules.judged} judged)`,
      unit: "commands",
      ours: rules.effects,
      limit: 0,
    },
    { name: "judging one command, p99", unit: "ms", ours: figures.p99Ms, limit: MAX_P99_MS },
    { name: "judging one command, worst", unit: "ms", ours: figures.worstMs, limit: MAX_WORST_MS },
  ];
  printFigures(`shell fuzzing, seed ${values.seed}`, table);
  process.exitCode = table.every(holds) ? 0 : 1;
} finally {
  fuzz.remove();
}
