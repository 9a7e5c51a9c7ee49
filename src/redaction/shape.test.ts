/** The pattern notation: what it takes, and what it says about a text that is cut. */
import { describe, expect, test } from "vitest";
import type { Probe } from "./probe.ts";
import { headsOf, matchShape, NEEDS_MORE, NO_MATCH, parseShape } from "./shape.ts";

let generation = 0;
function match(pattern: string, text: string, final = true): number {
  generation += 1;
  const probe: Probe = { text, end: text.length, final, generation, from: 0, to: 0, run: undefined };
  return matchShape(parseShape(pattern), probe, 0);
}

describe("a pattern", () => {
  test.each([
    ["ghp_[A-Za-z0-9]{4}", "ghp_ab12!", 8],
    ["a(?:bc|b)c", "abcc", 4],
    ["k[ab]?-[0-9]{1,3}", "k-12", 4],
    ["x\\.[\\w-]{2,}", "x.a-_b c", 6],
    ["[^\\s:]{2,}", "ab:c", 2],
  ])("%s takes %s up to %i", (pattern, text, end) => {
    expect(match(pattern, text)).toBe(end);
  });

  test.each([
    ["ghp_[a-z]{4}", "ghp_ab"],
    ["ghp_[a-z]{4}", "GHP_abcd"],
    ["a(?:b|c)", "ad"],
  ])("%s does not take %s", (pattern, text) => {
    expect(match(pattern, text)).toBe(NO_MATCH);
  });

  test.each([
    ["ghp_[a-z]{4}", "gh"],
    ["ghp_[a-z]{4}", "ghp_ab"],
    ["ghp_[a-z]{4,8}", "ghp_abcd"],
    ["a(?:bc|d)", "ab"],
  ])("%s needs more than %s when more can come", (pattern, text) => {
    expect(match(pattern, text, false)).toBe(NEEDS_MORE);
  });

  test("tells the texts that it can begin with", () => {
    expect(headsOf("sq[apu]_[a-f0-9]{40}")).toEqual(["sqa_", "sqp_", "squ_"]);
    expect(headsOf("sk-(?:live|test)_[a-z]{9}")).toEqual(["sk-live_", "sk-test_"]);
  });

  test.each(["a|b", "(a+)+", "a*", "[a-z", "", "a{2}{3}"])("%s is not in the notation", (pattern) => {
    expect(() => parseShape(pattern)).toThrow();
  });
});
