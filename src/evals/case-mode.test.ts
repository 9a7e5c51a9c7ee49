/** Nothing is spent by surprise, and nothing is passed over in silence. */
import { expect, test } from "vitest";
import { chooseMode, type ModeFacts } from "./case-mode.ts";

const nothing: ModeFacts = { isScripted: false, isCi: false, hasCassette: false, hasKey: false };

test.each<[string, Partial<ModeFacts>, string]>([
  ["a key, at home", { hasKey: true, hasCassette: true }, "live"],
  ["a key, in CI", { hasKey: true, hasCassette: true, isCi: true }, "replay"],
  ["a key, in CI, and somebody means it", { hasKey: true, isCi: true, wanted: "live" }, "live"],
  ["no key", { hasCassette: true }, "replay"],
  ["a scenario", { isScripted: true, isCi: true, hasCassette: true }, "scripted"],
  ["a scenario, and a replay is wanted", { isScripted: true, hasCassette: true, wanted: "replay" }, "replay"],
  ["a scenario is recorded", { isScripted: true, wanted: "record" }, "record"],
  ["a key, and a replay is wanted", { hasKey: true, hasCassette: true, wanted: "replay" }, "replay"],
  ["a recording", { hasKey: true, isCi: true, wanted: "record" }, "record"],
])("%s", (_, facts, mode) => {
  expect(chooseMode({ ...nothing, ...facts })).toEqual({ mode });
});

test.each<[string, Partial<ModeFacts>, RegExp]>([
  ["nothing at all", {}, /neither a cassette, nor a scenario, nor the key/],
  [
    "in CI, with a key that nobody may use",
    { hasKey: true, isCi: true },
    /no cassette, and in CI no model is asked without --live/,
  ],
  ["a replay without a cassette", { hasKey: true, wanted: "replay" }, /no cassette/],
  ["a recording without a key", { hasCassette: true, wanted: "record" }, /key of its model is not set/],
  ["live without a key", { hasCassette: true, wanted: "live" }, /key of its model is not set/],
])("is not run: %s", (_, facts, why) => {
  expect(chooseMode({ ...nothing, ...facts })).toEqual({ notRun: expect.stringMatching(why) });
});
