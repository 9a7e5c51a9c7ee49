/** A few kills with SIGKILL at any moment of a turn; `bench/crash.ts` does it many more times. */
import { expect, test } from "vitest";
import { crashCampaign } from "../../bench/crash.ts";

test("is killed five times", async () => {
  expect(await crashCampaign(5)).toMatchObject({
    runs: 5,
    lostEvents: 0,
    ranTwice: 0,
    unrecorded: 0,
    unsurfaced: 0,
    damaged: 0,
  });
});
