/**
 * Memories by how well they fit a text: whole tags first, then words of the name, the description and the body, rare words more than
 * common ones. A word also finds its forms, words of the trade that are related to it, and, where nobody has written it, words spelled
 * almost like it. Pure: the same memories and the same text give the same list.
 */
import { type Memory, once } from "#base";
import { tellingShares } from "./commonness.ts";
import { relatedWords } from "./related-words.ts";
import { joinedWordsOf, wordsOf, writtenWordsOf } from "./words.ts";

export interface RankedMemory {
  readonly memory: Memory;
  readonly score: number;
  /** Its tags that the text contains. */
  readonly tags: readonly string[];
  /** Words of the text that it has, rarest first: `restore`, or `ship ~ deploy` where it has the latter. */
  readonly words: readonly string[];
  /** What they share says nearly as much as a word that no other memory has. */
  readonly isTelling: boolean;
}

export interface MemoryRanking {
  /** Best first; those that share nothing with the text are not in it. */
  rank(text: string): readonly RankedMemory[];
}

/** How much a word counts by where it stands. */
const WEIGHTS = { tag: 4, name: 2.5, description: 3, keyword: 2.5, body: 1 } as const;
/** How much a whole tag counts besides its words. */
const TAG_BONUS = 2;
const SIMILAR_SHARE = 0.6;
/** Of what a word is worth that one memory alone has. */
const TELLING_SHARE = 0.85;
/** Of the trigrams of two words. */
const MIN_SIMILARITY = 0.55;
const MIN_SIMILAR_CHARS = 5;
/** Distinct words of a text that are looked up. */
const MAX_QUERY_WORDS = 200;
/** Words spelled almost alike that one word stands for. */
const MAX_SIMILAR = 3;
/** How soon further occurrences, and longer memories, count less: the usual constants of BM25. */
const [SATURATION, LENGTH_SHARE] = [1.2, 0.5];

interface Posting {
  readonly at: number;
  readonly weight: number;
}

interface Gain {
  readonly score: number;
  /** The word of the text, and that of the memory where it is another one. */
  readonly named: string;
}

export function createRanking(memories: readonly Memory[]): MemoryRanking {
  const [relatedTo, tellingShare] = [relatedWords(), tellingShares()];
  const postings = new Map<string, Posting[]>();
  const lengths: number[] = [];
  /** How the first memory that has a word writes it. */
  const written = new Map<string, string>();
  const tags = memories.map((memory) => memory.tags.map((tag) => ({ tag, words: wordsOf(tag) })));
  for (const [at, memory] of memories.entries()) {
    const weights = weightsOf(memory, written);
    let length = 0;
    for (const [word, weight] of weights) {
      const known = postings.get(word);
      if (known === undefined) postings.set(word, [{ at, weight }]);
      else known.push({ at, weight });
      length += weight;
    }
    lengths.push(length);
  }
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, memories.length);
  // Most inputs need it, and a session that only lists its memories does not.
  const trigrams = once(() => trigramIndex([...postings.keys()]));

  const rarityOf = (holders: number): number => Math.log(1 + (memories.length - holders + 0.5) / (holders + 0.5));
  const rarity = (word: string): number => rarityOf(postings.get(word)?.length ?? 0);
  const tellingScore = rarityOf(1) * TELLING_SHARE;

  /** What a word of the text may stand for, with how much it then counts. */
  function meanings(word: string): readonly (readonly [string, number])[] {
    const known = postings.has(word);
    const found: [string, number][] = known ? [[word, 1]] : [];
    for (const [other, share] of relatedTo(word)) if (postings.has(other)) found.push([other, share]);
    if (known || word.length < MIN_SIMILAR_CHARS) return found;
    return [...found, ...similarWords(word, trigrams()).map((other) => [other, SIMILAR_SHARE] as const)];
  }

  /** The memories that have a word, or one that it may stand for, with what each gains by the best of these. */
  function gains(word: string, as: string): ReadonlyMap<number, Gain> {
    const best = new Map<number, Gain>();
    const telling = tellingShare(word);
    for (const [meant, share] of meanings(word)) {
      const worth = rarity(meant) * share * telling;
      const named = meant === word ? as : `${as} ~ ${written.get(meant) ?? meant}`;
      for (const { at, weight } of postings.get(meant) ?? []) {
        const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[at] ?? 0)) / meanLength);
        const score = (worth * weight * (SATURATION + 1)) / (weight + norm);
        if (score > (best.get(at)?.score ?? 0)) best.set(at, { score, named });
      }
    }
    return best;
  }

  return {
    rank(text) {
      const asked = new Map<string, string>();
      for (const [word, as] of [...writtenWordsOf(text), ...joinedIn(text)]) {
        if (!asked.has(word) && asked.size < MAX_QUERY_WORDS) asked.set(word, as);
      }
      const scores = new Map<number, { score: number; words: string[] }>();
      const rarestFirst = [...asked].sort(([a], [b]) => rarity(b) - rarity(a));
      for (const [word, as] of rarestFirst) {
        for (const [at, { score, named }] of gains(word, as)) {
          const entry = scores.get(at) ?? { score: 0, words: [] };
          entry.score += score;
          entry.words.push(named);
          scores.set(at, entry);
        }
      }
      const ranked = [...scores].flatMap(([at, { score, words }]): RankedMemory[] => {
        const memory = memories[at];
        if (memory === undefined) return [];
        const whole = (tags[at] ?? []).filter(
          (one) => one.words.length > 0 && one.words.every((word) => asked.has(word)),
        );
        const total = whole.reduce((sum, one) => sum + tagBonus(one.words[0] ?? ""), score);
        const named = whole.map(({ tag }) => tag);
        return [{ memory, score: total, tags: named, words, isTelling: total >= tellingScore }];
      });
      return ranked.sort((a, b) => b.score - a.score || (keyOf(a.memory) < keyOf(b.memory) ? -1 : 1));
    },
  };

  function joinedIn(text: string): readonly (readonly [string, string])[] {
    return joinedWordsOf(text).flatMap((word) => (postings.has(word) ? [[word, written.get(word) ?? word]] : []));
  }

  function tagBonus(word: string): number {
    return TAG_BONUS * tellingShare(word) * Math.min(1, rarity(word) / 4);
  }
}

