import { expect, test } from "vitest";
import { scriptProblem } from "./scripts.ts";

test.each([
  ["sed", "1,10p"],
  ["sed", "s/é/e/g"],
  ["awk", '{print "→", $1}'],
  ["jq", ".a"],
] as const)("%s %j only reads", (language, program) => {
  expect(scriptProblem(language, program)).toBeUndefined();
});

test.each([
  ["sed", "w x"],
  ["sed", "s/a/b\\\nw x/"],
  ["awk", 'BEGIN { if (0) exit /"/; system("touch x"); if (0) exit /"/ }'],
  ["awk", "BEGIN { x = case / system(cmd) / 1 }"],
  ["awk", '/[]/]"/; system("touch x"); #"'],
  ["awk", '{system("x")}'],
  ["jq", "env"],
  ["jq", `. ${" ".repeat(2000)}`],
  ["awk", "{print}\r"],
  ["awk", '{print "\u0085"}'],
  // In another encoding the letter may swallow the backslash or the mark behind it.
  ["awk", '{print "é\\"; system("x"); "}'],
  ["sed", "s|é|x|"],
  ["jq", '"\ud800"'],
] as const)("%s %j asks", (language, program) => {
  expect(scriptProblem(language, program)).toMatch(new RegExp(`^the ${language} program`));
});
