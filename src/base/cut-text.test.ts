import { describe, expect, test } from "vitest";
import { beginningOf, CUT_LOOK_CHARS, cutAtBlank, endOf } from "./cut-text.ts";

test.each([
  ["short", 10, "short"],
  ["one two three", 9, "one two"],
  ["one two three", 7, "one two"],
  ["one two three", 6, "one"],
  ["onelongword", 5, ""],
  [`the key: 1 ${"a".repeat(64)} 2 ${"b".repeat(64)} 3 ${"c".repeat(64)}`, 160, "the key:"],
])("%j cut at %d is %j", (text, max, expected) => {
  expect(cutAtBlank(text, max)).toBe(expected);
});

describe("the beginning and the end of a text", () => {
  test.each([
    ["short", 10, "short", "short"],
    ["one\ntwo\nthree\n", 8, "one\ntwo\n", "three\n"],
    ["one\ntwo\nthree\n", 9, "one\ntwo\n", "three\n"],
    ["one\ntwo\nthree\n", 10, "one\ntwo\n", "two\nthree\n"],
    ["name: value, other: word", 10, "name: ", " word"],
    ["name: value, other: word", 16, "name: value, ", " other: word"],
    ['{"a":"secret","b":"more"}', 11, '{"a":"', 'ore"}'],
    ['{"a":"secret","b":"more"}', 16, '{"a":"secret","', '"b":"more"}'],
    ["oneword", 4, "on", "rd"],
  ])("%j cut to %d is %j or %j", (text, max, beginning, end) => {
    expect(beginningOf(text, max)).toBe(beginning);
    expect(endOf(text, max)).toBe(end);
  });

  test("a long word is cut further in, and no character in its middle", () => {
    const word = "😀".repeat(CUT_LOOK_CHARS);
    for (const max of [1.5 * CUT_LOOK_CHARS, 1.5 * CUT_LOOK_CHARS + 1]) {
      for (const part of [beginningOf(word, max), endOf(word, max)]) {
        expect(part).toBe("😀".repeat(0.375 * CUT_LOOK_CHARS));
      }
    }
  });
});
