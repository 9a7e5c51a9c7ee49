import { expect, test } from "vitest";
import { cutAtBlank } from "./cut-text.ts";

test.each([
  ["short", 10, "short"],
  ["one two three", 9, "one two"],
  ["one two three", 7, "one two"],
  ["one two three", 6, "one"],
  ["onelongword", 5, ""],
])("%j cut at %d is %j", (text, max, expected) => {
  expect(cutAtBlank(text, max)).toBe(expected);
});
