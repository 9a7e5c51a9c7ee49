/** Looking after commands that go on beside the turns, with a clock that stands. */
import { expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { watchBeside } from "./beside-watch.ts";
import type { Swept } from "./held-back.ts";

const NOTHING: Swept = { lines: [], failures: [] };
const started = (sweep: () => Swept) => {
  const clock = createManualClock();
  const stop = new AbortController();
  return { clock, stop, watch: watchBeside(sweep, clock, stop.signal) };
};

test("what is found ends the command, and is told when it has ended", async () => {
  let looks = 0;
  const found = { lines: ["a hook was moved aside"], failures: [] };
  const { clock, watch } = started(() => (++looks < 3 ? NOTHING : found));
  for (let at = 0; at < 5; at++) await clock.advance(1_000);
  expect([looks, watch.isCaught, watch.signal.aborted]).toEqual([3, true, true]);
  expect(watch.close()).toBe(found);
});

test("a look that fails ends it as well", async () => {
  const { clock, watch } = started(() => {
    throw new Error("the disk is gone");
  });
  await clock.advance(1_000);
  expect(watch.isCaught).toBe(true);
  expect(watch.close().failures).toMatchObject([{ message: "the disk is gone" }]);
});

test("there are no looks once it has ended", async () => {
  let looks = 0;
  const { clock, watch } = started(() => {
    looks++;
    return NOTHING;
  });
  await clock.advance(1_000);
  watch.close();
  await clock.advance(60_000);
  expect([looks, watch.isCaught]).toEqual([1, false]);
});

test("a look that takes long is followed by a longer pause", async () => {
  let [looks, ms] = [0, 0];
  const clock = createManualClock();
  const slow = { sleep: clock.sleep, monotonicMs: () => (ms += 250) };
  const sweep = () => {
    looks++;
    return NOTHING;
  };
  const watch = watchBeside(sweep, slow, new AbortController().signal);
  await clock.advance(1_000);
  await clock.advance(4_900);
  expect(looks).toBe(1);
  await clock.advance(200);
  expect(looks).toBe(2);
  watch.close();
});
