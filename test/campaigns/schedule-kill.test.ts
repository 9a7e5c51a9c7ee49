/** No tick of a schedule runs twice or goes without a report, whenever the process is killed; `bench/schedule.ts` does the same longer. */
import { expect, test } from "vitest";
import { killSchedules } from "../fakes/schedule-kills.ts";

test("a process that is killed while schedules run, with a clock that steps", async () => {
  const report = await killSchedules(8, 160, Math.random);
  expect(report).toMatchObject({ unreported: 0, twice: 0, missedThere: [], errors: [] });
  expect(report.ran).toBeGreaterThan(80);
});
