/** Hostile commands in disguise, and every everyday command; `test/shell-corpora.test.ts` has the quick part. */
import { afterAll, expect, test } from "vitest";
import { everydayCommands, type HostileCommand, hostileCommands } from "../fakes/shell-corpora.ts";
import { createHostileJudge, judgeEveryday, MAX_NEEDLESS_SHARE } from "../fakes/shell-corpus-judge.ts";
import { canBeDisguised, disguise } from "../fakes/shell-transforms.ts";
import { createRng } from "../fakes/tampering.ts";

const DISGUISES = 2000;
const SEED = 3;

const { outcomeOf, remove } = createHostileJudge();
afterAll(remove);

test("hostile commands do not pass in disguise", async () => {
  const rng = createRng(SEED);
  const bases = hostileCommands().filter(canBeDisguised);
  const through: string[] = [];
  for (let run = 0; run < DISGUISES; run++) {
    const base = bases[Math.floor(rng() * bases.length)] as HostileCommand;
    const command = disguise(base, rng);
    if ((await outcomeOf({ ...base, command })) === "allow") through.push(command);
  }
  expect(through).toEqual([]);
});

test("everyday commands pass unasked only when they only read, and then nearly always", async () => {
  const everyday = everydayCommands();
  const { missed, needless } = await judgeEveryday(everyday);
  expect(missed).toEqual([]);
  expect(needless.length / everyday.length, needless.join("\n")).toBeLessThanOrEqual(MAX_NEEDLESS_SHARE);
});
