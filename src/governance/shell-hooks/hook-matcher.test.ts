import { expect, test } from "vitest";
import { compileMatcher } from "./hook-matcher.ts";

const matches = (matcher: string, name: string) => compileMatcher({ matcher, source: "hooks.toml:1" })([name]);

test.each([
  ["Bash", "Bash", true],
  ["bash", "Bash", true],
  ["Edit | Write", "Write", true],
  ["Edit|Write", "MultiEdit", false],
  ["mcp__.*__write", "mcp__files__write", true],
  ["Edit, Write", "Write", true],
  ["Edit,Write", "MultiEdit", false],
  ["mcp__my-server__read|Bash", "mcp__my-server__read", true],
  ["mcp__my-server__read", "mcp__my-server__read_all", false],
  ["mcp__my-server", "mcp__my-server__read", true],
  ["mcp__my", "mcp__my-server__read", false],
  [".*", "Bash", true],
  ["|", "Bash", true],
])("%s and %s: %s", (matcher, name, expected) => {
  expect(matches(matcher, name)).toBe(expected);
});

test.each([["Bash(git push *)"], ["(("], [" "], ["Edit Write"]])(
  "%s, which guards nothing, is refused with its place",
  (matcher) => {
    expect(() => matches(matcher, "Bash")).toThrow("hooks.toml:1");
  },
);
