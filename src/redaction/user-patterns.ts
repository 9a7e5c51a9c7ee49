/**
 * Patterns that users add. They run on a linear-time engine, in pieces, and the clock is looked at between the pieces: a text
 * for which they need longer than their budget is refused, never let through.
 */
import type { RE2JS } from "re2js";
import type { Clock } from "#base";
import { NAME, runEnd } from "./char-set.ts";
import { failure } from "./fail-closed.ts";
import { RuleError } from "./rule-error.ts";
import { RANK_USER_PATTERN } from "./rule-table.ts";
import type { Finding } from "./scanner.ts";

export interface UserPattern {
  /** Stands in the marker: letters, digits, `_`, `.` and `-`. */
  readonly kind: string;
  /** RE2 syntax. */
  readonly pattern: string;
}

/** Patterns that are ready to be used. */
export interface UserPatterns {
  readonly patterns: readonly UserPattern[];
  /** What they find at or behind `from`; throws a RuleError when that takes too long. */
  find(text: string, from: number): Finding[];
}

const MAX_PATTERNS = 100;
const MAX_PATTERN_CHARS = 1_000;
const MAX_KIND_CHARS = 40;
const PIECE_CHARS = 16_384;
/** A match may be this long; pieces overlap by it, and a stream keeps back as much. */
export const USER_MATCH_MAX_CHARS = 256;
/** For one text. */
const USER_PATTERN_BUDGET_MS = 250;

/** Loads the engine, which nobody without patterns has to wait for. Throws `RedactionFailed` on a pattern that cannot be used. */
export async function compileUserPatterns(
  patterns: readonly UserPattern[],
  clock: Pick<Clock, "monotonicMs">,
  budgetMs = USER_PATTERN_BUDGET_MS,
): Promise<UserPatterns> {
  try {
    if (patterns.length > MAX_PATTERNS) throw new RuleError(`there are more than ${MAX_PATTERNS} user patterns`);
    const engine = await import("re2js");
    const compiled = patterns.map((pattern) => compile(pattern, engine.RE2JS));
    return { patterns, find: createFind(compiled, clock, budgetMs) };
  } catch (error) {
    throw failure(error);
  }
}

interface Compiled {
  readonly kind: string;
  readonly regex: RE2JS;
}

function createFind(
  compiled: readonly Compiled[],
  clock: Pick<Clock, "monotonicMs">,
  budgetMs: number,
): UserPatterns["find"] {
  return (text, from) => {
    const findings: Finding[] = [];
    const startMs = clock.monotonicMs();
    for (const { kind, regex } of compiled) {
      for (let piece = from; piece < text.length; piece += PIECE_CHARS) {
        // One character more in front, so that `^` and `\b` do not see a beginning where there is none.
        const before = Math.max(0, piece - 1);
        const matcher = regex.matcher(text.slice(before, piece + PIECE_CHARS + USER_MATCH_MAX_CHARS));
        while (matcher.find()) {
          const start = before + matcher.start();
          const to = before + matcher.end();
          // What begins in the part that the next piece has as well is left to that one.
          const isHere = start >= piece && start < piece + PIECE_CHARS && to > start;
          if (isHere) findings.push({ from: start, to, kind, rank: RANK_USER_PATTERN, run: undefined });
        }
        if (clock.monotonicMs() - startMs > budgetMs) {
          throw new RuleError(`the user patterns took longer than ${budgetMs} ms`);
        }
      }
    }
    return findings;
  };
}

function compile({ kind, pattern }: UserPattern, engine: Pick<typeof RE2JS, "compile">): Compiled {
  const nameEnd = runEnd(NAME, kind, 0, kind.length);
  if (kind === "" || nameEnd < kind.length || kind.length > MAX_KIND_CHARS) {
    throw new RuleError("the kind of a user pattern is 1 to 40 letters, digits, '_', '.' or '-'");
  }
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new RuleError(`the user pattern ${kind} is longer than ${MAX_PATTERN_CHARS} characters`);
  }
  try {
    const regex = engine.compile(pattern);
    if (regex.matches("")) throw new Error("it matches the empty text");
    return { kind, regex };
  } catch (error) {
    throw new RuleError(`the user pattern ${kind} cannot be used: ${whyOf(error)}`);
  }
}

/** What is wrong, without the pattern: people write secrets there as they are. So the error of the engine is no cause either. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  const quoted = why.indexOf("`");
  return quoted < 0 ? why : why.slice(0, quoted).replace(/[:\s]+$/, "");
}
