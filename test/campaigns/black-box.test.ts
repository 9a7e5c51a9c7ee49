/** The built program, attacked with what the documentation says: a few attempts of each group. `bench/black-box.ts` makes all of them. */
import { describe, expect, test } from "vitest";
import { runScenes } from "../fakes/black-box/campaign.ts";
import { races, runRace } from "../fakes/black-box/races.ts";
import { readScenes } from "../fakes/black-box/scene.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

const AT_ONCE = 3;
const RACE_MS = 2_000;
const scenes = readScenes().filter(({ short }) => short === true);

describe.skipIf(!hasSandbox)("attacked from outside (skipped where bubblewrap cannot start)", () => {
  test("no attempt has an effect, and each text has one in plain Bash", async () => {
    const outcomes = await runScenes(scenes, AT_ONCE);
    expect(new Set(outcomes.map(({ group }) => group)).size).toBe(6);
    expect(outcomes.filter(({ effects, missed, silent }) => effects.length + missed + silent.length > 0)).toEqual([]);
  });

  test("a folder that becomes a link while a file tool works in it", async () => {
    const race = races.find(({ name }) => name.startsWith("file tools"));
    if (race === undefined) throw new Error("the race of the file tools is gone");
    const { attempts, effects } = await runRace(race, RACE_MS);
    expect({ made: attempts > 0, effects }).toEqual({ made: true, effects: [] });
  });
});
