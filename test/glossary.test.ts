/** The glossary has one row for one word, so that a word cannot come to mean two things, and no name has a word that it avoids. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

test("each word of the glossary stands once", () => {
  const text = readFileSync(resolve(import.meta.dirname, "../GLOSSARY.md"), "utf8");
  const words = [...text.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, cell = ""]) => cell.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "word" && word !== "---");
  expect(words.length).toBeGreaterThan(100);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

test("no exported name has a word that the glossary avoids", () => {
  const text = readFileSync(join(root, "GLOSSARY.md"), "utf8");
  const [, list = ""] = /^No exported name has one of these words: ([^.]+)\./m.exec(text) ?? [];
  const avoided = new Set(list.split(/,\s*/));
  expect(avoided.size).toBeGreaterThan(5);
  const names = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) => exportedNames(readFileSync(join(root, path), "utf8")).map((name) => `${path}: ${name}`));
  expect(names.length).toBeGreaterThan(1000);
  expect(names.filter((name) => wordsOf(name).some((word) => avoided.has(word)))).toEqual([]);
  expect(wordsOf("x.ts: createUntoldNotice")).toContain("untold");
});

function exportedNames(source: string): string[] {
  const exported = source.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm);
  return [...exported].map(([, name = ""]) => name);
}

function wordsOf(name: string): string[] {
  const [, identifier = ""] = name.split(": ");
  return identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[ _]/);
}
