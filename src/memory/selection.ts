/**
 * Which memories join a turn, and why. Those of the tier `core` stand in the prompt of the whole session. Of the others the best
 * matches of the input join its turn, as many as fit. Pure: the same memories, input and conversation give the same choice.
 */
import { type Memory, type MemoryTier, memoryText } from "#base";
import { keyOf, type MemoryRanking, type RankedMemory } from "./ranking.ts";

/** Of the memories in the prompt of a session, estimated. */
export const CORE_TOKENS = 2_000;
/** Of those that join one turn, where the user does not say otherwise. */
export const TURN_TOKENS = 1_500;
/** Of them at most so many. */
const MAX_CHOSEN = 5;
/** Named as close, and left out. */
const MAX_LEFT_OUT = 5;
const BYTES_PER_TOKEN = 4;
/** Compared with the best match; weaker ones are noise. */
const MIN_SHARE = 0.4;
/** What was done lately matters more than what once happened. */
const TIER_SHARES: Readonly<Record<MemoryTier, number>> = { core: 1, working: 1.2, "long-term": 1, events: 0.8 };

export interface ConsideredMemory {
  readonly memory: Memory;
  readonly tokens: number;
  readonly isChosen: boolean;
  /** For people. */
  readonly why: string;
}

/** Those that fit, in an order that does not change with the input. */
export function coreMemories(memories: readonly Memory[]): readonly ConsideredMemory[] {
  let left = CORE_TOKENS;
  return memories
    .filter(({ tier }) => tier === "core")
    .map((memory) => {
      const tokens = memoryTokens(memory);
      const isChosen = tokens <= left;
      if (isChosen) left -= tokens;
      const why = isChosen
        ? "core memory"
        : `the core memories before it take the ${CORE_TOKENS} tokens for all of them`;
      return { memory, tokens, isChosen, why };
    });
}

export interface Choice {
  readonly input: string;
  readonly maxTokens: number;
  /** Whether the model has been shown this very text before, and still is. */
  readonly isKnown: (memory: Memory) => boolean;
}

/** Best first; behind them what came close. Those of the tier `core` are in the prompt and are not considered. */
export function chooseMemories(
  ranking: MemoryRanking,
  { input, maxTokens, isKnown }: Choice,
): readonly ConsideredMemory[] {
  const ranked = ranking
    .rank(input)
    .map((one) => ({ ...one, score: one.score * TIER_SHARES[one.memory.tier] }))
    .filter(({ memory, tags, isTelling }) => memory.tier !== "core" && (isTelling || tags.length > 0))
    .sort((a, b) => b.score - a.score || (keyOf(a.memory) < keyOf(b.memory) ? -1 : 1));
  const least = (ranked[0]?.score ?? 0) * MIN_SHARE;
  const considered: ConsideredMemory[] = [];
  let [left, count] = [maxTokens, 0];
  for (const one of ranked) {
    const tokens = memoryTokens(one.memory);
    const refused = whyNot(one, tokens);
    if (refused === undefined) {
      left -= tokens;
      count += 1;
    }
    considered.push({ memory: one.memory, tokens, isChosen: refused === undefined, why: refused ?? whyChosen(one) });
    if (considered.filter(({ isChosen }) => !isChosen).length >= MAX_LEFT_OUT) break;
  }
  return considered;

  function whyNot({ memory, score }: RankedMemory, tokens: number): string | undefined {
    if (isKnown(memory)) return "the conversation has it already";
    if (score < least) return "it matches much less than the best";
    if (count >= MAX_CHOSEN) return `${MAX_CHOSEN} memories match better`;
    return tokens > left ? `it does not fit into the ${maxTokens} tokens for a turn` : undefined;
  }
}

const MAX_NAMED = 5;

function whyChosen({ tags, words }: RankedMemory): string {
  if (tags.length > 0) return `tags: ${tags.slice(0, MAX_NAMED).join(", ")}`;
  return `words: ${words.slice(0, MAX_NAMED).join(", ")}`;
}

export function memoryTokens(memory: Memory): number {
  return Math.ceil(Buffer.byteLength(memoryText(memory)) / BYTES_PER_TOKEN);
}
