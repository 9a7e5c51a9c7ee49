import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { globsMeet, matchWildcard } from "./wildcard.ts";

describe("matchWildcard", () => {
  test.each([
    ["", "", true],
    ["*", "", true],
    ["*", "a/b c", true],
    ["a*c", "abbc", true],
    ["a*c", "abbd", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["*.ts", "a.ts.ts", true],
    ["fs.*", "fs.read", true],
    ["fs.*", "fsxread", false],
    ["a.b", "axb", false],
    ["a", "ab", false],
  ])("%j on %j is %j", (pattern, text, expected) => {
    expect(matchWildcard(pattern, text)).toBe(expected);
  });

  test("many stars on a long text that does not match end quickly", () => {
    const computedMs = computingTime();
    expect(matchWildcard(`${"*a".repeat(50)}b`, "a".repeat(5000))).toBe(false);
    expect(computedMs()).toBeLessThan(2000);
  });
});

describe("globsMeet", () => {
  test.each([
    [".e*", ".env", true],
    [".e[mn]v", ".env", true],
    ["*.ts", "*.pem", false],
    ["server.*", "*.pem", true],
    ["*", "id_rsa", true],
    ["a*b", "*c*", true],
    ["a?", "a", false],
    ["", "*", true],
  ])("%j and %j: %j", (left, right, expected) => {
    expect([globsMeet(left, right), globsMeet(right, left)]).toEqual([expected, expected]);
  });
});
