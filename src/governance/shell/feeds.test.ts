import { expect, test } from "vitest";
import { feedOf, printsPlainly } from "./feeds.ts";

const lister = (text: string) => ({
  words: text.split(" "),
  globbed: [],
  dynamic: [],
  redirects: [],
  hereDocument: false,
});

test("a search that lists files hands their names on", () => {
  const feed = { hidden: true, links: false, prefixed: true, split: true };
  expect(feedOf(lister("grep -rl add src test"), undefined)).toEqual({ roots: ["src", "test"], ...feed });
  for (const other of ["grep -l add src", "grep -r add src", "grep -rl add", "grep -Rl add src", "grep -rlo add src"]) {
    expect(feedOf(lister(other), undefined)).toBeUndefined();
  }
});

test("an answer is plain only when the words in it are", () => {
  expect(printsPlainly(["date", "+%F"])).toBe(true);
  expect(printsPlainly(["git", "rev-parse", "--short", "HEAD"])).toBe(true);
  expect(printsPlainly(["date", "+/etc/*"])).toBe(false);
  expect(printsPlainly(["git", "rev-parse", "--", "/etc/*"])).toBe(false);
  expect(printsPlainly(["seq", "-s", " ", "3"])).toBe(false);
});
