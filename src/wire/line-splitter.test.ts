import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLineSplitter, createTextLines, type Line } from "./line-splitter.ts";

const shown = (line: Line): string => ("tooLong" in line ? "TOO LONG" : Buffer.from(line.bytes).toString("utf8"));

function split(chunks: readonly Uint8Array[], maxBytes = 1000): string[] {
  const splitter = createLineSplitter(maxBytes);
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()].map(shown);
}

describe("line splitter", () => {
  test("gives the same lines, however the bytes are cut", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "é", "\u2028", "\u2029", "\u0085", "\r", "😀", "{") });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(50)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].toSorted((a, b) => a - b);
        const ends = [...places, bytes.length];
        const chunks = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
        expect(split(chunks)).toEqual(lines);
      }),
    );
  });

  test("gives what stands behind the last line feed", () => {
    expect(split([Buffer.from("one\ntw"), Buffer.from("o")])).toEqual(["one", "two"]);
    expect(split([Buffer.from("one\n")])).toEqual(["one"]);
  });

  test("tells a line that is too long once, and goes on behind it", () => {
    const long = Buffer.alloc(40, "x");
    expect(split([long, long, Buffer.from("\nnext\n"), long], 50)).toEqual(["TOO LONG", "next", "x".repeat(40)]);
    expect(split([long, long], 50)).toEqual(["TOO LONG"]);
    expect(split([Buffer.alloc(50, "x"), Buffer.from("\n")], 50)).toEqual(["x".repeat(50)]);
  });

  test("tells a line that is too long before it has ended, for it may never end", () => {
    const splitter = createLineSplitter(50);
    expect(splitter.push(Buffer.alloc(51, "x"))).toEqual([{ tooLong: true }]);
    expect(splitter.push(Buffer.alloc(1000, "x"))).toEqual([]);
    expect(splitter.push(Buffer.from("x\nnext\n")).map(shown)).toEqual(["next"]);
  });
});

test("text lines throw for one that is too long, whether or not it ends", () => {
  expect(createTextLines(4)(Buffer.from("é\r\nab\nrest"))).toEqual(["é\r", "ab"]);
  expect(() => createTextLines(4)(Buffer.from("abcde"))).toThrow("longer than 4 bytes");
  expect(() => createTextLines(4)(Buffer.from("abcde\n"))).toThrow("longer than 4 bytes");
});
