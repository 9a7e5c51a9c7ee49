import fc from "fast-check";
import { expect, it } from "vitest";
import { diffLines, withContext } from "./line-diff.ts";

const show = (before: string, after: string) =>
  diffLines(before.split(""), after.split(""))
    .map(({ mark, text }) => (mark === " " ? text : mark + text))
    .join("");

it("keeps what is common and marks the rest", () => {
  expect(show("abc", "abc")).toBe("abc");
  expect(show("abcd", "axcd")).toBe("a-b+xcd");
  expect(show("abcde", "bdxe")).toBe("-ab-cd+xe");
  expect(show("", "a")).toBe("+a");
});

it("gives both sides back", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = diffLines(before, after);
      const side = (other: string) => diff.filter(({ mark }) => mark !== other).map(({ text }) => text);
      expect([side("+"), side("-")]).toEqual([before, after]);
    }),
  );
});

it("falls back to whole blocks above its bound", () => {
  const many = (start: number) => Array.from({ length: 3000 }, (_, index) => `${start + index}`);
  const diff = diffLines(["x", ...many(0)], ["x", ...many(10_000)]);
  expect(diff.slice(0, 2).map(({ mark }) => mark)).toEqual([" ", "-"]);
  expect(diff).toHaveLength(6001);
});

it("shows a few lines around each change", () => {
  const diff = diffLines([..."abcdefghij"], [..."abcdeXghij"]);
  const shown = withContext(diff, 2).map((line) => (line === undefined ? "…" : line.mark + line.text));
  expect(shown).toEqual(["…", " d", " e", "-f", "+X", " g", " h", "…"]);
});
