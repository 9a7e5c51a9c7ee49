import { expect, test } from "vitest";
import { cutAtBlank } from "./cut-text.ts";

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
