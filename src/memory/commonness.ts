/** How much a word of an input says by itself: common English words say little, also where few memories happen to have them. */
import { once } from "#base";
import { COMMON_WORDS } from "./common-words.ts";
import { stem } from "./words.ts";

const ranks = once(
  (): ReadonlyMap<string, number> =>
    new Map(
      COMMON_WORDS.trim()
        .split(/\s+/)
        .map((word, at) => [stem(word), at + 1]),
    ),
);

/** By stem: from near 0 for the commonest words to 1 for those that are not common. The first call of a process makes the table. */
export function tellingShares(): (word: string) => number {
  const known = ranks();
  const least = Math.log(known.size + 1);
  return (word) => {
    const rank = known.get(word);
    return rank === undefined ? 1 : Math.log(rank + 1) / least;
  };
}
