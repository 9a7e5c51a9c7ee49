/** Long shell commands of one repeated piece, which make careless matching slow; and how long the judge takes over them. */
import { readFileSync } from "node:fs";
import { blockedProgram, quietDecision, suggestArgvGlob } from "../../src/governance/quiet-preset.ts";
import { evaluateRules, parseRule } from "../../src/governance/rules.ts";
import type { Rng } from "./shell-transforms.ts";
import { createRng } from "./tampering.ts";

export interface StressFigures {
  readonly judged: number;
  /** The slowest command, each at its best of a few: another process may have had the machine. */
  readonly worstMs: number;
  readonly worst: string;
}

const LENGTHS = [100, 180, 400, 1300, 2500, 5000, 32_000];
const STARTS = [
  ..."ls |cat |echo |git log |git tag |git stash show |git reflog |find . |awk '|sed '|jq '|sort |a | xargs |x=|env |".split(
    "|",
  ),
  ..."tar |ssh |bash -c '|python |cat <<E\n|echo \"|echo $(|curl |rm |[ |printf |for i in ".split("|"),
];
const UNITS = [
  "a",
  "a ",
  "-l ",
  "--a ",
  "a=b ",
  "a;",
  "a|b",
  "*a",
  "?",
  "[a",
  "{a,",
  "../",
  "9.",
  "<(a) ",
  "$x ",
  "`",
  "xargs ",
  "nice ",
];
const ENDS = ["", "!", " x", "'", '"', ")", "]", "}", "\nE", "é", " | cat"];
/** What took longer is timed again. */
const RETIMED_MS = 10;

/** Judges so many commands as a call with rules is judged, its disk left out. */
export function stressJudge(seed: number, count: number, now: () => number): StressFigures {
  const next = createStress(createRng(seed));
  const rules = [
    parseRule("Bash", "allow", "stress"),
    parseRule("Bash(rm *)", "deny", "stress"),
    parseRule("Bash(*a*b* *c*d* --x=*)", "deny", "stress"),
    parseRule("Bash(a*a*a*b)", "allow", "stress"),
  ];
  const timed = (command: string): number => {
    const started = now();
    const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
    evaluateRules(rules, call);
    blockedProgram(command);
    quietDecision(call, "/w");
    suggestArgvGlob(command);
    return now() - started;
  };
  let worst = "";
  let worstMs = 0;
  for (let judged = 0; judged < count; judged++) {
    const command = next();
    let tookMs = timed(command);
    // A blank behind the command keeps the answer from being remembered.
    for (let tries = 1; tries <= 4 && tookMs > RETIMED_MS; tries++)
      tookMs = Math.min(tookMs, timed(command + " ".repeat(tries)));
    if (tookMs <= worstMs) continue;
    worstMs = tookMs;
    worst = command;
  }
  return { judged: count, worstMs, worst };
}

function createStress(rng: Rng): () => string {
  const pieces = JSON.parse(readFileSync(new URL("../corpora/shell-fuzz.json", import.meta.url), "utf8")) as {
    readonly tokens: readonly string[];
  };
  const units = [...UNITS, ...pieces.tokens];
  const pick = <T>(items: readonly T[]): T => items[Math.floor(rng() * items.length)] as T;
  return () => {
    const [start, unit, end] = [pick(STARTS), rng() < 0.8 ? pick(units) : pick(units) + pick(units), pick(ENDS)];
    return start + unit.repeat(Math.max(1, Math.floor((pick(LENGTHS) - 50) / unit.length))) + end;
  };
}
