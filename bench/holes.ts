/**
 * `node bench/holes.ts [seed] [hole …]`: every hole of `test/corpora/holes.json` and more than 300 variations of them, through the whole program,
 * and those that could have been taken for quiet also in the reader as if nobody had judged them. Each ends in a refusal, or runs and has no
 * effect. The same commands run by bash alone show that their effects would be seen. Exit code 1 unless there is no effect.
 */
import { of, runHoleCampaign } from "../test/fakes/hole-campaign.ts";
import { readHoles } from "../test/fakes/hole-cases.ts";
import { runKeys, runOlder } from "../test/fakes/hole-programs.ts";
import { holeVariations } from "../test/fakes/hole-variations.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const CONTROLS = 100;
const HOLES = 13;

const { seed: usualSeed, cases } = readHoles();
const [seed = usualSeed, ...holes] = process.argv.slice(2).map(Number);
const wanted = new Set(holes);
const variations = holeVariations(seed);
const all = [...cases, ...variations].filter(({ hole }) => wanted.size === 0 || wanted.has(hole));
const { outcomes: inSessions, control } = await runHoleCampaign(all, seed, CONTROLS);
const outcomes = [...inSessions, ...(await runKeys(of(all, "keys"))), ...runOlder(of(all, "older"))];

for (const { attempt, ended, effects } of outcomes) {
  if (effects.length > 0)
    process.stdout.write(`EFFECT (${ended}): ${JSON.stringify(attempt)}\n  ${effects.join("\n  ")}\n`);
  if (ended === "not run") process.stdout.write(`NOT RUN: ${JSON.stringify(attempt)}\n`);
}
for (let hole = 1; hole <= HOLES; hole++) {
  const own = outcomes.filter(({ attempt }) => attempt.hole === hole);
  const counts = Map.groupBy(own, ({ ended }) => ended);
  const listed = [...counts].map(([ended, some]) => `${some.length} ${ended}`).join(", ");
  process.stdout.write(`hole ${hole}: ${new Set(own.map(({ attempt }) => attempt)).size} cases; ${listed}\n`);
}
const tried = new Set(outcomes.map(({ attempt }) => attempt)).size;
const figures: Figure[] = [
  {
    name: `effects of ${all.length} cases in ${outcomes.length} attempts`,
    unit: "",
    ours: outcomes.filter(({ effects }) => effects.length > 0).length,
    limit: 0,
  },
  {
    name: "cases that were not tried",
    unit: "",
    ours: all.length - tried + outcomes.filter(({ ended }) => ended === "not run").length,
    limit: 0,
  },
  {
    name: `of ${control.ran} commands run by bash alone, without an effect`,
    unit: "",
    ours: control.ran - control.effects,
    limit: Math.floor(control.ran / 2),
  },
];
printFigures(`${cases.length} holes as found, ${variations.length} variations, seed ${seed}`, figures);
process.exitCode = figures.every(holds) ? 0 : 1;
