/** Finds tools by words: BM25 over names and descriptions, where a word also finds those that begin with it. */

export interface SearchableTool {
  readonly name: string;
  readonly description: string;
}

export interface ToolSearch<Entry extends SearchableTool> {
  /** The best ones first. */
  find(query: string, limit: number): readonly Entry[];
}

const NAME_WEIGHT = 3;
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
const MAX_QUERY_WORDS = 16;
/** Words that begin with one of the query; more would find everything. */
const MAX_LONGER_WORDS = 50;
const LONGER_WORD_WEIGHT = 0.6;

interface Posting {
  readonly entry: number;
  readonly weight: number;
}

export function createToolSearch<Entry extends SearchableTool>(entries: readonly Entry[]): ToolSearch<Entry> {
  const postings = new Map<string, Posting[]>();
  const lengths = entries.map(({ name, description }, entry) => {
    const weights = new Map<string, number>();
    const add = (word: string, weight: number) => weights.set(word, (weights.get(word) ?? 0) + weight);
    for (const word of wordsOf(name)) add(word, NAME_WEIGHT);
    for (const word of wordsOf(description)) add(word, 1);
    let length = 0;
    for (const [word, weight] of weights) {
      length += weight;
      const known = postings.get(word);
      if (known === undefined) postings.set(word, [{ entry, weight }]);
      else known.push({ entry, weight });
    }
    return length;
  });
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const words = [...postings.keys()].sort();

  function* matching(word: string): Iterable<readonly [string, number]> {
    let at = firstNotBefore(words, word);
    for (let count = 0; count < MAX_LONGER_WORDS && words[at]?.startsWith(word); count++, at++) {
      yield [words[at]!, words[at] === word ? 1 : LONGER_WORD_WEIGHT];
    }
  }

  return {
    find(query, limit) {
      const scores = new Map<number, number>();
      for (const wanted of new Set(wordsOf(query).slice(0, MAX_QUERY_WORDS))) {
        for (const [word, share] of matching(wanted)) {
          const found = postings.get(word) ?? [];
          const rarity = Math.log(1 + (entries.length - found.length + 0.5) / (found.length + 0.5));
          for (const { entry, weight } of found) {
            const norm = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * lengths[entry]!) / meanLength;
            const score = (rarity * share * weight * (SATURATION + 1)) / (weight + SATURATION * norm);
            scores.set(entry, (scores.get(entry) ?? 0) + score);
          }
        }
      }
      const ranked = [...scores].sort(([a, one], [b, other]) => other - one || a - b);
      return ranked.slice(0, limit).map(([entry]) => entries[entry]!);
    },
  };
}

/** `readTextFile`, `read_text-file` and `read.text/file` are all read, text, file. */
function wordsOf(text: string): string[] {
  return (
    text
      .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function firstNotBefore(sorted: readonly string[], word: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < word) low = middle + 1;
    else high = middle;
  }
  return low;
}
