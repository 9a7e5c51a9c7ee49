/** The holes as they were found, and a few variations of each; `bench/holes.ts` tries all of them. */
import { describe, expect, test } from "vitest";
import { runHoleCampaign } from "../fakes/hole-campaign.ts";
import { readHoles } from "../fakes/hole-cases.ts";
import { holeVariations } from "../fakes/hole-variations.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

const { seed, cases } = readHoles();
const EVERY = 8;
/** These need the program in a process of its own: see `e2e/terminal.test.ts` and `e2e/audit.test.ts`. */
const PROCESSES = new Set(["keys", "older"]);

test("variations come from their seed alone, at least 300 of them, and every hole has some", () => {
  const variations = holeVariations(seed);
  expect(variations.length).toBeGreaterThanOrEqual(300);
  expect(holeVariations(seed)).toEqual(variations);
  expect(holeVariations(seed + 1)).not.toEqual(variations);
  for (const all of [cases, variations]) expect(new Set(all.map(({ hole }) => hole)).size).toBe(13);
});

describe.runIf(hasSandbox)("no hole", () => {
  test("has an effect", async () => {
    const tried = [...cases, ...holeVariations(seed).filter((_, index) => index % EVERY === 0)];
    const wanted = tried.filter(({ kind }) => !PROCESSES.has(kind));
    const { outcomes, control } = await runHoleCampaign(wanted, seed, 10);
    expect(outcomes.filter(({ effects }) => effects.length > 0)).toEqual([]);
    expect(outcomes.filter(({ ended }) => ended === "not run")).toEqual([]);
    expect(new Set(outcomes.map(({ attempt }) => attempt))).toEqual(new Set(wanted));
    // The same commands have their effect where nothing confines them, so the detectors work.
    expect(control.effects).toBeGreaterThanOrEqual(control.ran / 2);
  });
});
