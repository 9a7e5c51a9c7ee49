/** How long it takes to judge commands that flood a program with words. */
import { quietDecision } from "../../src/governance/quiet-preset.ts";
import { computingTime } from "./computing-time.ts";

const isQuiet = (command: string): boolean => quietDecision({ tool: "exec", args: { command } }, "/w").quiet;

/** What a program could be flooded with: words of every table, and signs that patterns try in several ways. */
const TOKENS = [
  ..."- -- -l -a= --a= == -=/ / // ' \" \\ [ [: ] ( ) { } $ * ? ! , ; # % %( %C( @ ~ ^ : :: = . .. a 1".split(" "),
  ..."-n5 --sort=x --format=%h HEAD stash@{0} x=1 -v -e -exec {} + -name s/ y/ p; b .a | if then end $x".split(" "),
  " ",
  "\t",
  "\n",
  "é",
];
const PROGRAMS = [
  ..."awk sed jq find grep rg ls xxd printf test date sort xargs echo tree bat iconv".split(" "),
  ..."tag reflog stash log branch config for-each-ref diff show".split(" ").map((name) => `git ${name}`),
];

function judgingMs(command: string): number {
  const computedMs = computingTime();
  isQuiet(command);
  return computedMs();
}

/**
 * Commands that take long to judge. Each program gets every `everyNth` word that it could be flooded with, and each the words of
 * another share.
 */
export function slowToJudge(everyNth: number): readonly string[] {
  const slow: string[] = [];
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  for (const [index, program] of PROGRAMS.entries()) {
    isQuiet(`${program} ${"x".repeat(100_000)}`);
    for (const token of TOKENS.filter((_, place) => (place + index) % everyNth === 0)) {
      const many = Math.floor(30_000 / (Buffer.byteLength(quoted(token)) + 1));
      const commands = [
        `${program} ${quoted(token.repeat(many))} x`,
        `${program} ${quoted(token.repeat(Math.min(many, 1900)))} x`,
        `${program} --format=${quoted(`${token} `.repeat(Math.min(many, 900)))} x`,
        `${program} ${`${quoted(token)} `.repeat(200)}${token === "*" ? "* ".repeat(1700) : ""}x`,
      ];
      for (const command of commands) {
        // Cleaning up memory may fall into one attempt, not into each of four.
        if ([1, 2, 3, 4].every(() => judgingMs(command) > 50)) slow.push(command.slice(0, 60));
      }
    }
  }
  return slow;
}
