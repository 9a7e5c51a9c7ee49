import { expect, test } from "vitest";
import { compileMatcher } from "./hook-matcher.ts";

const matches = (matcher: string, name: string) => compileMatcher({ matcher, source: "hooks.toml:1" })([name]);

test.each([
  ["Bash", "Bash", true],
  ["bash", "Bash", true],
  ["Edit | Write", "Write", true],
  ["Edit|Write", "MultiEdit", false],
  ["mcp__.*__write", "mcp__files__write", true],
  [".*", "Bash", true],
  ["|", "Bash", true],
])("%s and %s: %s", (matcher, name, expected) => {
  expect(matches(matcher, name)).toBe(expected);
});

test.each([["Bash(git push *)"], ["(("], [" "]])("%s, which guards nothing, is refused with its place", (matcher) => {
  expect(() => matches(matcher, "Bash")).toThrow("hooks.toml:1");
});
