/** A short run of the fuzzer of shell commands; `bench/shell-fuzz.ts` is the long one. */
import { afterAll, describe, expect, test } from "vitest";
import { createSystemClock } from "#base";
import { createShellFuzz } from "./fakes/shell-fuzz.ts";
import { createShellOracle, hasShellOracle } from "./fakes/shell-oracle.ts";
import { createShellWorkspace } from "./fakes/shell-workspace.ts";

const SEED = 20_261_116;
const clock = createSystemClock();

describe.skipIf(!hasShellOracle())("with bash as the oracle", () => {
  test("the oracle sees programs, changes and connections", () => {
    const workspace = createShellWorkspace();
    try {
      const root = workspace.root;
      const recorded = createShellOracle(root, { writable: true, programs: "recorded" });
      const real = createShellOracle(root, { writable: true, programs: "real" });
      const of = (programs: readonly string[], connections: readonly unknown[] = []) => ({ programs, connections });
      expect(recorded.run(["ls | touch x", "echo $(curl x)"])).toEqual({
        observed: [of(expect.arrayContaining(["ls", "touch"])), of(["curl"])],
        changed: false,
      });
      expect(recorded.run([": > made"]).changed).toBe(true);
      expect(real.run(["echo 'BEGIN { system(\"mkdir more\") }' | awk -f -", "echo > /dev/tcp/127.0.0.1/9"])).toEqual({
        observed: [of(["awk", "sh", "mkdir"]), of([], [expect.stringContaining("127.0.0.1")])],
        changed: true,
      });
      recorded.remove();
      real.remove();
    } finally {
      workspace.remove();
    }
  });

  const reports: string[] = [];
  const fuzz = createShellFuzz({
    seed: SEED,
    now: () => clock.monotonicMs(),
    oracle: createShellOracle,
    report: (line) => reports.push(line),
  });
  afterAll(() => fuzz.remove());

  test("what is quiet changes nothing, and what is denied does not start", async () => {
    const quiet = await fuzz.quiet(3000, 400, 50);
    expect(quiet.ran).toBeGreaterThanOrEqual(200);
    expect(quiet.ranReal).toBe(50);
    const denied = await fuzz.denied(20);
    expect([quiet.effects, denied.effects, reports]).toEqual([0, 0, []]);
  }, 60_000);
});
