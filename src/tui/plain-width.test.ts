/** The widget library is the oracle: a text that is plain has the width and the rows that the library gives it. */
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainWidth } from "./plain-width.ts";
import { widgets } from "./widgets.ts";

const BMP = 0x1_0000;
const styles = ["\u001b[1m", "\u001b[38;5;12m", "\u001b[0m"];
const signs = [..."aZ ~·…›✓✗─│∴⠋→é", "構", "🚀", "\u0301", "\u200d", "\ufe0f", "\n", "\t", ...styles];
const texts = fc.array(fc.constantFrom(...signs), { maxLength: 24 }).map((parts) => parts.join(""));

test("each plain character has one column", () => {
  const wrong: string[] = [];
  let plain = 0;
  for (let code = 0; code < BMP; code++) {
    const text = String.fromCharCode(code);
    if (plainWidth(text) === undefined) continue;
    plain += 1;
    if (visibleWidth(text) !== 1 || visibleWidth(`a${text}b`) !== 3) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
  expect(plain).toBeGreaterThan(1_000);
});

test("widths, cuts and rows are those of the library", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 30 }), (text, columns) => {
      expect(widgets.visibleWidth(text)).toBe(visibleWidth(text));
      expect(widgets.truncateToWidth(text, columns, "…")).toBe(truncateToWidth(text, columns, "…"));
      expect(widgets.truncateToWidth(text, columns)).toBe(truncateToWidth(text, columns, "…"));
      expect(widgets.wrapTextWithAnsi(text, columns)).toEqual(wrapTextWithAnsi(text, columns));
    }),
  );
});

test.each(["構文", "🚀", "e\u0301", "a\tb", "a\nb", "\u001b]8;;x\u0007", "\u202e", "\u00ad"])(
  "%j is for the library",
  (text) => {
    expect(plainWidth(text)).toBeUndefined();
  },
);
