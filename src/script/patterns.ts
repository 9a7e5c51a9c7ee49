/** Regular expressions in linear time (RE2 syntax): a pattern from a file can be slow for nobody. Bounded on both sides. */
import { RE2JS, RE2JSException } from "re2js";
import { programCaches } from "#base";

const MAX_PATTERN_CHARS = 1_000;
const MAX_INPUT_CHARS = 500_000;
const MAX_MATCHES = 10_000;
const MAX_OUTPUT_CHARS = 4_000_000;
/** 800 of a plain pattern, 3,200 of one with many repetitions. */
const COMPILED_BYTES_PER_CHAR = 3_000;

/** The whole match, then each group; null for a group that took no part. */
export type Match = readonly (string | null)[];

/** Patterns that were compiled before. */
export interface Patterns {
  compile(pattern: string): RE2JS;
}

export function createPatterns(): Patterns {
  const known = programCaches.open<RE2JS>("compiled patterns");
  return {
    compile(pattern) {
      const found = known.get(pattern);
      if (found !== undefined) return found;
      if (pattern.length > MAX_PATTERN_CHARS) {
        throw new Error(`a pattern may have at most ${MAX_PATTERN_CHARS} characters`);
      }
      const compiled = compilePattern(pattern);
      known.set(pattern, compiled, pattern.length * COMPILED_BYTES_PER_CHAR);
      return compiled;
    },
  };
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (cause instanceof RE2JSException) throw new Error(cause.message, { cause });
    throw cause;
  }
}

export function checkInput(text: string): void {
  if (text.length > MAX_INPUT_CHARS) throw new Error(`at most ${MAX_INPUT_CHARS} characters are searched at once`);
}

export function matchAtStart(pattern: RE2JS, text: string): Match | null {
  const matcher = pattern.matcher(text);
  return matcher.lookingAt() ? groups(matcher) : null;
}

export function firstMatch(pattern: RE2JS, text: string): Match | null {
  const matcher = pattern.matcher(text);
  return matcher.find() ? groups(matcher) : null;
}

export function allMatches(pattern: RE2JS, text: string): Match[] {
  const matcher = pattern.matcher(text);
  const found: Match[] = [];
  while (matcher.find()) {
    if (found.length >= MAX_MATCHES) throw new Error(`more than ${MAX_MATCHES} matches`);
    found.push(groups(matcher));
  }
  return found;
}

/** Every match replaced; `$1` and `${1}` stand for groups, `$$` for a dollar. */
export function replaceMatches(pattern: RE2JS, text: string, replacement: string): string {
  const matcher = pattern.matcher(text);
  const parts = replacement.split(/(\$\$|\$\d+|\$\{\d+\})/);
  let out = "";
  let from = 0;
  for (let count = 0; matcher.find(); count++) {
    if (count >= MAX_MATCHES) throw new Error(`more than ${MAX_MATCHES} matches`);
    out += text.slice(from, matcher.start()) + expanded(parts, groups(matcher));
    from = matcher.end();
    if (out.length > MAX_OUTPUT_CHARS) throw new Error(`the result has more than ${MAX_OUTPUT_CHARS} characters`);
  }
  return out + text.slice(from);
}

function expanded(parts: readonly string[], match: Match): string {
  return parts
    .map((part, index) => {
      if (index % 2 === 0) return part;
      return part === "$$" ? "$" : (match[Number(part.replace(/\D/g, ""))] ?? "");
    })
    .join("");
}

function groups(matcher: { groupCount(): number; group(index: number): string | null }): Match {
  return Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index));
}
