import { describe, expect, test } from "vitest";
import { beginningOf, CUT_LOOK_CHARS, cutAtBlank, cutMiddleBytes, endOf } from "./cut-text.ts";

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

test.each([
  ["ascii", "a".repeat(1_000)],
  ["Cyrillic", "привет ".repeat(100)],
  ["emoji", "👩‍💻".repeat(100)],
  ["long characters at its ends", `${"語".repeat(200)}${"a".repeat(5_000)}${"語".repeat(200)}`],
])("a text of %s loses its middle to fit into bytes, and no character is halved", (_, text) => {
  for (const max of [0, 9, 50, 333, 1_000_000]) {
    const cut = cutMiddleBytes(text, max);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
    expect(cut.isWellFormed()).toBe(true);
    if (max >= 50) expect(Buffer.byteLength(cut)).toBeGreaterThan(Math.min(max, text.length) / 3);
  }
});
