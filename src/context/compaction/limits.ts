/** How large a request may get before the conversation is compacted, and how much of that each kind of content may keep. Pure. */
import type { EventPayload } from "#protocol";

export type Trigger = NonNullable<EventPayload<"CompactionTriggered">["trigger"]>;

/** Of a window, for the request; the rest is for the answer, and for estimates that come out low. */
const WINDOW_PART = 0.8;
/** More than this is never left free, however large the window is. */
const MAX_RESERVE_TOKENS = 40_000;
/** `max_tokens` never leaves the conversation less than this: below it, every step would compact. */
export const MIN_ROOM_TOKENS = 8_000;

const TAIL_PART = 0.25;
const MAX_TAIL_TOKENS = 40_000;
/** On demand: whoever asks for it wants room, also in a very large window. */
const MAX_ASKED_TAIL_TOKENS = 8_000;
const KEPT_PART = 0.15;
const MAX_KEPT_TOKENS = 20_000;
const PINNED_PART = 0.15;
const MAX_PINNED_TOKENS = 20_000;
const SUMMARY_PART = 0.1;
const MAX_SUMMARY_TOKENS = 6_000;
/** References alone are enough when they bring the conversation below this part of its room. */
const PRUNED_ENOUGH_PART = 0.4;
/** Where no limit is known. */
const ASSUMED_LIMIT_TOKENS = 100_000;

export interface CompactionLimit {
  readonly tokens: number;
  readonly trigger: "window" | "max_tokens";
}

/** Undefined when neither is known. */
export function limitOf(
  window: number | undefined,
  maxTokens: number | undefined,
  fixedTokens: number,
): CompactionLimit | undefined {
  const hard = window && Math.floor(Math.max(window * WINDOW_PART, window - MAX_RESERVE_TOKENS));
  const soft = maxTokens && Math.max(maxTokens, Math.ceil(fixedTokens + MIN_ROOM_TOKENS));
  if (soft !== undefined && (hard === undefined || soft < hard)) return { tokens: soft, trigger: "max_tokens" };
  return hard === undefined ? undefined : { tokens: hard, trigger: "window" };
}

/** What may be left of each kind, in tokens as they are estimated. */
export interface Shares {
  readonly limit: number;
  readonly tail: number;
  readonly kept: number;
  readonly pinned: number;
  readonly summary: number;
  readonly prunedEnough: number;
}

export function sharesOf(limitTokens: number | undefined, fixedTokens: number, trigger: Trigger): Shares {
  const limit = limitTokens ?? ASSUMED_LIMIT_TOKENS;
  // A limit that the fixed part has used up leaves nothing to share: half of it is what a compaction then aims at.
  const room = Math.max(limit - fixedTokens, limit / 2);
  const part = (share: number, most: number): number => Math.floor(Math.min(room * share, most));
  return {
    limit,
    tail: part(TAIL_PART, trigger === "command" ? MAX_ASKED_TAIL_TOKENS : MAX_TAIL_TOKENS),
    kept: part(KEPT_PART, MAX_KEPT_TOKENS),
    pinned: part(PINNED_PART, MAX_PINNED_TOKENS),
    summary: part(SUMMARY_PART, MAX_SUMMARY_TOKENS),
    prunedEnough: limit - room * (1 - PRUNED_ENOUGH_PART),
  };
}
