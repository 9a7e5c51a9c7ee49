/** Code in answers: the colours, and that what is printed while an answer streams is what stands there when it is at hand at once. */
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { answerRows, finalRows } from "./answer-rows.ts";
import { MAX_CODE_CHARS, MAX_LINE_CHARS } from "./code-spans.ts";
import { themes } from "./theme.ts";
import type { AnswerBlock } from "./transcript.ts";
import { widgets } from "./widgets.ts";

const style = { columns: 60, theme: themes.dark, widgets, nowMs: 0 };
const CODE = [
  "Look:",
  "",
  "```ts",
  "/* one",
  "   two */",
  "const a = `x",
  "  $ {1}`; // end",
  "",
  "if (a) return 'a line that is much longer than the sixty columns of this screen';",
  "```",
  "",
  "Then:",
  "~~~~sh",
  'echo "$HOME" # ```',
  "~~~",
  "~~~~",
  "- a list",
  "  ```py",
  "  def f(): pass",
  "  ```",
  "",
  "The end.",
].join("\n");

function streamed(pieces: readonly string[]): string[] {
  let answer: AnswerBlock = { kind: "answer", key: "k", text: "", printed: 0, isDone: false };
  const printed: string[] = [];
  for (const piece of pieces) {
    const { rows, answer: next } = finalRows({ ...answer, text: answer.text + piece }, style);
    printed.push(...rows);
    answer = next;
  }
  return [...printed, ...answerRows(answer.text.slice(answer.printed), style, answer.fence)];
}

test("code that streams in any pieces is printed as if it had come at once", () => {
  const whole = answerRows(CODE, style);
  fc.assert(
    fc.property(fc.array(fc.nat(CODE.length), { maxLength: 60 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), CODE.length];
      expect(streamed(at.slice(1).map((to, n) => CODE.slice(at[n], to)))).toEqual(whole);
    }),
  );
});

test("finished lines of a fence are final before it ends", () => {
  const { rows, answer } = finalRows(
    { kind: "answer", key: "k", text: "```ts\nconst a = 1;\nconst", printed: 0, isDone: false },
    style,
  );
  expect(rows.map((row) => stripVTControlCharacters(row))).toEqual(["", "  const a = 1;"]);
  expect(answer.text.slice(answer.printed)).toBe("const");
});

test("each kind of word has its colour, and a comment goes on over lines", () => {
  const paint = themes.dark.paint;
  expect(answerRows("```ts\n/* a\n b */ const x = 'y'; // 1\n```", style).slice(1)).toEqual([
    `  ${paint("comment", "/* a")}`,
    `  ${paint("comment", " b */ ")}${paint("keyword", "const ")}${paint("name", "x ")}= ${paint("string", "'y'")}; ${paint("comment", "// 1")}`,
  ]);
});

test("without colours, and for a language that is not known, code is as it was written", () => {
  const text = "```brainf\n+[-->-[>>+>-----<<]<--<---]\n```";
  expect(answerRows(text, { ...style, theme: themes.none })).toEqual(["", "  +[-->-[>>+>-----<<]<--<---]"]);
  expect(answerRows(text, style)[1]).toBe(`  ${themes.dark.paint("code", "+[-->-[>>+>-----<<]<--<---]")}`);
});

test("a line of code that does not fit continues further in than it begins", () => {
  const text =
    "```\nif (a) {\n    return first_argument(with_a_long_name) + second_argument(with_another_name);\n```\n";
  const rows = answerRows(text, { ...style, columns: 40, theme: themes.none });
  expect(rows).toEqual([
    "",
    "  if (a) {",
    "      return",
    "        first_argument(with_a_long_name)",
    "        +",
    "        second_argument(with_another_nam",
    "        e);",
  ]);
});

test("what is too long stays in one colour", () => {
  const lines = ["x = 1", `y = "${"z".repeat(MAX_LINE_CHARS)}"`, "z = 1"];
  const { lines: spans } = widgets.codeLines(lines, widgets.codeCarry("py"));
  expect(spans.map((line) => line.length > 1)).toEqual([true, false, true]);
  const many = Array.from({ length: MAX_CODE_CHARS / 8 + 10 }, () => "x = 111");
  const shown = widgets.codeLines(many, widgets.codeCarry("py")).lines;
  expect([shown[0]?.length, shown.at(-1)]).toEqual([2, [{ text: "x = 111" }]]);
});

test("code of any kind of language is shown whole, whatever it is", () => {
  const names =
    "ts js json py sh go rs c cpp cs java kt scala dart swift rb lua pl ps1 sql css scss less html xml yaml toml ini dockerfile proto cmake diff";
  const sign = fc.constantFrom(
    ..."'\"`/*#$<>{}[]()|\\@%&;:=!-+.,? \tab0é".split(""),
    "<!--",
    "<<EOF",
    "'''",
    'r#"',
    "=begin",
    "{%",
  );
  const line = fc.array(sign, { maxLength: 12 }).map((signs) => signs.join(""));
  fc.assert(
    fc.property(fc.constantFrom(...names.split(" ")), fc.array(line, { maxLength: 12 }), (name, lines) => {
      const { lines: spans } = widgets.codeLines(lines, widgets.codeCarry(name));
      expect(spans.map((row) => row.map(({ text }) => text).join(""))).toEqual(lines);
    }),
    { numRuns: 2_000 },
  );
});

test("files are known by their names", () => {
  const known = ["src/a.ts", "Dockerfile", "a/CMakeLists.txt", "Gemfile", ".npmrc", "x.test.PY", "ts {1,3}", "C++"];
  expect(known.map((name) => widgets.codeCarry(name) !== undefined)).toEqual(known.map(() => true));
  expect(["", "text", "constructor", "README"].map((name) => widgets.codeCarry(name))).toEqual(
    Array(4).fill(undefined),
  );
});
