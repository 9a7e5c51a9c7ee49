/** The one walk behind every pattern with stars: on a mismatch the last star takes one more item. Bounded by the product of both lengths. */

/** Whether all `items` match `pattern`; a part for which `isStar` holds stands for any run of items, also an empty one. */
export function matchStars<Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  isStar: (part: Part) => boolean,
  takes: (part: Part, item: Item, index: number) => boolean,
): boolean {
  let at = 0;
  let star = -1;
  let retry = 0;
  for (let index = 0; index < items.length; ) {
    const part = pattern[at];
    if (part !== undefined && isStar(part)) {
      star = at++;
      retry = index;
      // Within the bounds by the condition of the loop.
    } else if (part !== undefined && takes(part, items[index] as Item, index)) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++retry;
    } else {
      return false;
    }
  }
  for (let rest = pattern[at]; rest !== undefined && isStar(rest); rest = pattern[at]) at++;
  return at === pattern.length;
}