/** For a stable order, and for people. */
export function keyOf({ scope, name }: Pick<Memory, "scope" | "name">): string {
  return `${scope}/${name}`;
}

/** Adds to `written` how the words are written. */
function weightsOf(
  { name, description, tags, keywords = [], body }: Memory,
  written: Map<string, string>,
): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const [word, as] of writtenWordsOf(text)) {
      weights.set(word, (weights.get(word) ?? 0) + weight);
      if (!written.has(word)) written.set(word, as);
    }
  };
  add(tags.join(" "), WEIGHTS.tag);
  add(name, WEIGHTS.name);
  add(description, WEIGHTS.description);
  add(keywords.join("\n"), WEIGHTS.keyword);
  add(body, WEIGHTS.body);
  return weights;
}

type TrigramIndex = ReadonlyMap<string, readonly string[]>;

function trigramIndex(words: readonly string[]): TrigramIndex {
  const index = new Map<string, string[]>();
  for (const word of words) {
    if (word.length < MIN_SIMILAR_CHARS - 1) continue;
    for (const part of trigramsOf(word)) {
      const known = index.get(part);
      if (known === undefined) index.set(part, [word]);
      else known.push(word);
    }
  }
  return index;
}

function similarWords(word: string, index: TrigramIndex): readonly string[] {
  const own = trigramsOf(word);
  const shared = new Map<string, number>();
  for (const part of own) for (const other of index.get(part) ?? []) shared.set(other, (shared.get(other) ?? 0) + 1);
  return (
    [...shared]
      .map(([other, count]) => [other, (2 * count) / (own.size + other.length)] as const)
      // Hardly anybody mistypes the first letter.
      .filter(([other, similarity]) => similarity >= MIN_SIMILARITY && other[0] === word[0])
      .sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1))
      .slice(0, MAX_SIMILAR)
      .map(([other]) => other)
  );
}

/** With a mark at both ends: as many as the word has letters. */
function trigramsOf(word: string): ReadonlySet<string> {
  const marked = `^${word}$`;
  const parts = new Set<string>();
  for (let at = 0; at + 3 <= marked.length; at++) parts.add(marked.slice(at, at + 3));
  return parts;
}
