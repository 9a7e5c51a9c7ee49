/** The line of an event is found near it, wherever it is; lines that no writer of ours made are read from a place before them. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { seekEvent } from "./seek.ts";

const START = { id: 1, offset: 0 };
/** As far as a reader goes from there to the line. */
const NEAR_BYTES = 16 * 1024;
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-seek-"));
  path = join(directory, "events.jsonl");
});
afterEach(() => rmSync(directory, { recursive: true }));

function seek(lines: readonly string[], id: number, known = START): { readonly id: number; readonly offset: number } {
  const text = lines.map((line) => `${line}\n`).join("");
  writeFileSync(path, text);
  const file = openSync(path, "r");
  try {
    return seekEvent(file, known, Buffer.byteLength(text), id);
  } finally {
    closeSync(file);
  }
}

function offsetOf(lines: readonly string[], id: number): number {
  return lines.slice(0, id - 1).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}

const line = (id: number, chars: number): string => `{"id":${id},"kind":"K","payload":"${"é".repeat(chars)}"}`;

it("finds a line among 20,000 without reading those before it", () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => line(index + 1, 50 + ((index * 7) % 200)));
  for (const id of [1, 2, 11, 10_000, 19_990, 20_000]) {
    const place = seek(lines, id);
    expect(place.id).toBeLessThanOrEqual(id);
    expect(place.offset).toBe(offsetOf(lines, place.id));
    expect(offsetOf(lines, id) - place.offset).toBeLessThanOrEqual(NEAR_BYTES);
  }
});

it("gives a true place for lines of any length", () => {
  const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(60_000)), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(sizes, fc.nat(40), (chars, wanted) => {
      const lines = chars.map((count, index) => line(index + 1, count));
      const place = seek(lines, wanted + 1);
      expect(place.id).toBeLessThanOrEqual(Math.max(1, wanted + 1));
      expect(place.offset).toBe(offsetOf(lines, place.id));
    }),
    { numRuns: 50 },
  );
});

it("begins where it is told to when lines do not say their id first, or do not go up", () => {
  const foreign = Array.from(
    { length: 2000 },
    (_, index) => `{"kind":"K","id":${index + 1},"pad":"${"x".repeat(50)}"}`,
  );
  expect(seek(foreign, 1500)).toEqual(START);
  const same = Array.from({ length: 2000 }, () => line(1, 50));
  expect(seek(same, 1500)).toEqual(START);
});
