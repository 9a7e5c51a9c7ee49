/** The parser is the oracle: whatever the short way reads, the parser reads the same way, places included. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { readPlainYaml } from "./plain-yaml.ts";
import type { Problem } from "./project.ts";
import { parseAnyYaml } from "./yaml-tree.ts";

const PIECES = [
  ..."abzAZ019_-:#,.?!&*@%|>{}[]'\"\\/ \t~=<ü語é",
  ": ",
  " #",
  "true",
  "null",
  "yes",
  "0x1f",
  "1e3",
  ".inf",
  "---",
  "- ",
  "? ",
  "\u00a0",
  "\u2028",
  "\u0085",
  "\ufeff",
  "\r",
  "\n",
  "\n  ",
  "\nkey: ",
  "\n# c\n",
];
const value = fc
  .tuple(fc.constantFrom("a", "b c", "Z-", "'", '"', ""), fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }))
  .chain(([begin, pieces]) => fc.constantFrom("", begin).map((end) => `${begin}${pieces.join("")}${end}`));
const key = fc.constantFrom("name", "description", "allowed-tools", "true", "Null", "a", "_x", "1", "a b", "'q'");
const text = fc
  .array(fc.tuple(key, fc.constantFrom(": ", ": ", ": ", ": ", ":", ":  "), value), { minLength: 1, maxLength: 3 })
  .chain((lines) => {
    const written = lines.map((line) => line.join(""));
    const blanks = fc.constantFrom("", "", "\n", "\n\n");
    return fc.tuple(blanks, blanks, blanks).map(([begin, between, end]) => begin + written.join(`\n${between}`) + end);
  });

test("reads only what the parser reads the same way", () => {
  let read = 0;
  fc.assert(
    fc.property(text, (given) => {
      const short = readPlainYaml("f", given);
      if (short === undefined) return;
      read += 1;
      const problems: Problem[] = [];
      expect([short, []]).toEqual([parseAnyYaml("f", given, problems), problems]);
    }),
    { numRuns: 4_000 },
  );
  expect(read).toBeGreaterThan(100);
});

test.each([
  ["a: x\n", true],
  ["name: review\ndescription: Reviews a change, thoroughly (see docs/a.md)\nlicense: 'MIT'", true],
  ['name: "a # b"', true],
  ["\na: x\n\nb: y\n\n", true],
  ["\n", false],
  ["a: true", false],
  ["a: x\na: y", false],
  ["a: x: y", false],
  ["a: x #c", false],
  ["a: 7", false],
  ["a:\n  b: c", false],
  ['a: "\\n"', false],
  ["a: x\r\nb: y", false],
])("%j is read without the parser: %s", (given, isRead) => {
  expect(readPlainYaml("f", given) !== undefined).toBe(isRead);
});
