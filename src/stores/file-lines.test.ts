import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fileLines, readTextLines } from "./file-lines.ts";

const directory = mkdtempSync(join(tmpdir(), "harness-lines-"));
afterAll(() => rmSync(directory, { recursive: true }));
const path = join(directory, "lines");

it("splits at newlines only, across pieces of the file, and knows where each line begins", () => {
  const long = "é".repeat(400_000);
  const lines = ["a", "", `b\u2028c\r`, long, "d"];
  writeFileSync(path, lines.join("\n"));
  expect([...readTextLines(path, 1_000_000)]).toEqual(lines);
  const bytes = Buffer.from(lines.join("\n"));
  const file = openSync(path, "r");
  for (const line of fileLines(file, 0, bytes.length)) {
    expect(bytes.subarray(line.start, line.start + line.bytes.length).equals(line.bytes)).toBe(true);
  }
  const [second] = fileLines(file, 2, bytes.length);
  expect(second).toEqual({ bytes: Buffer.alloc(0), start: 2 });
  closeSync(file);
});

it("gives no line for an empty file and none after the last newline", () => {
  writeFileSync(path, "");
  expect([...readTextLines(path, 10)]).toEqual([]);
  writeFileSync(path, "a\n");
  expect([...readTextLines(path, 10)]).toEqual(["a"]);
});

it("refuses a line above its bound and one that is not UTF-8", () => {
  writeFileSync(path, "x".repeat(600_000));
  expect(() => [...readTextLines(path, 300_000)]).toThrow("longer than 300000 bytes");
  writeFileSync(path, Buffer.from([0x61, 0x0a, 0xc3, 0x28]));
  expect(() => [...readTextLines(path, 10)]).toThrow("line 2 is not UTF-8");
});
