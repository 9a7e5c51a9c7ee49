/** A few canaries through a session; `test/campaigns/canaries.test.ts` takes them through the program, `bench/canaries.ts` 1,000. */
import { expect, test } from "vitest";
import { makeCanaries, rawIn, redactorFor } from "../fakes/canaries.ts";
import { leaks, placeFor } from "../fakes/canary-leaks.ts";
import { runCanarySession, waysOut } from "../fakes/canary-session.ts";
import { apart, everywhere, WAYS } from "../fakes/canary-ways.ts";
import { noRedaction } from "../fakes/no-redaction.ts";

test("without redaction every way in leads out: what follows can fail", async () => {
  const place = await placeFor(apart(makeCanaries(300), 1));
  const out = waysOut(place.load, await runCanarySession(place, async () => noRedaction));
  expect(WAYS.filter((way) => !out.has(way))).toEqual([]);
});

test("no canary leaves a session", async () => {
  const place = await placeFor(everywhere(makeCanaries(60, 11)));
  const exits = await runCanarySession(place);
  expect(exits.get("bodies of requests")).toContain("«redacted:");
  expect(leaks(place, exits)).toEqual({});
});

test("none passes a stream that is cut in two, wherever the cut is", () => {
  const canaries = makeCanaries(60, 14);
  const redactor = redactorFor(canaries);
  const passed = canaries.filter((canary) => {
    for (let at = 1; at < canary.text.length; at++) {
      const stream = redactor.createStreamRedactor();
      const begin = stream.push(canary.text.slice(0, at)) + stream.settle();
      if (rawIn(begin + stream.push(canary.text.slice(at)) + stream.flush(), [canary]).length > 0) return true;
    }
    return false;
  });
  expect(passed).toEqual([]);
});
