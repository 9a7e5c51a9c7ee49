/** A short run of the fuzzer of shell commands; `bench/shell-fuzz.ts` is the long one. */
import { afterAll, describe, expect, test } from "vitest";
import { createSystemClock } from "#world";
import { quietDecision } from "../../src/governance/quiet-preset.ts";
import { createShellFuzz, type ShellFuzzOptions } from "../fakes/shell-fuzz.ts";
import { createShellOracle, hasShellOracle } from "../fakes/shell-oracle.ts";
import { fuzzAllowed, fuzzDenied } from "../fakes/shell-rule-fuzz.ts";
import { ALLOWED_SETS, DENIED_SETS } from "../fakes/shell-rule-sets.ts";
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
      const of = (programs: readonly string[], connections: readonly unknown[] = []) =>
        expect.objectContaining({ programs, connections });
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
    const denied = DENIED_SETS.map((set) => fuzzDenied(options, set, 20));
    const allowed = ALLOWED_SETS.map((set) => fuzzAllowed(options, set, 40));
    expect([...denied, ...allowed].map(({ effects }) => effects)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(reports).toEqual([]);
  });

  test.each([
    "sed '1etouch y' notes.txt",
    "sed '1et\\ouch y' notes.txt",
    "awk 'BEGIN{system(\"/usr/bin/t?uch zz9\")}'",
    "declare -i x='a[$(t\\ouch y)]'",
    "ls x >& keys'$(touch y)'",
    "echo touch y | xargs -I{} sh -c {}",
    "git -c alias.y='!touch' y",
    "cp /usr/bin/touch /tmp/y; /tmp/y z",
  ])("were the judge to let %s pass, the campaign would find it", (command) => {
    const found: string[] = [];
    const commands = ["ls", command, "cat notes.txt"];
    const blind = { ...options, report: (line: string) => found.push(line), isAllowed: () => true };
    let number = 0;
    const candidates = (): string => commands.shift() ?? `echo touch ${number++}`;
    const figures = fuzzDenied({ ...blind, candidates }, { denied: ["touch *"] }, 1);
    expect(figures.effects).toBe(1);
    expect(found).toEqual([expect.stringContaining("starts touch")]);
  });

  test.each([
    ["starts", "cat notes.txt; sort other.txt", "may start sort"],
    ["changes a file", "cat notes.txt > made", "changes a file"],
    ["starts behind git", "git -c alias.y='!rm' y", "rm"],
  ])("were the judge to allow what %s, the campaign would find it", (_, command, problem) => {
    const found: string[] = [];
    const blind = { ...options, report: (line: string) => found.push(line), isAllowed: () => true };
    const set = { allowed: ["cat *", "git log *"], real: ["cat", "git"], bases: [] };
    expect(fuzzAllowed({ ...blind, candidates: () => command }, set, 1).effects).toBe(1);
    expect(found).toEqual([expect.stringContaining(problem)]);
  });
});
