import { expect, test } from "vitest";
import { slowToJudge } from "../../../test/fakes/judging-time.ts";
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

test("no input takes long to judge", () => {
  // `test/campaigns/judging-time.test.ts` tries every word on every program.
  expect(slowToJudge(5)).toEqual([]);
});
