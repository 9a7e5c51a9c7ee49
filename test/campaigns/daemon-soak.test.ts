/** A short version of bench/daemon-soak.ts: sessions, questions and clients that break off, in a real daemon, without growing out of hand. */
import { expect, test } from "vitest";
import { soakDaemon } from "../../bench/daemon-soak.ts";

const TURNS = 400;
/** The first turns of a process fill its caches and its heap; ten thousand of them show whether it ends. */
const MAX_GROWTH_WHILE_WARM = 1.5;

test("hundreds of turns in one daemon", async () => {
  const { samplesMb, secondMb, lastMb } = await soakDaemon(TURNS);
  expect(samplesMb).toHaveLength(8);
  expect(secondMb).toBeGreaterThan(0);
  expect(lastMb / secondMb).toBeLessThan(MAX_GROWTH_WHILE_WARM);
});
