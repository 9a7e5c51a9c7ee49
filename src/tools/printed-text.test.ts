/** The output of a background command, by position. */
import { expect, test } from "vitest";
import { createRedactor } from "#redaction";
import { createPrintedText, KEPT_CHARS } from "./printed-text.ts";

const SECRET = `ghp_${"aB3d".repeat(9)}`;
const created = () => createPrintedText(() => createRedactor().createStreamRedactor());

test("is read from where the reader stopped, without a word that may go on", () => {
  const printed = created();
  printed.add("one\nhal");
  const { text, next } = printed.read(0, 100);
  expect(text).toBe("one\n");
  expect(printed.read(next, 100)).toEqual({ text: "", next, missed: 0 });
  printed.add("f\nend");
  printed.end();
  expect(printed.read(next, 100)).toEqual({ text: "half\nend", next: 12, missed: 0 });
  expect(printed.read(9, 2)).toEqual({ text: "en", next: 11, missed: 0 });
  expect(printed.read(999, 100)).toEqual({ text: "", next: 12, missed: 0 });
});

test("a line that does not end is not waited for", () => {
  const printed = created();
  printed.add("x ".repeat(5_000));
  expect(printed.read(0, 100).text).toHaveLength(100);
});

test("no part of a secret is read, from any position, also where old output is dropped", () => {
  const printed = created();
  // Not a divisor of what is kept, so that the cut moves through the lines.
  const line = `${"-".repeat(37)} ${SECRET}\n`;
  for (let at = 0; at < 3 * KEPT_CHARS; at += line.length) {
    for (let cut = 0; cut < line.length; cut += 13) printed.add(line.slice(cut, cut + 13));
  }
  printed.end();
  expect(printed.read(0, 300).missed).toBeGreaterThan(0);
  for (let from = 0; from < 200; from++) expect(printed.read(from, 300).text).not.toContain("aB3d");
  const { missed } = printed.read(0, 1);
  for (let from = missed; from < missed + 200; from++) expect(printed.read(from, 20).text).not.toContain("aB3d");
});

test("a flood leaves the end, and says what is missing", () => {
  const printed = created();
  for (let at = 0; at < 100; at++) printed.add("x ".repeat(KEPT_CHARS / 20));
  printed.end();
  const { missed, next } = printed.read(0, 10);
  expect(missed).toBeGreaterThanOrEqual(8 * KEPT_CHARS);
  expect(next).toBe(missed + 10);
});
