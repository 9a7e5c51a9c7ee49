/** Holds generated shell commands against rules, runs those that the rules let pass, and counts what should not have happened. */
import { evaluateRules, parseRule, type RuleEffect } from "../../src/governance/rules.ts";
import { analyseShell } from "../../src/governance/shell/analysis.ts";
import { everyCommand } from "../../src/governance/shell/command.ts";
import { programName } from "../../src/governance/shell/wrappers.ts";
import { createCandidates } from "./shell-candidates.ts";
import { type ShellFuzzOptions, strangers } from "./shell-fuzz.ts";
import { createShellWorkspace } from "./shell-workspace.ts";
import { createRng } from "./tampering.ts";

export interface RuleFigures {
  readonly judged: number;
  readonly ran: number;
  readonly effects: number;
}

const BATCH = 200;

/** Of commands that `allow Bash` lets pass beside `deny Bash(touch *)`: how many start `touch`, with real programs. */
export function fuzzDenied(options: ShellFuzzOptions, ran: number): RuleFigures {
  const isAllowed = judgedBy([
    ["allow", "Bash"],
    ["deny", "Bash(touch *)"],
  ]);
  return fuzzRules(options, ran, "real", {
    passes: (command) => command.includes("touch") && isAllowed(command),
    problem: (_, programs) => (programs.includes("touch") ? "starts touch" : undefined),
  });
}

/** What the rules of `fuzzAllowed` allow, and what only passes on. */
const ALLOWED = ["cat", "ls", "echo", "git", "python"];
const PASSES_ON = "timeout nice env time command builtin stdbuf ionice bash sh dash".split(" ");

/** Of commands that a few allow rules let pass: how many start something else, write a file or read outside. */
export function fuzzAllowed(options: ShellFuzzOptions, ran: number): RuleFigures {
  const isAllowed = judgedBy([
    ["allow", "Bash(cat *)"],
    ["allow", "Bash(ls -* *)"],
    ["allow", "Bash(echo **)"],
    ["allow", "Bash(git log *)"],
    ["allow", "Bash(python *.py)"],
  ]);
  return fuzzRules(options, ran, "recorded", {
    passes: isAllowed,
    problem(command, programs) {
      const [stranger] = strangers(command, programs);
      if (stranger !== undefined) return `starts ${stranger}`;
      const seen = [...everyCommand(analyseShell(command).commands)];
      const other = seen.find(({ words }) => ![...ALLOWED, ...PASSES_ON].includes(programName(words)));
      if (other !== undefined) return `may start ${other.words[0] ?? "nothing"}`;
      const outside = seen.find(
        ({ words }) => words[0] === "cat" && words.some((word) => /^[-/~].|(?:^|\/)\.\.(?:\/|$)/.test(word)),
      );
      return outside === undefined ? undefined : "reads outside, or has an option";
    },
  });
}

interface RuleCampaign {
  passes(command: string): boolean;
  /** Given the programs that started. */
  problem(command: string, programs: readonly string[]): string | undefined;
}

function judgedBy(rules: readonly (readonly [RuleEffect, string])[]): (command: string) => boolean {
  const parsed = rules.map(([effect, text]) => parseRule(text, effect, "fuzz"));
  return (command) => {
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    return evaluateRules(parsed, call).effect === "allow";
  };
}

function fuzzRules(
  { seed, oracle, report }: ShellFuzzOptions,
  limit: number,
  programs: "real" | "recorded",
  campaign: RuleCampaign,
): RuleFigures {
  const workspace = createShellWorkspace();
  const next = createCandidates(createRng(seed));
  // With real programs the commands may do anything, so the workspace is held.
  const runner = oracle(workspace.root, { writable: programs === "recorded", programs });
  let [judged, ran, effects] = [0, 0, 0];
  try {
    while (ran < limit) {
      const batch: string[] = [];
      while (batch.length < Math.min(BATCH, limit)) {
        const command = next();
        judged++;
        if (campaign.passes(command)) batch.push(command);
      }
      const { observed, changed } = runner.run(batch);
      if (changed) {
        effects++;
        report(`allowed by a rule, and one of these changes a file: ${JSON.stringify(batch)}`);
      }
      for (const [index, command] of batch.entries()) {
        const started = observed[index]?.programs;
        if (started === undefined || campaign.problem(command, started) === undefined) continue;
        // What an earlier command left running may have started it.
        const again = campaign.problem(command, runner.run([command]).observed[0]?.programs ?? started);
        if (again === undefined) continue;
        effects++;
        report(`passes the rules: ${JSON.stringify(command)} ${again}`);
      }
      ran += observed.filter((found) => found !== undefined).length;
    }
    return { judged, ran, effects };
  } finally {
    runner.remove();
    workspace.remove();
  }
}
