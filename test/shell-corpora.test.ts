/** Every shell command of the corpora, judged as the program judges it: no attack passes, and hardly any reading asks. */
import { afterAll, describe, expect, test } from "vitest";
import { everydayCommands, type HostileCommand, hostileCommands } from "./fakes/shell-corpora.ts";
import { createShellJudge, type ShellJudge } from "./fakes/shell-judge.ts";
import { canBeDisguised, disguise } from "./fakes/shell-transforms.ts";
import { createPreparedWorkspace, createShellWorkspace } from "./fakes/shell-workspace.ts";
import { createRng } from "./fakes/tampering.ts";

const MIN_HOSTILE = 350;
const MIN_EVERYDAY = 2100;
const MAX_NEEDLESS_SHARE = 0.02;
const DISGUISES = 2000;
const SEED = 3;

const everyday = everydayCommands();
const hostile = hostileCommands();

describe("hostile commands", () => {
  const workspace = createPreparedWorkspace();
  afterAll(() => workspace.remove());
  const judges = new Map<string, ShellJudge>();

  async function outcomeOf({ command, rules, cwd }: HostileCommand): Promise<string> {
    const key = rules.join("\n");
    const judge = judges.get(key) ?? createShellJudge(workspace.root, rules);
    judges.set(key, judge);
    return (await judge.judge(command, cwd === undefined ? {} : { cwd })).outcome;
  }

  test("are many, of many kinds, each once", () => {
    expect(hostile.length).toBeGreaterThanOrEqual(MIN_HOSTILE);
    expect(new Set(hostile.map((row) => JSON.stringify(row))).size).toBe(hostile.length);
    expect(new Set(hostile.map((row) => row.class)).size).toBeGreaterThanOrEqual(15);
  });

  test("have the outcome that is written beside them", async () => {
    const wrong: string[] = [];
    for (const row of hostile) {
      const outcome = await outcomeOf(row);
      if (outcome !== row.expect) wrong.push(`${JSON.stringify(row.command)} with ${row.rules.join(", ")}: ${outcome}`);
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test("do not pass in disguise", async () => {
    const rng = createRng(SEED);
    const bases = hostile.filter(canBeDisguised);
    const through: string[] = [];
    for (let run = 0; run < DISGUISES; run++) {
      const base = bases[Math.floor(rng() * bases.length)] as HostileCommand;
      const command = disguise(base, rng);
      if ((await outcomeOf({ ...base, command })) === "allow") through.push(command);
    }
    expect(through).toEqual([]);
  }, 60_000);
});

describe("everyday commands", () => {
  test("are many, each once, and at least half of them only read", () => {
    expect(everyday.length).toBeGreaterThanOrEqual(MIN_EVERYDAY);
    expect(new Set(everyday.map((row) => row.command)).size).toBe(everyday.length);
    expect(everyday.filter((row) => row.expect === "quiet").length).toBeGreaterThan(everyday.length / 2);
  });

  test("pass unasked only when they only read, and then nearly always", async () => {
    const workspace = createShellWorkspace();
    try {
      const { judge } = createShellJudge(workspace.root);
      const missed: string[] = [];
      const needless: string[] = [];
      for (const { command, expect: label } of everyday) {
        const { outcome } = await judge(command);
        if (outcome === "allow" && label === "ask") missed.push(command);
        if (outcome !== "allow" && label === "quiet") needless.push(command);
      }
      expect(missed).toEqual([]);
      expect(needless.length / everyday.length, needless.join("\n")).toBeLessThanOrEqual(MAX_NEEDLESS_SHARE);
    } finally {
      workspace.remove();
    }
  }, 60_000);
});
