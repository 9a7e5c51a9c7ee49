import { expect, test } from "vitest";
import { scriptProblem } from "./shell-scripts.ts";

test.each([
  ["sed", "1,10p"],
  ["sed", "/a/,/b/p"],
  ["sed", "s/a\\/b/c/g;s|x|y|2p"],
  ["sed", "/^$/d\n$!{N;D}"],
  ["sed", "y/abc/xyz/"],
  ["sed", "10q"],
  ["sed", "s/[[:space:]]*x[^,]/y/;/^[]a-z\\/]/p"],
  ["awk", '{print $1 ": " $NF}'],
  ["awk", "/a|b/ && $2 > 5 {n++} END {print n / 2}"],
  ["awk", '{gsub(/"?x/, "y"); print}'],
  ["awk", "!seen[$0]++"],
  ["jq", '.env | .[] | "\\(.name)"'],
] as const)("%s %j only reads", (language, program) => {
  // A quote inside a pattern is more than the scanner follows.
  const expected = program.includes('/"?x/') ? "the awk program is not understood" : undefined;
  expect(scriptProblem(language, program)).toBe(expected);
});

test.each([
  ["sed", "w x"],
  ["sed", "1,2w x"],
  ["sed", "s/a/b/w x"],
  ["sed", "s/a/b/e"],
  ["sed", "s/a/b/ge"],
  ["sed", "e ls"],
  ["sed", "r .env"],
  ["sed", "p;R x"],
  ["sed", "{p\nw x\n}"],
  ["sed", "pw x"],
  ["sed", "s/a/b"],
  ["sed", "s\na\nb\n"],
  ["sed", ":a;ba"],
  ["sed", "/[/s/]/w x/p"],
  ["sed", "s/[/]/;/w x/p"],
  ["sed", "s/[]/]/;/w x/p"],
  ["sed", "s/[[:alpha:]/]/;/w x/p"],
  ["sed", "s/[[.].]/]/;/w x/p"],
  ["awk", '{print > "x"}'],
  ["awk", '{print 1,\n2 > "x"}'],
  ["awk", '{print | "sh"}'],
  ["awk", '{system("x")}'],
  ["awk", '{while ((getline l < "x") > 0) print l}'],
  ["awk", '/"/ {print > "f"} /"/'],
  ["awk", 'BEGIN{i++ /1; system("x") /1}'],
  ["awk", "BEGIN{if (i++ /1) print 1 > f /1}"],
  ["awk", '@load "x"'],
  ["awk", "{ARGV[1]=1}"],
  ["jq", "env"],
  ["jq", '"\\($ENV)"'],
  ["jq", "$ ENV"],
  ["jq", 'import "x" as x; .'],
  ["jq", `. ${" ".repeat(2000)}`],
] as const)("%s %j may do more", (language, program) => {
  expect(scriptProblem(language, program)).toEqual(expect.any(String));
});

test("a hostile script is judged in a moment", () => {
  const started = performance.now();
  for (const text of [`${"p\n\n".repeat(600)}!`, `${"/a".repeat(900)}`, `${"s/".repeat(900)}`]) {
    scriptProblem("sed", text);
    scriptProblem("awk", text);
  }
  expect(performance.now() - started).toBeLessThan(500);
});
