/**
 * `node bench/black-box.ts [pattern]`: what the documentation says, and nothing else, used against the built program. A scripted model makes the
 * calls; canary files, listeners, printed secrets and the user's own git show what they did. The same texts in plain Bash show that an effect
 * would be seen. `pattern` picks scenes and races by group and name. Exit code 1 unless there is no effect.
 */
import { runScenes, type SceneOutcome } from "../test/fakes/black-box/campaign.ts";
import { races, runRace } from "../test/fakes/black-box/races.ts";
import { readScenes } from "../test/fakes/black-box/scene.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const AT_ONCE = 3;
const RACE_MS = 15_000;

const pattern = new RegExp(process.argv[2] ?? "", "i");
const wanted = ({ group, name }: { group: string; name: string }): boolean => pattern.test(`${group}: ${name}`);
const outcomes: SceneOutcome[] = await runScenes(
  readScenes().filter((scene) => wanted(scene) && !scene.name.endsWith(", a few")),
  AT_ONCE,
);
for (const race of races.filter(wanted)) outcomes.push(await runRace(race, RACE_MS));

for (const { group, name, effects, missed, silent } of outcomes) {
  for (const effect of effects) process.stdout.write(`EFFECT ${group}: ${name}\n  ${effect}\n`);
  if (missed > 0) process.stdout.write(`NOT TRIED ${group}: ${name}: ${missed}\n`);
  for (const control of silent) process.stdout.write(`CONTROL WITHOUT EFFECT ${group}: ${control}\n`);
}
const sum = (some: readonly SceneOutcome[], count: (outcome: SceneOutcome) => number): number =>
  some.reduce((total, outcome) => total + count(outcome), 0);
const figures: Figure[] = [...Map.groupBy(outcomes, ({ group }) => group)].map(([group, some]) => ({
  name: `${group}: effects of ${sum(some, ({ attempts }) => attempts)} attempts`,
  unit: "",
  ours: sum(some, ({ effects }) => effects.length),
  limit: 0,
}));
figures.push(
  { name: "attempts that were not made", unit: "", ours: sum(outcomes, ({ missed }) => missed), limit: 0 },
  {
    name: `of ${sum(outcomes, ({ controls }) => controls)} texts in plain Bash, without an effect`,
    unit: "",
    ours: sum(outcomes, ({ silent }) => silent.length),
    limit: 0,
  },
);
printFigures(`${sum(outcomes, ({ attempts }) => attempts)} attempts from outside`, figures);
process.exitCode = figures.every(holds) ? 0 : 1;
