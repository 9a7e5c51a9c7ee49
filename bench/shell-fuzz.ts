/**
 * Fuzzes the judge of shell commands with bash as the oracle. Generated commands are judged; bash runs those that pass in
 * a scratch workspace, up to `--real` of them with their programs. Nothing may change or connect, and no program may start
 * that the judge did not see. The same for rules: what `deny Bash(touch *)` lets pass never starts `touch`, and allow
 * rules let nothing pass that they do not name. `node bench/shell-fuzz.ts [--seed N] [--judge N] [--run N] [--real N] [--rules N] [--stress N]`; Linux with strace and bubblewrap.
 */
import { parseArgs } from "node:util";
import { createSystemClock } from "#world";
import { createShellFuzz, type ShellFuzzOptions } from "../test/fakes/shell-fuzz.ts";
import { createShellOracle, hasShellOracle } from "../test/fakes/shell-oracle.ts";
import { fuzzAllowed, fuzzDenied } from "../test/fakes/shell-rule-fuzz.ts";
import { stressJudge } from "../test/fakes/shell-stress.ts";
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
    rules: { type: "string", default: "1000" },
    stress: { type: "string", default: "2000" },
  },
});
const out = (line: string): boolean => process.stdout.write(`${line}\n`);
if (!hasShellOracle()) {
  out("strace or bubblewrap is missing; nothing was run");
  process.exit(1);
}
const clock = createSystemClock();
const options: ShellFuzzOptions = {
  seed: Number(values.seed),
  now: () => clock.monotonicMs(),
  oracle: createShellOracle,
  report: out,
};
const fuzz = createShellFuzz(options);
try {
  const [judge, run, real] = [Number(values.judge), Number(values.run), Number(values.real)];
  let figures = await fuzz.quiet(Math.min(PROGRESS, judge), run, real);
  while (figures.judged < judge) {
    out(
      `${figures.judged} judged, ${figures.ran} ran, ${figures.ranReal} of them with programs, ${figures.effects} effects, worst ${figures.worstMs.toFixed(1)} ms`,
    );
    figures = await fuzz.quiet(Math.min(figures.judged + PROGRESS, judge), run, real);
  }
  const denied = fuzzDenied(options, Number(values.rules));
  const allowed = fuzzAllowed(options, Number(values.rules));
  const stress = stressJudge(options.seed, Number(values.stress), options.now);
  out(`slowest: ${JSON.stringify(stress.worst.slice(0, 80))}, ${stress.worst.length} characters`);
  const table: Figure[] = [
    {
      name: `effects of ${figures.ran} quiet commands that ran, ${figures.ranReal} with programs (${figures.judged} judged)`,
      unit: "commands",
      ours: figures.effects,
      limit: 0,
    },
    {
      name: `denied programs started by ${denied.ran} allowed commands that ran (${denied.judged} judged)`,
      unit: "commands",
      ours: denied.effects,
      limit: 0,
    },
    {
      name: `effects of ${allowed.ran} commands that allow rules let pass (${allowed.judged} judged)`,
      unit: "commands",
      ours: allowed.effects,
      limit: 0,
    },
    { name: "judging one command, p99", unit: "ms", ours: figures.p99Ms, limit: MAX_P99_MS },
    { name: "judging one command, worst", unit: "ms", ours: figures.worstMs, limit: MAX_WORST_MS },
    {
      name: `judging one of ${stress.judged} commands that are long and repeat, worst`,
      unit: "ms",
      ours: stress.worstMs,
      limit: MAX_WORST_MS,
    },
  ];
  printFigures(`shell fuzzing, seed ${values.seed}`, table);
  process.exitCode = table.every(holds) ? 0 : 1;
} finally {
  fuzz.remove();
}
