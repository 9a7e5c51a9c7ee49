import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { visibleJson, visibleLine, visibleLines, visibleProse, visibleRow, visibleUnits } from "./visible-text.ts";

/** Every UTF-16 unit, lone surrogates included, with the ones that matter more often than chance would have them. */
const unit = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) },
  { weight: 3, arbitrary: fc.constantFrom(..."⟨⟩U+200B⏎⇥ \t\ne\u0301\u0338\u200b\u200d\ufe0f\u{1f469}\u27e8") },
);
const anyText = fc.array(unit, { maxLength: 30 }).map((units) => units.join(""));

/** Written without the tables of the module: no general category that a terminal hides, marks only on a letter and few. */
function isVisible(text: string): boolean {
  return (
    !/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u.test(text) &&
    !/\p{Zs}/u.test(text.replaceAll(" ", "")) &&
    !/\p{Default_Ignorable_Code_Point}/u.test(text) &&
    !/(?:^|[^\p{L}\p{N}\p{M}])\p{M}/u.test(text) &&
    !/\p{M}{5}/u.test(text)
  );
}

describe("visible text", () => {
  test("consists of visible characters alone", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(isVisible(visibleLine(text))).toBe(true);
        expect(isVisible(visibleLines(text).replaceAll("\n", ""))).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test("can be read back, so that two texts never look the same", () => {
    const readBack = (shown: string): string =>
      shown.replace(/⟨U\+([0-9A-F]+)⟩|⇥ {3}|⏎/gu, (found, code?: string) =>
        code === undefined ? (found === "⏎" ? "\n" : "\t") : String.fromCodePoint(Number.parseInt(code, 16)),
      );
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readBack(visibleLine(text))).toBe(text);
        expect(readBack(visibleLines(text))).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  test("writes out each kind that a terminal hides or obeys", () => {
    const hidden = [
      ..."\u0000\u001b\u007f\u009b\r\u00a0\u00ad\u034f\u061c\u115f\u180e\u2000\u200b\u200f\u2028\u202e\u2066\u2800\u3000\u3164\ue000\ufe0f\ufeff\uffa0\uffff",
      ..."\u{1d159}\u{e0041}\u{e0100}\u{10ffff}",
      "\ud800",
      "\udfff",
    ];
    for (const character of hidden) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      expect(visibleLine(`a${character}b`)).toBe(`a⟨U+${code}⟩b`);
    }
    expect(visibleLine("a\tb\nc")).toBe("a⇥   b⏎c");
    expect(visibleLines("a\tb\nc")).toBe("a⇥   b\nc");
  });

  test("leaves what people write as it is", () => {
    for (const text of ["touch 'a b' \\u{200b} > x", "naïve café", "e\u0301te\u0301", "дом 你好 ✅ ⟨ψ|φ⟩", "ไม่ नमस्ते"]) {
      expect(visibleLine(text)).toBe(text);
    }
  });

  test("does not let text forge an escape, nor marks pile up", () => {
    expect(visibleLine("⟨U+200B⟩")).toBe("⟨U+27E8⟩U+200B⟩");
    expect(visibleLine("⏎⇥")).toBe("⟨U+23CE⟩⟨U+21E5⟩");
    expect(visibleLine("\u0301;\u0338")).toBe("⟨U+0301⟩;⟨U+0338⟩");
    expect(visibleLine(`e${"\u0301".repeat(6)}`)).toBe(`e${"\u0301".repeat(4)}⟨U+0301⟩⟨U+0301⟩`);
  });

  test("takes time in proportion to the text, and stays within eight times its length", () => {
    for (const piece of ["\u0301", "e\u0301", "⟨U", "\u200d\u{1f469}", "\ud800", "\ufe0f"]) {
      const text = piece.repeat(200_000 / piece.length);
      const computedMs = computingTime();
      expect(visibleLine(text).length).toBeLessThanOrEqual(8 * text.length);
      visibleProse(text);
      expect(computedMs()).toBeLessThan(5000);
    }
  });

  test("is cut between whole escapes and whole letters", () => {
    expect(visibleLine("a\u200be\u0301").match(visibleUnits)).toEqual(["a", "⟨U+200B⟩", "e\u0301"]);
  });
});

describe("prose", () => {
  test("keeps layout, emoji and the joiners of scripts; nothing steers or hides", () => {
    for (const text of ["a\tb\nc", "⚠️ 👩‍💻 ✅", "mot\u202f!", "می\u200cخواهم"]) expect(visibleProse(text)).toBe(text);
    expect(visibleProse("a\u200b\u001b[31m\u202e\r\u{e0041}")).toBe("a⟨U+200B⟩⟨U+001B⟩[31m⟨U+202E⟩⟨U+000D⟩⟨U+E0041⟩");
    expect(visibleProse("a\u200cb ✅\ufe0e")).toBe("a⟨U+200C⟩b ✅⟨U+FE0E⟩");
  });
});

describe("JSON", () => {
  test("says the same without hidden characters", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = visibleJson(JSON.stringify({ [text]: text }));
        expect(JSON.parse(json)).toEqual({ [text]: text });
        expect(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u.test(json)).toBe(false);
      }),
    );
  });
});

test("a row of a list keeps its tabs and is one row", () => {
  expect(visibleRow("a\tb\nc\u200b\u001b[2J")).toBe(`a\tb⏎c${visibleLine("\u200b\u001b")}[2J`);
});
