/**
 * Fuzzes the judge of shell commands with bash as the oracle. Generated commands are judged; bash runs those that pass in
 * a scratch workspace, up to `--real` of them with their programs. Nothing may change or connect, and no program may start
 * that the judge did not see. The same for sets of rules: what deny rules let pass never starts what they deny, and allow
 * rules let nothing pass that they do not name; `--deny` and `--allow` commands run for each set. `node bench/shell-fuzz.ts
 * [--seed N] [--judge N] [--run N] [--real N] [--deny N] [--allow N] [--only RULE] [--stress N]`; Linux with strace and bubblewrap.
 */
import { parseArgs } from "node:util";
import { createSystemClock } from "#world";
import { createShellFuzz, type ShellFuzzOptions } from "../test/fakes/shell-fuzz.ts";
import { createShellOracle, hasShellOracle } from "../test/fakes/shell-oracle.ts";
import { fuzzAllowed, fuzzDenied, type RuleFigures, type RuleFuzzOptions } from "../test/fakes/shell-rule-fuzz.ts";
import { ALLOWED_SETS, DENIED_SETS } from "../test/fakes/shell-rule-sets.ts";
import { stressJudge } from "../test/fakes/shell-stress.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const MAX_P99_MS = 2;
const MAX_WORST_MS = 50;
const PROGRESS = 100_000;
const RULE_PROGRESS = 10_000;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    judge: { type: "string", default: "100000" },
    run: { type: "string", default: "20000" },
    real: { type: "string", default: "2000" },
    deny: { type: "string", default: "1000" },
    allow: { type: "string", default: "1000" },
    stress: { type: "string", default: "2000" },
    only: { type: "string", default: "" },
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
  const isMeant = (patterns: readonly string[]): boolean => patterns.join(" ").includes(values.only);
  const denied = DENIED_SETS.filter((set) => isMeant(set.denied)).map((set, index) =>
    underRules(`deny ${set.denied.join(", ")}`, (of) => fuzzDenied(of, set, Number(values.deny)), index),
  );
  const allowed = ALLOWED_SETS.filter((set) => isMeant(set.allowed)).map((set, index) =>
    underRules(`allow ${set.allowed.join(", ")}`, (of) => fuzzAllowed(of, set, Number(values.allow)), index),
  );
  const stress = stressJudge(options.seed, Number(values.stress), options.now);
  out(`slowest: ${JSON.stringify(stress.worst.slice(0, 80))}, ${stress.worst.length} characters`);
  const table: Figure[] = [
    {
      name: `effects of ${figures.ran} quiet commands that ran, ${figures.ranReal} with programs (${figures.judged} judged)`,
      unit: "commands",
      ours: figures.effects,
      limit: 0,
    },
    ...denied.map(({ name, judged, ran, effects }) => ({
      name: `${name}: of ${ran} commands that ran (${judged} judged), those that start what is denied`,
      unit: "commands",
      ours: effects,
      limit: 0,
    })),
    ...allowed.map(({ name, judged, ran, effects }) => ({
      name: `${name}: of ${ran} commands that ran (${judged} judged), those that do something else`,
      unit: "commands",
      ours: effects,
      limit: 0,
    })),
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

/** One campaign, with a seed of its own. */
function underRules(
  name: string,
  fuzz: (options: RuleFuzzOptions) => RuleFigures,
  index: number,
): RuleFigures & { name: string } {
  let last = 0;
  const progress = ({ judged, ran, effects }: RuleFigures): void => {
    if (ran - last < RULE_PROGRESS) return;
    last = ran;
    out(`${name}: ${judged} judged, ${ran} ran, ${effects} effects`);
  };
  return { name, ...fuzz({ ...options, seed: options.seed + index, progress }) };
}
