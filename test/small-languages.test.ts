/** What the judge accepts of awk, sed, jq, find and git, run with the real programs: a short form of `bench/small-languages.ts`. */
import { afterAll, describe, expect, test } from "vitest";
import { quietDecision } from "../src/governance/quiet-preset.ts";
import { createSeededRandom } from "./corpora/seeded-random.ts";
import { type Argv, createSmallLanguageOracle, implementationsOf, ORACLE_ROOT } from "./fakes/small-language-oracle.ts";
import { type SmallLanguage, smallProgram } from "./fakes/small-programs.ts";

const SEED = 5;
const ACCEPTED = 12;

const oracle = createSmallLanguageOracle();
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

describe.skipIf(oracle === undefined)("small languages, with the real programs", () => {
  afterAll(() => oracle?.remove());

  test("what is accepted has no effect", async () => {
    const random = createSeededRandom(SEED);
    const batch: Argv[] = [];
    for (const language of ["awk", "sed", "jq", "find", "git", "options"] satisfies SmallLanguage[]) {
      for (let accepted = 0; accepted < (language === "jq" ? 3 : ACCEPTED); ) {
        const words = smallProgram(language, random);
        const command = [...(language === "options" ? [] : [language]), ...words.map(quoted)].join(" ");
        if (!quietDecision({ tool: "exec", args: { command } }, ORACLE_ROOT).quiet) continue;
        accepted++;
        for (const program of implementationsOf(language)) batch.push([...program, ...words]);
      }
    }
    expect(await oracle?.effects(batch)).toEqual([]);
  });

  test("what is hostile is seen", async () => {
    const hostile = [...implementationsOf("awk").map((awk) => [...awk, 'BEGIN { system("touch x") }'])];
    expect(await oracle?.effects(hostile)).toEqual(hostile);
  });
});
