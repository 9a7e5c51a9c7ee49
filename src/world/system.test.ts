import { expect, test } from "vitest";
import { createSystemClock, createSystemRandom } from "./system.ts";

test("sleep ends early when the signal aborts, and at once when it already has", async () => {
  const clock = createSystemClock();
  const stop = new AbortController();
  const startedMs = clock.monotonicMs();
  const sleeping = clock.sleep(60_000, stop.signal);
  stop.abort();
  await sleeping;
  await clock.sleep(60_000, stop.signal);
  expect(clock.monotonicMs() - startedMs).toBeLessThan(5_000);
});

test("a sleep longer than a timer can hold does not end at once", async () => {
  const stop = new AbortController();
  let ended = false;
  const sleeping = createSystemClock()
    .sleep(2 ** 40, stop.signal)
    .then(() => {
      ended = true;
    });
  await createSystemClock().sleep(20);
  expect(ended).toBe(false);
  stop.abort();
  await sleeping;
});

test("now is the wall clock and the monotonic clock moves forward", async () => {
  const clock = createSystemClock();
  const before = clock.monotonicMs();
  await clock.sleep(2);
  expect(clock.monotonicMs()).toBeGreaterThan(before);
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
});

test("random bytes have the asked length and differ", () => {
  const random = createSystemRandom();
  const first = random.bytes(16);
  expect(first.length).toBe(16);
  expect(first).not.toEqual(random.bytes(16));
});
