/**
 * Programs that start others, asked themselves which of their words they start: each option is tried in front of the words 1 2 3 4,
 * each of which is a program that leaves a mark. A deny rule for the one that started must see it. Linux only.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluateRules, parseRule } from "../../src/governance/rules.ts";
import { PREFIXES } from "../../src/governance/shell/launchers.ts";

const WORDS = ["1", "2", "3", "4"];
const ALL_LETTERS = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"];
/** What waits for more than this has started nothing. */
const PATIENCE_S = "0.5";
/** Their words are for another user or service, whom nobody may become here, or the shell reads them itself. */
const LEFT_OUT = new Set("sudo su doas runuser systemd-run exec builtin command busybox toybox ssh npx".split(" "));

export interface WrapperFigures {
  readonly programs: readonly string[];
  readonly tried: number;
  /** Of these, those that started one of the words. */
  readonly started: number;
  /** Commands that start what a deny rule names, and that the rules let pass. */
  readonly passed: readonly string[];
}

/** `all`: every letter, not only those that the program's help names. */
export function tryWrapperOptions(options: {
  readonly all: boolean;
  readonly report?: (line: string) => void;
}): WrapperFigures {
  const folder = mkdtempSync(join(tmpdir(), "harness-wrappers-"));
  const [bin, log] = [join(folder, "bin"), join(folder, "log")];
  mkdirSync(bin);
  for (const word of WORDS) {
    writeFileSync(join(bin, word), `#!/bin/sh\necho ${word} >> '${log}'\n`);
    chmodSync(join(bin, word), 0o755);
  }
  /** In a folder of its own, because some write files that are named like their words. */
  function startedBy(command: string): string[] {
    const cwd = mkdtempSync(join(folder, "cwd-"));
    rmSync(log, { force: true });
    const args = ["-s", "KILL", PATIENCE_S, "bash", "-c", `PATH=${bin}:$PATH; ${command}`];
    spawnSync("timeout", args, { cwd, stdio: "ignore" });
    rmSync(cwd, { recursive: true, force: true });
    return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  }
  const programs = Object.keys(PREFIXES).filter((name) => !LEFT_OUT.has(name) && isThere(name));
  const passed: string[] = [];
  let [tried, started] = [0, 0];
  try {
    for (const name of programs) {
      for (const option of optionsOf(name, options.all)) {
        const command = `${name} ${option} ${WORDS.join(" ")}`;
        const found = new Set(startedBy(command));
        tried += 1;
        if (found.size > 0) started += 1;
        for (const word of found) if (isAllowed(command, word)) passed.push(`${command} starts ${word}`);
      }
      options.report?.(`${name}: ${tried} tried, ${started} started a word, ${passed.length} passed`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { programs, tried, started, passed };
}

function isThere(name: string): boolean {
  return spawnSync("bash", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;
}

function optionsOf(name: string, all: boolean): string[] {
  const help = spawnSync("timeout", ["2", name, "--help"], { encoding: "utf8" });
  const text = `${help.stdout}${help.stderr}`;
  const letters = all ? ALL_LETTERS : named(text, /(?<![\w-])-(\w)(?![\w-])/g);
  const longs = named(text, /(?<![\w-])--([a-z][a-z-]*[a-z])/g).filter((long) => long !== "help" && long !== "version");
  return [
    "",
    ...letters.flatMap((letter) => [`-${letter}`, `-${letter}1`]),
    ...longs.flatMap((long) => [`--${long}`, `--${long}=1`]),
  ];
}

function named(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name))];
}

function isAllowed(command: string, word: string): boolean {
  const rules = [parseRule("Bash", "allow", "allow"), parseRule(`Bash(${word} *)`, "deny", "deny")];
  const call = { tool: "exec", label: "Bash", class: "mutating", args: { command }, subject: command } as const;
  return evaluateRules(rules, call).effect === "allow";
}
