/** A short version of bench/clock-steps.ts: the wall clock of a real daemon steps while streams are open. */
import { expect, test } from "vitest";
import { stepClock } from "../../bench/clock-steps.ts";

const HOUR_MS = 3_600_000;

test("a wall clock that steps locks nobody out, cuts no stream and deletes nothing", async () => {
  const steps = [
    { ms: -5_000, during: "turn" },
    { ms: -HOUR_MS, during: "idle" },
    { ms: 26 * HOUR_MS, during: "question" },
    { ms: -25 * HOUR_MS, during: "idle" },
  ] as const;
  const { deletionsWithoutGuard, ...result } = await stepClock({ steps, waits: false });
  expect(result).toEqual({
    steps: 4,
    daemonsEnded: 0,
    lockouts: 0,
    acknowledged: 6,
    acknowledgedLost: 0,
    streamsCut: 0,
    eventsOutOfOrder: 0,
    outlivedTokens: 0,
    earlyDeletions: 0,
    renewals: expect.any(Number),
  });
  expect(deletionsWithoutGuard).toBeGreaterThan(0);
});
