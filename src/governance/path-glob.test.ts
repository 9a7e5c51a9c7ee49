import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { compileGlob } from "./path-glob.ts";

describe("compileGlob", () => {
  test.each([
    ["src/*", "src/a.ts", true, true],
    ["src/*", "src/a/b", false, false],
    ["src/**", "src/a/b", true, true],
    ["src/**", "src", true, true],
    ["**/.env", "a/b/.env", true, true],
    ["**", "a/.env", false, true],
    ["*", ".env", false, true],
    ["*", "..", false, false],
    ["a/**/b", "a/b", true, true],
    ["a/**/b", "a/x/y/b", true, true],
    ["*.{ts,md}", "a.md", true, true],
    ["v{1..3}", "v2", true, true],
    ["[a-c]x", "bx", true, true],
    ["[!a]x", "ax", false, false],
    ["\\*", "*", true, true],
    ["(a|b)", "(a|b)", true, true],
    ["A", "a", false, true],
    ["a?c", "abc", true, true],
    ["a\nb", "a\nb", true, true],
  ])("%j with %j: %j read narrowly, %j read widely", (glob, path, narrow, wide) => {
    expect([compileGlob(glob, { wide: false })(path), compileGlob(glob, { wide: true })(path)]).toEqual([narrow, wide]);
  });

  test("too many alternatives match nothing when read narrowly and everything when read widely", () => {
    const glob = "{a,b}".repeat(10);
    expect([compileGlob(glob, { wide: false })("abababab"), compileGlob(glob, { wide: true })("x")]).toEqual([
      false,
      true,
    ]);
  });

  test("a path that would make an expression backtrack is answered at once", () => {
    const computedMs = computingTime();
    expect(compileGlob("**/a/**/a/**/a/**/b", { wide: true })("a/".repeat(2000))).toBe(false);
    expect(compileGlob("*a*a*a*a*b", { wide: true })("a".repeat(4000))).toBe(false);
    expect(computedMs()).toBeLessThan(500);
  });
});
