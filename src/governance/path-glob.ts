/**
 * Path globs of rules without regular expressions: `*`, `?`, `[…]`, `{a,b}` and `**` across folders, in time bounded by the
 * product of both lengths. Whoever writes the path cannot make it slow.
 */
import { matchRuns } from "./wildcard.ts";

export interface GlobReading {
  /** Wildcards match a leading dot, and case does not matter. */
  readonly wide: boolean;
}

/** Longer paths cannot be opened. */
const MAX_PATH_CHARS = 4096;
const MAX_ALTERNATIVES = 64;

/** A function that says whether a path matches; a glob with too many alternatives matches every path when read widely, else none. */
export function compileGlob(glob: string, { wide }: GlobReading): (path: string) => boolean {
  const alternatives = expandBraces(wide ? glob.toLowerCase() : glob);
  if (alternatives === undefined) return () => wide;
  const patterns = alternatives.map((text) => text.split("/").map((segment) => compileSegment(segment, wide)));
  return (path) => {
    if (path.length > MAX_PATH_CHARS) return false;
    const names = (wide ? path.toLowerCase() : path).split("/");
    return patterns.some((pattern) => matchSegments(pattern, names, wide));
  };
}

type Segment = "any" | ((name: string) => boolean);

function matchSegments(pattern: readonly Segment[], names: readonly string[], wide: boolean): boolean {
  const keys = pattern.map((_, index) => String(index));
  const of = (key: string): Segment => pattern[Number(key)] ?? "any";
  return matchRuns(
    keys,
    names,
    (key) => (of(key) === "any" ? (name) => isWild(name, wide) : undefined),
    (key, name) => {
      const segment = of(key);
      return segment !== "any" && segment(name);
    },
  );
}

/** Whether a name can be matched by a wildcard at its beginning. */
function isWild(name: string, wide: boolean): boolean {
  return name !== "" && name !== "." && name !== ".." && (wide || !name.startsWith("."));
}

type Token = { readonly literal: string } | { readonly one: (char: string) => boolean } | "star";

function compileSegment(segment: string, wide: boolean): Segment {
  if (segment === "**") return "any";
  const tokens = tokensOf(segment);
  const [first] = tokens;
  const startsWild = first !== undefined && (first === "star" || "one" in first);
  const keys = tokens.map((_, index) => String(index));
  const isStar = (key: string): boolean => tokens[Number(key)] === "star";
  const takes = (key: string, char: string): boolean => {
    const token = tokens[Number(key)];
    if (token === undefined || token === "star") return false;
    return "literal" in token ? token.literal === char : token.one(char);
  };
  return (name) => {
    if (startsWild && !isWild(name, wide)) return false;
    return matchRuns(keys, [...name], (key) => (isStar(key) ? () => true : undefined), takes);
  };
}

function tokensOf(segment: string): Token[] {
  const chars = [...segment];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const close = char === "[" ? chars.indexOf("]", at + (/^[!^]$/.test(chars[at + 1] ?? "") ? 3 : 2)) : -1;
    if (char === "*") {
      if (tokens.at(-1) !== "star") tokens.push("star");
    } else if (char === "?") {
      tokens.push({ one: () => true });
    } else if (close > 0) {
      tokens.push({ one: bracket(chars.slice(at + 1, close)) });
      at = close;
    } else if (char === "\\" && at + 1 < chars.length) {
      tokens.push({ literal: chars[++at] ?? "" });
    } else {
      tokens.push({ literal: char });
    }
  }
  return tokens;
}

function bracket(inside: readonly string[]): (char: string) => boolean {
  const negated = inside[0] === "!" || inside[0] === "^";
  const listed = negated ? inside.slice(1) : inside;
  return (char) => {
    let found = false;
    for (let at = 0; at < listed.length; at++) {
      const from = listed[at] ?? "";
      const to = listed[at + 1] === "-" ? listed[at + 2] : undefined;
      found ||= to === undefined ? from === char : from <= char && char <= to;
      if (to !== undefined) at += 2;
    }
    return found !== negated;
  };
}

/** `{a,b}` and `{1..3}` written out; undefined when that is too much. */
function expandBraces(glob: string): readonly string[] | undefined {
  let pending: readonly string[] = [glob];
  for (let round = 0; round <= MAX_ALTERNATIVES; round++) {
    const next = pending.flatMap((text) => {
      const [whole = "", inside = ""] = /\{([^{}\\]*(?:,|\.\.)[^{}\\]*)\}/.exec(text) ?? [];
      if (whole === "") return [text];
      const at = text.indexOf(whole);
      return alternativesOf(inside).map((part) => text.slice(0, at) + part + text.slice(at + whole.length));
    });
    if (next.length > MAX_ALTERNATIVES) return undefined;
    if (next.length === pending.length && next.every((text, index) => text === pending[index])) return next;
    pending = next;
  }
  return undefined;
}

function alternativesOf(inside: string): readonly string[] {
  const [, from, to] = /^(\d{1,3})\.\.(\d{1,3})$/.exec(inside) ?? [];
  if (from === undefined || to === undefined) return inside.split(",");
  const [low, high] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))];
  return Array.from({ length: high - low + 1 }, (_, index) => String(low + index));
}
