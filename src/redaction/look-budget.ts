/**
 * How often the rules may look at one text. Every name of a field or a vendor calls for a look, and text can be made of nothing else:
 * no file has them that close together, and whoever writes such text wants to keep us busy. What is behind the last look that fits
 * is withheld unread.
 */
import { charSet, codeAt, has } from "./char-set.ts";
import type { MarkerRange } from "./marker.ts";

/** Stands in the marker of what was withheld. */
export const UNREAD_KIND = "unread";

/** What a look costs on average, in tenths of a microsecond, and what a find costs besides, until it is replaced. */
export const LOOK_COSTS = { token: 1, context: 3, special: 3, url: 3, field: 5 } as const;
export const FIND_COST = 12;

/** For each text, so that a short one is read to its end whatever it is. */
const FREE_COST = 100_000;
/** As many characters does a marker pay for, and what it stands for no more: else a text with its secrets replaced could pay less. */
const SECRET_CHARS = 32;

export interface LookBudget {
  /** Of the looks and finds so far. */
  cost: number;
  /** A secret was found behind all others, or reaches farther. */
  cover(from: number, to: number): void;
  /** Whether the looks were too many for what is in front of `at`: more than half a unit for each character. */
  isOver(at: number): boolean;
}

/** For the pieces of a stream, each of which is short. Nobody asks what they cost. */
export const NO_BUDGET: LookBudget = { cost: 0, cover: () => undefined, isOver: () => false };

/** For a text that is read from `from` on. */
export function createLookBudget(from: number, markers: readonly MarkerRange[]): LookBudget {
  /** Characters that do not pay. Those of a secret count when the text behind it is reached. */
  let unpaid = from;
  let unpaidInside = 0;
  let coveredTo = 0;
  let passed = 0;
  const budget: LookBudget = {
    cost: 0,
    cover(start, to) {
      unpaidInside += Math.max(0, to - Math.max(start, coveredTo) - SECRET_CHARS);
      coveredTo = to;
    },
    isOver(at) {
      if (budget.cost <= FREE_COST) return false;
      if (at >= coveredTo) {
        unpaid += unpaidInside;
        unpaidInside = 0;
      }
      for (; passed < markers.length && markers[passed]!.to <= at; passed++) {
        unpaid += markers[passed]!.to - markers[passed]!.from - SECRET_CHARS;
      }
      return budget.cost > FREE_COST + ((at - unpaid) >> 1);
    },
  };
  return budget;
}

/** Some secrets are told by what stands behind them: a text that is not read from `at` on is withheld from here on, at least `from`. */
export function withheldFrom(text: string, from: number, at: number): number {
  let start = Math.max(from, at - LOOK_BACK_CHARS);
  const least = Math.max(from, start - MAX_WORD_CHARS);
  while (start > least && !has(BLANK, text.charCodeAt(start - 1))) start -= 1;
  return start > from && isLowSurrogate(codeAt(text, start)) ? start - 1 : start;
}

/** The end of a key without its beginning has the most. */
const LOOK_BACK_CHARS = 4_096;
/** A word is not cut in its middle, where it would be judged by its first part. */
const MAX_WORD_CHARS = 256;
const BLANK = charSet("\\s");

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
