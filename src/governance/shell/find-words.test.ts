import { expect, test } from "vitest";
import { quietDecision } from "../quiet-preset.ts";

const isQuiet = (command: string): boolean => quietDecision({ tool: "exec", args: { command } }, "/w").quiet;

test.each([
  "find . -H",
  "find src docs -type f -name '*.ts' -not -path '*/x/*' -printf '%p %s\\n'",
  "find -P . \\( -name a -o -name b \\) -newer package.json -print0",
  "find src -name '*.ts' -exec wc -l {} +",
])("%j: only known words are quiet", (command) => {
  expect(isQuiet(command)).toBe(command !== "find . -H");
});

test.each([
  "find . -delete",
  "find . -fprint x",
  "find . -fprint0 x",
  "find . -fprintf x %p",
  "find . -fls x",
  "find . -files0-from x",
  "find -files0-from x",
  "find -L .",
  "find -D tree .",
  "find . -follow",
  "find . -exec rm {} +",
  "find . -execdir cat {} +",
  "find . -ok cat {} \\;",
  "find . -okdir cat {} \\;",
  "find .. -name x",
  "find . -newer /etc/passwd",
  "find . -newerXt x",
  "find . -name *.ts",
  "find . -nam x",
])("%j asks", (command) => {
  expect(isQuiet(command)).toBe(false);
});
