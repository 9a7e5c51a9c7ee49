/**
 * How often the rules may look at one text. Every name of a field or a vendor calls for a look, and text can be made of nothing else:
 * no file has them that close together, and whoever writes such text wants to keep us busy. What is behind the last look that fits
 * is withheld unread.
 */

/** Stands in the marker of what was withheld. */
export const UNREAD_KIND = "unread";

/** What a look costs on average, in tenths of a microsecond, and what a find costs besides, until it is replaced. */
export const LOOK_COSTS = { token: 1, context: 3, special: 3, url: 3, field: 5 } as const;
export const FIND_COST = 8;

/** For each text, so that a short one is read to its end whatever it is. */
const FREE_COST = 100_000;

/** Whether looks for `cost` are too many for the first `chars` characters of a text: more than half a unit for each. */
export function isOverBudget(cost: number, chars: number): boolean {
  return cost > FREE_COST + (chars >> 1);
}
