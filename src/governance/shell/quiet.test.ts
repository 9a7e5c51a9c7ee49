import { expect, test } from "vitest";
import { computingTime } from "../../../test/fakes/computing-time.ts";
import { quietDecision } from "../quiet-preset.ts";

const isQuiet = (command: string): boolean => quietDecision({ tool: "exec", args: { command } }, "/w").quiet;

test.each([
  "awk -v n=2 'NR==n' notes.txt",
  "awk '{print $1}' FS=, data.csv",
  "jq --arg n Ann --argjson x 1 '.[] | select(.name == $n)' users.json",
  "iconv -f latin1 -t utf8//TRANSLIT notes.txt",
  "cat notes.txt | xargs echo",
  "grep -lr export src | xargs wc -l",
  "bat -pp README.md",
  "xxd -c 8 -l 64 notes.txt",
  "cmp -s -n 5 a b",
])("%j is quiet", (command) => {
  expect(isQuiet(command)).toBe(true);
});

test.each([
  // One of the names that the pattern stands for would be the file that is written.
  "uniq *.txt",
  "xxd *.bin",
  "uniq a b",
  "sort --outp=x a",
  "sort -ro x a",
  "sort --compress-prog=x a",
  "tree -o x",
  "tree -R",
  "tree --outp x",
  "diff -l a b",
  "diff --to-f=x a b",
  "file -C -m x",
  "xxd -r a",
  "xxd --r a",
  "iconv -o x a",
  "iconv --outp=x a",
  "iconv -f ../x a",
  "date -s 1",
  "date 01010000",
  "hostname x",
  "rg --pre x y",
  "rg -z y",
  "grep --incl=x y z",
  "grep -f x y",
  "bat -p x",
  "objdump -dl x",
  "fd -x rm",
  "shuf -o x a",
  "less README.md",
  "split a",
  "tee a",
  "printf '%n' x",
  "awk -v OFMT=%n 1 x",
  "awk 1 OFMT=%n x",
  "awk 1 n=* x",
  "awk -f x y",
  "gawk -i inplace 1 x",
  "gawk --includ=x 1 x",
  "sed -i s/a/b/ x",
  "sed -n --in-place p x",
  "sed --expr=p x",
  "sed -f x y",
  "jq -f x y",
  "jq -L x . y",
  "jq --arg n",
  "jq --slurpfile a b . c",
  "test -v 'a[$(x)]'",
  "tr a *",
  "cat notes.txt | xargs printf",
  // The names become operands of a program that takes none to be quiet.
  "find src -name '*.ts' | xargs -n1 git branch",
  "find src -name '*.ts' -exec git branch {} +",
  "find src | xargs git tag",
  "find expire | xargs git reflog",
  "find src -maxdepth 0 | xargs hostname",
])("%j asks", (command) => {
  expect(isQuiet(command)).toBe(false);
});

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

test("no input takes long to judge", () => {
  const slow: string[] = [];
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  for (const program of PROGRAMS) {
    isQuiet(`${program} ${"x".repeat(100_000)}`);
    for (const token of TOKENS) {
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
  expect(slow).toEqual([]);
});
