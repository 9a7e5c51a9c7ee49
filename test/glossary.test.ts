/** The glossary has one row for one word, so that a word cannot come to mean two things. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

test("each word of the glossary stands once", () => {
  const text = readFileSync(resolve(import.meta.dirname, "../GLOSSARY.md"), "utf8");
  const words = [...text.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, cell = ""]) => cell.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "word" && word !== "---");
  expect(words.length).toBeGreaterThan(100);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});
