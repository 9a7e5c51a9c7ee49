import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleLine } from "#base";
import { columnsOf, foreignRows, lineRows } from "./foreign-rows.ts";

const text = fc.string({ unit: fc.constantFrom(..."ab │↪>[o]\n\t\u200b漢é👩\u0301 "), maxLength: 300 });
const columns = fc.integer({ min: 20, max: 120 });

test("rows fit the screen, begin with a prefix of ours, and lose nothing", () => {
  fc.assert(
    fc.property(text, columns, (foreign, width) => {
      const rows = foreignRows({ columns: width, colour: false }, foreign);
      for (const row of rows) {
        expect(row.text).toMatch(/^ {2}[│↪] /);
        expect(columnsOf(row.text)).toBeLessThan(width);
      }
      const lines = rows.reduce((all, row) => all + row.text.slice(4) + (row.endsLine ? "\n" : ""), "");
      expect(lines).toBe(
        foreign
          .split("\n")
          .map((line) => `${visibleLine(line)}\n`)
          .join(""),
      );
      expect(rows.filter(({ text: row }) => row.startsWith("  │ "))).toHaveLength(foreign.split("\n").length);
    }),
  );
});

test("a long beginning has a row of its own on a narrow screen", () => {
  const rows = lineRows({ columns: 30, colour: false }, "  Would change the file: ", "a/b/c/d/e/f/g\n> o");
  expect(rows.map(({ text: row }) => row)).toEqual(["  Would change the file:", "  ↪ a/b/c/d/e/f/g⏎> o"]);
});

test("what was written out stands out where there are colours", () => {
  expect(lineRows({ columns: 80, colour: true }, "", "a\u200bb")[0]?.text).toBe("a\u001b[7m⟨U+200B⟩\u001b[27mb");
});
