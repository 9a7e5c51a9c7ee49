import { expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createProgressGatherer } from "./progress.ts";

function gatherer() {
  const clock = createManualClock();
  const reports: string[] = [];
  return { clock, reports, progress: createProgressGatherer((text) => void reports.push(text), clock) };
}

test("what arrives within one interval is one report", async () => {
  const { clock, reports, progress } = gatherer();
  progress.add("a");
  await clock.advance(30);
  progress.add("b");
  expect(reports).toEqual([]);
  await clock.advance(20);
  expect(reports).toEqual(["ab"]);
  await clock.advance(1_000);
  expect(reports).toEqual(["ab"]);
});

test("a full block is reported at once", () => {
  const { reports, progress } = gatherer();
  progress.add("x".repeat(4_096));
  expect(reports.map((text) => text.length)).toEqual([4_096]);
});

test("closing reports the rest and ends the waiting", async () => {
  const { clock, reports, progress } = gatherer();
  progress.add("rest");
  progress.close();
  progress.add("too late");
  await clock.advance(1_000);
  expect([reports, clock.sleeping]).toEqual([["rest"], 0]);
});

test("an endless output is reported up to a total", () => {
  const { reports, progress } = gatherer();
  for (let round = 0; round < 1_000; round++) progress.add("x".repeat(4_096));
  progress.close();
  expect(reports.join("").length).toBeLessThan(270_000);
  expect(reports.at(-1)).toMatch(/the rest is not shown live\]\n$/);
});

test("the total ends with a line: what is cut in a secret is not found by anybody", () => {
  const { reports, progress } = gatherer();
  for (let round = 0; round < 63; round++) progress.add("x".repeat(4_095).concat("\n"));
  progress.add(`${"x".repeat(4_050)} ghp_aB3dE5fG7hJ9kL1mN3p`);
  progress.add("Q5rS7tU9vW1xY3zA5 later");
  progress.add(" and more\nnot shown\n");
  progress.add("nor this\n");
  progress.close();
  expect(reports.join("")).toMatch(
    / ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5 later and more\n\[more output follows; the rest is not shown live\]\n$/,
  );
});
