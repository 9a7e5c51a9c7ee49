/** Nothing is spent by surprise, and nothing is passed over in silence. */
import { beforeEach, expect, test } from "vitest";
import { chooseMode, type ModeChoice, type ModeFacts } from "./case-mode.ts";

type Facts = Omit<ModeFacts, "hasKey"> & { readonly hasKey: boolean };

const nothing: Facts = { isScripted: false, isCi: false, hasCassette: false, hasKey: false };

/** How often somebody looked for a key. */
let looks = 0;

beforeEach(() => {
  looks = 0;
});

function choose(facts: Partial<Facts>): Promise<ModeChoice> {
  const { hasKey, ...rest } = { ...nothing, ...facts };
  return chooseMode({
    ...rest,
    async hasKey() {
      looks += 1;
      return hasKey;
    },
  });
}

test.each<[string, Partial<Facts>, string]>([
  ["a key, at home", { hasKey: true, hasCassette: true }, "live"],
  ["a key, in CI", { hasKey: true, hasCassette: true, isCi: true }, "replay"],
  ["a key, in CI, and somebody means it", { hasKey: true, isCi: true, wanted: "live" }, "live"],
  ["no key", { hasCassette: true }, "replay"],
  ["a scenario", { isScripted: true, isCi: true, hasCassette: true }, "scripted"],
  ["a scenario, and a replay is wanted", { isScripted: true, hasCassette: true, wanted: "replay" }, "replay"],
  ["a scenario is recorded", { isScripted: true, wanted: "record" }, "record"],
  ["a key, and a replay is wanted", { hasKey: true, hasCassette: true, wanted: "replay" }, "replay"],
  ["a recording", { hasKey: true, isCi: true, wanted: "record" }, "record"],
])("%s", async (_, facts, mode) => {
  expect(await choose(facts)).toEqual({ mode });
});

test.each<[string, Partial<Facts>, RegExp]>([
  ["nothing at all", {}, /no cassette and no scenario, and no key/],
  [
    "in CI, with a key that nobody may use",
    { hasKey: true, isCi: true },
    /no cassette, and in CI Harness calls no model without --live/,
  ],
  ["a replay without a cassette", { hasKey: true, wanted: "replay" }, /no cassette/],
  ["a recording without a key", { hasCassette: true, wanted: "record" }, /no key is set for its model/],
  ["live without a key", { hasCassette: true, wanted: "live" }, /no key is set for its model/],
])("is not run: %s", async (_, facts, why) => {
  expect(await choose(facts)).toEqual({ notRun: expect.stringMatching(why) });
});

test("nobody looks for a key where none is needed", async () => {
  await choose({ isScripted: true });
  await choose({ hasCassette: true, wanted: "replay", hasKey: true });
  await choose({ hasCassette: true, isCi: true, hasKey: true });
  expect(looks).toBe(0);
});
