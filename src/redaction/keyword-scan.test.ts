/** The keyword pass finds what looking for each keyword by itself would find. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createKeywordScan } from "./keyword-scan.ts";

const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", "é"), maxLength: 40 });
const keyword = fc.string({ unit: fc.constantFrom("a", "b", "c", "é"), minLength: 1, maxLength: 4 });

test("every occurrence of every keyword is told, in the order of their ends", () => {
  fc.assert(
    fc.property(letters, fc.uniqueArray(keyword, { minLength: 1, maxLength: 6 }), (text, keywords) => {
      const told: string[] = [];
      createKeywordScan(keywords).scan(text, 0, (number, at, after) => {
        expect(text.slice(at, after).toLowerCase()).toBe(keywords[number]);
        told.push(`${after}:${number}`);
      });
      const plain = text.toLowerCase();
      const expected: string[] = [];
      for (let after = 1; after <= text.length; after++) {
        keywords.forEach((word, number) => {
          if (plain.slice(0, after).endsWith(word)) expected.push(`${after}:${number}`);
        });
      }
      expect([...told].sort()).toEqual(expected.sort());
    }),
  );
});

test("tells how much of the end could be the beginning of a keyword", () => {
  const { scan } = createKeywordScan(["password", "word count"]);
  const partial = (text: string): number => scan(text, 0, () => undefined);
  expect(partial("my PASSW")).toBe(5);
  expect(partial("my password")).toBe(8);
  expect(partial("a word c")).toBe(6);
  expect(partial("nothing.")).toBe(0);
});

test("keywords are found apart, each where it ends", () => {
  const hits: [number, number][] = [];
  const text = "S e-C:r E.t, sec.x ret";
  createKeywordScan(["secret", "ret"], true).scan(text, 0, (keyword, _, after) => hits.push([keyword, after]));
  expect(hits).toEqual([
    [0, text.indexOf("t,") + 1],
    [1, text.indexOf("t,") + 1],
    [1, text.length],
  ]);
});
