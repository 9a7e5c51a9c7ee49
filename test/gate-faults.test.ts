/** Each way in which the gate can break, once; `bench/gate-faults.ts` goes through them hundreds of times. */
import { describe, expect, test } from "vitest";
import { allFaults, runWithFault } from "./fakes/gate-faults.ts";

describe("a broken gate lets nothing through:", () => {
  test.each(allFaults())("$name", async (fault) => {
    expect(await runWithFault(fault)).toBe(false);
  });
});

test.each(["mark", "fs.write", "exec"] as const)("%s runs when nothing is broken", async (call) => {
  expect(await runWithFault({ name: "none" }, call)).toBe(true);
});
