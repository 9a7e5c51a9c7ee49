/** Holds generated shell commands against rules, runs those that the rules let pass, and counts what should not have happened. */
import { evaluateRules, parseRule, type RuleEffect } from "../../src/governance/rules.ts";
import { analyseShell } from "../../src/governance/shell/analysis.ts";
import { everyCommand } from "../../src/governance/shell/command.ts";
import { programName } from "../../src/governance/shell/wrappers.ts";
import { matchWildcard } from "../../src/governance/wildcard.ts";
import { createCandidates } from "./shell-candidates.ts";
import { changersAmong, type ShellFuzzOptions, strangers } from "./shell-fuzz.ts";
import type { Observed, OracleOptions } from "./shell-oracle.ts";
import { type AllowedSet, allowRules, CANARY_WORD, type DeniedSet, denyRules, spellings } from "./shell-rule-sets.ts";
import { createShellWorkspace } from "./shell-workspace.ts";
import { createRng } from "./tampering.ts";

/** GNU parallel removes the temporary file with which it measures the longest command line, whatever the command says. */
const OWN_CLEANING = /^rm \/tmp\/par\w+\.tst$/;

export interface RuleFigures {
  readonly judged: number;
  readonly ran: number;
  readonly effects: number;
}

export interface RuleFuzzOptions extends ShellFuzzOptions {
  /** Called after each batch. */
  readonly progress?: (figures: RuleFigures) => void;
  /** Instead of the generated ones. */
  readonly candidates?: () => string;
  /** Instead of the judge, to see that the campaign finds what a judge lets pass. */
  readonly isAllowed?: (command: string) => boolean;
}

const BATCH = 400;

/** Of commands that `allow Bash` lets pass beside deny rules: how many start what is denied. All other programs are real. */
export function fuzzDenied(options: RuleFuzzOptions, set: DeniedSet, ran: number): RuleFigures {
  const denied = set.denied.map((pattern) => pattern.replace(/ \*$/, "").split(" "));
  const programs = denied.map(([program = ""]) => program);
  const isAllowed = options.isAllowed ?? judgedBy(denyRules(set));
  const isNear = (command: string): boolean => {
    const plain = command.replace(/['"\\\n]/g, "");
    return command.includes(CANARY_WORD) || programs.some((program) => plain.includes(program));
  };
  const recorded = new Set([...programs, ...TOO_SLOW]);
  const next =
    options.candidates ??
    createCandidates(createRng(options.seed), { canaries: set.denied.flatMap(spellings), launchers: true });
  return fuzzRules(options, ran, next, {
    // The commands may do anything else, so the workspace is held.
    oracle: {
      writable: false,
      programs: "standIns",
      standIns: { isRecorded: (name) => recorded.has(name), extra: programs },
    },
    passes: (command) => isNear(command) && isAllowed(command),
    problem(_, { started = [] }) {
      const found = started.find(
        (words) =>
          !OWN_CLEANING.test(words.join(" ")) &&
          denied.some((prefix) => prefix.every((word, index) => words[index] === word)),
      );
      return found === undefined ? undefined : `starts ${found.join(" ")}`;
    },
  });
}

/** They wait, or take a while to begin, and start nothing that their arguments do not say in a language of their own. */
const TOO_SLOW = ["sleep"];

const PASSES_ON = "timeout nice env time command builtin stdbuf ionice bash sh dash ash rbash zsh".split(" ");

/** Of commands that a few allow rules let pass: how many start something else, change a file or read outside. */
export function fuzzAllowed(options: RuleFuzzOptions, set: AllowedSet, ran: number): RuleFigures {
  const named = set.allowed.map((pattern) => pattern.split(" ")[0] ?? "").map((program) => programName([program]));
  const isAllowed = options.isAllowed ?? judgedBy(allowRules(set));
  const real = new Set([...set.real, ...PASSES_ON]);
  const next = options.candidates ?? createCandidates(createRng(options.seed), { bases: set.bases, launchers: true });
  return fuzzRules(options, ran, next, {
    oracle: {
      writable: true,
      programs: "standIns",
      standIns: { isRecorded: (name) => !real.has(name), extra: named.filter((name) => /^\w+$/.test(name)) },
    },
    passes: isAllowed,
    problem(command, { programs }) {
      const [stranger] = strangers(command, programs);
      if (stranger !== undefined) return `starts ${stranger}`;
      const seen = [...everyCommand(analyseShell(command).commands)];
      const other = seen.find(
        ({ words }) => ![...named, ...PASSES_ON].some((name) => matchWildcard(name, programName(words))),
      );
      if (other !== undefined) return `may start ${other.words[0] ?? "nothing"}`;
      const outside = seen.find(
        ({ words }) => words[0] === "cat" && words.some((word) => /^[-/~].|(?:^|\/)\.\.(?:\/|$)/.test(word)),
      );
      return outside === undefined ? undefined : "reads outside, or has an option";
    },
  });
}

interface RuleCampaign {
  readonly oracle: OracleOptions;
  passes(command: string): boolean;
  problem(command: string, observed: Observed): string | undefined;
}

export function judgedBy(rules: readonly (readonly [RuleEffect, string])[]): (command: string) => boolean {
  const parsed = rules.map(([effect, text]) => parseRule(text, effect, "fuzz"));
  return (command) => {
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    return evaluateRules(parsed, call).effect === "allow";
  };
}

function fuzzRules(
  { oracle, report, progress }: RuleFuzzOptions,
  limit: number,
  next: () => string,
  campaign: RuleCampaign,
): RuleFigures {
  const workspace = createShellWorkspace();
  let runner = oracle(workspace.root, campaign.oracle);
  const seen = new Set<string>();
  let [judged, ran, effects] = [0, 0, 0];
  try {
    while (ran < limit) {
      const batch: string[] = [];
      while (batch.length < Math.min(BATCH, limit - ran)) {
        const command = next();
        judged++;
        if (seen.has(command) || !campaign.passes(command)) continue;
        seen.add(command);
        batch.push(command);
      }
      const { observed, changed } = runner.run(batch);
      if (changed) {
        const changers = changersAmong(batch, workspace.root, { oracle, options: campaign.oracle });
        effects += Math.max(1, changers.length);
        report(`passes the rules and changes a file: ${JSON.stringify(changers.length === 0 ? batch : changers)}`);
        runner.remove();
        workspace.restore();
        runner = oracle(workspace.root, campaign.oracle);
      }
      for (const [index, command] of batch.entries()) {
        const found = observed[index];
        if (found === undefined || campaign.problem(command, found) === undefined) continue;
        // What an earlier command left running may have started it.
        const again = campaign.problem(command, runner.run([command]).observed[0] ?? found);
        if (again === undefined) continue;
        effects++;
        report(`passes the rules: ${JSON.stringify(command)} ${again}`);
      }
      ran += observed.filter((found) => found !== undefined).length;
      progress?.({ judged, ran, effects });
    }
    return { judged, ran, effects };
  } finally {
    runner.remove();
    workspace.remove();
  }
}
