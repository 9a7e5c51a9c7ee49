/** The output of a background command, by position. */
import { expect, test } from "vitest";
import { createPrintedText, KEPT_CHARS } from "./printed-text.ts";

test("is read from where the reader stopped, in whole lines until it is over", () => {
  const printed = createPrintedText();
  printed.add("one\nhal");
  expect(printed.read(0, 100, false)).toEqual({ text: "one\n", next: 4, missed: 0 });
  expect(printed.read(4, 100, false)).toEqual({ text: "", next: 4, missed: 0 });
  printed.add("f\n");
  expect(printed.read(4, 100, false)).toEqual({ text: "half\n", next: 9, missed: 0 });
  printed.add("end");
  expect(printed.read(9, 2, true)).toEqual({ text: "en", next: 11, missed: 0 });
  expect(printed.read(999, 100, true)).toEqual({ text: "", next: 12, missed: 0 });
});

test("a line that does not end is not waited for", () => {
  const printed = createPrintedText();
  printed.add("x".repeat(10_000));
  expect(printed.read(0, 100, false).text).toHaveLength(100);
});

test("a flood leaves the end, and says what is missing", () => {
  const printed = createPrintedText();
  for (let at = 0; at < 100; at++) printed.add("x".repeat(KEPT_CHARS / 10));
  const { missed, next } = printed.read(0, 10, true);
  expect(missed).toBeGreaterThanOrEqual(10 * KEPT_CHARS - 2 * KEPT_CHARS);
  expect(next).toBe(missed + 10);
});
