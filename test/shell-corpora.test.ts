/** Every shell command of the corpora, judged as the program judges it: no attack passes, and hardly any reading asks. */
import { afterAll, describe, expect, test } from "vitest";
import { everydayCommands, hostileCommands } from "./fakes/shell-corpora.ts";
import { createHostileJudge, judgeEveryday, MAX_NEEDLESS_SHARE } from "./fakes/shell-corpus-judge.ts";

const MIN_HOSTILE = 350;
const MIN_EVERYDAY = 2100;
/** `test/campaigns/shell-corpora.test.ts` judges all of them. */
const EVERY = 5;

const everyday = everydayCommands();
const hostile = hostileCommands();

describe("hostile commands", () => {
  const { outcomeOf, remove } = createHostileJudge();
  afterAll(remove);

  test("are many, of many kinds, each once", () => {
    expect(hostile.length).toBeGreaterThanOrEqual(MIN_HOSTILE);
    expect(new Set(hostile.map((row) => JSON.stringify(row))).size).toBe(hostile.length);
    expect(new Set(hostile.map((row) => row.class)).size).toBeGreaterThanOrEqual(15);
  });

  test("have the outcome that is written beside them", async () => {
    const wrong: string[] = [];
    for (const row of hostile) {
      const outcome = await outcomeOf(row);
      if (outcome !== row.expect) wrong.push(`${JSON.stringify(row.command)} with ${row.rules.join(", ")}: ${outcome}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe("everyday commands", () => {
  test("are many, each once, and at least half of them only read", () => {
    expect(everyday.length).toBeGreaterThanOrEqual(MIN_EVERYDAY);
    expect(new Set(everyday.map((row) => row.command)).size).toBe(everyday.length);
    expect(everyday.filter((row) => row.expect === "quiet").length).toBeGreaterThan(everyday.length / 2);
  });

  test("pass unasked only when they only read, and then nearly always", async () => {
    const { missed, needless } = await judgeEveryday(everyday.filter((_, index) => index % EVERY === 0));
    expect(missed).toEqual([]);
    expect((needless.length * EVERY) / everyday.length, needless.join("\n")).toBeLessThanOrEqual(MAX_NEEDLESS_SHARE);
  });
});
