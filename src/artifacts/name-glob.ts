/** Shell-style patterns over tool names: `*`, `?`, `[a-z]`, `[!a-z]`. No regular expressions: time is bounded by both lengths. */
import { matchStars } from "#base";

/** `any`: a run of characters, also an empty one; `one`: any character; otherwise a character or a set of them. */
type Part =
  | "any"
  | "one"
  | { readonly char: string }
  | { readonly ranges: readonly (readonly [string, string])[]; readonly not: boolean };

export const MAX_PATTERN_LENGTH = 200;

/** Why it is no pattern; undefined when it is one. */
export function globFault(pattern: string): string | undefined {
  if (pattern.trim() === "") return "the pattern is empty";
  if (pattern.length > MAX_PATTERN_LENGTH) return `the pattern is longer than ${MAX_PATTERN_LENGTH} characters`;
  if (/\s/.test(pattern)) return "tool names do not contain white space";
  return parse(pattern) === undefined ? "a `[` is not closed, or the brackets are empty" : undefined;
}

/** False for a pattern with a fault. */
export function globMatches(pattern: string, name: string): boolean {
  const parts = parse(pattern);
  return parts !== undefined && walk(parts, [...name], (part, char) => takes(part, char));
}

/** True only when everything that `inner` matches is matched by `outer`. Errs towards false. */
export function globCovers(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  const outerParts = parse(outer);
  const innerParts = parse(inner);
  if (outerParts === undefined || innerParts === undefined) return false;
  return walk(outerParts, innerParts, (part, item) => {
    if (item === "any") return false;
    if (part === "one") return true;
    return typeof item === "object" && "char" in item && takes(part, item.char);
  });
}

export function hasWildcard(pattern: string): boolean {
  return /[*?[]/.test(pattern);
}

function walk<Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  same: (part: Part, item: Item) => boolean,
): boolean {
  return matchStars(pattern, items, (part) => part === "any", same);
}

function takes(part: Part, char: string): boolean {
  if (part === "any" || part === "one") return true;
  if ("char" in part) return part.char === char;
  return part.ranges.some(([from, to]) => from <= char && char <= to) !== part.not;
}

function parse(pattern: string): readonly Part[] | undefined {
  const chars = [...pattern];
  const parts: Part[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    if (char === "*") parts.push("any");
    else if (char === "?") parts.push("one");
    else if (char === "[") {
      const end = chars.indexOf("]", at + 1);
      const inside = chars.slice(at + 1, end);
      const not = inside[0] === "!" || inside[0] === "^";
      const members = not ? inside.slice(1) : inside;
      if (end < 0 || members.length === 0) return undefined;
      parts.push({ ranges: toRanges(members), not });
      at = end;
    } else parts.push({ char });
  }
  return parts;
}

function toRanges(members: readonly string[]): (readonly [string, string])[] {
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at++) {
    const from = members[at] ?? "";
    const to = members[at + 1] === "-" ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return ranges;
}
