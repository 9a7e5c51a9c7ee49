/** A short run of the fuzzer of shell commands; `bench/shell-fuzz.ts` is the long one. */
import { afterAll, describe, expect, test } from "vitest";
import { createSystemClock } from "#world";
import { quietDecision } from "../../src/governance/quiet-preset.ts";
import { createShellFuzz, type ShellFuzzOptions } from "../fakes/shell-fuzz.ts";
import { createShellOracle, hasShellOracle } from "../fakes/shell-oracle.ts";
import { fuzzAllowed, fuzzDenied } from "../fakes/shell-rule-fuzz.ts";
import { stressJudge } from "../fakes/shell-stress.ts";
import { createShellWorkspace } from "../fakes/shell-workspace.ts";

/** Far above what is measured; an expression that backtracks takes seconds or never ends. */
const MAX_WORST_MS = 500;
const SEED = 20_261_116;
const clock = createSystemClock();

test("long commands that repeat are judged at once", () => {
  const { worstMs, worst } = stressJudge(SEED, 300, () => clock.monotonicMs());
  expect(worstMs, worst.slice(0, 200)).toBeLessThan(MAX_WORST_MS);
});

test("an option repeated sixty times does not hang the judge", () => {
  const command = `git tag ${"-l ".repeat(60)}'!'`;
  expect(quietDecision({ tool: "exec", args: { command } }, "/w").quiet).toBe(true);
});

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
  const options: ShellFuzzOptions = {
    seed: SEED,
    now: () => clock.monotonicMs(),
    oracle: createShellOracle,
    report: (line) => reports.push(line),
  };
  const fuzz = createShellFuzz(options);
  afterAll(() => fuzz.remove());

  test("what is quiet changes nothing", async () => {
    const quiet = await fuzz.quiet(3000, 400, 50);
    expect(quiet.ran).toBeGreaterThanOrEqual(200);
    expect(quiet.ranReal).toBe(50);
    expect([quiet.effects, reports]).toEqual([0, []]);
  });

  test("what is denied does not start, and what is allowed is what the rules name", () => {
    const [denied, allowed] = [fuzzDenied(options, 20), fuzzAllowed(options, 100)];
    expect([denied.effects, allowed.effects, reports]).toEqual([0, 0, []]);
  });
});
