/**
 * What to remove from a conversation: old results first, then everything before the last turns and steps. Pure; a plan names events
 * and calls, so that the same plan means the same in every fold of the log.
 */
import { blocksTokens, type Part, type Said, type Step } from "#engine";
import type { CallId, EventPayload } from "#protocol";
import type { Shares, Trigger } from "./limits.ts";

/** Smaller results cost less than the reference in their place saves. */
const MIN_PRUNED_TOKENS = 150;
/** Less than this is not worth a boundary. */
const MIN_REPLACED_TOKENS = 400;
/** About the size of a reference. */
const REFERENCE_TOKENS = 45;

export type PrunedResult = NonNullable<EventPayload<"CompactionTriggered">["pruned"]>[number];

export interface Plan {
  /** Results to replace by references. */
  readonly pruned: readonly PrunedResult[];
  /** Absent: references are enough. */
  readonly boundary?: {
    readonly event: number;
    /** What is replaced by a summary, oldest first. */
    readonly replaced: readonly Part[];
    /** What follows it. */
    readonly tail: readonly Part[];
  };
}

export interface PlanOptions {
  readonly trigger: Trigger;
  readonly shares: Shares;
  /** What the request has besides the conversation. */
  readonly fixedTokens: number;
  /** Turns that may stay as they are; absent: as many as fit. */
  readonly maxTurns?: number;
}

/** Undefined when nothing can be removed. */
export function planCompaction(parts: readonly Part[], options: PlanOptions): Plan | undefined {
  const { trigger, shares, fixedTokens } = options;
  const cut = cutOf(parts, options);
  const [old, tail] = [parts.slice(0, cut), parts.slice(cut)];
  const pruned = old.flatMap((part) => prunable(part));
  const total = fixedTokens + tokensOf(parts);
  const mayPruneOnly = trigger !== "command" && trigger !== "max_history";
  if (mayPruneOnly && pruned.length > 0 && total - saved(pruned) <= shares.prunedEnough) return { pruned };
  const reserved = fixedTokens + shares.kept + shares.summary;
  const last = trigger === "command" ? [] : prunedFromTail(tail, tokensOf(tail) + reserved - shares.limit);
  const replaced = old.filter((part) => !isEmpty(part));
  const next = tail[0];
  // A summary of a summary alone removes nothing, and one of a few words is longer than they are.
  const fresh = tokensOf(replaced.filter((part) => !isBoundary(part)));
  if (next !== undefined && fresh >= (trigger === "max_history" ? 1 : MIN_REPLACED_TOKENS)) {
    return { pruned: last, boundary: { event: next.firstId - 1, replaced, tail } };
  }
  return last.length === 0 ? undefined : { pruned: last };
}

/** The index of the first part that stays: where a turn or a step begins, so that no call is parted from its result. */
function cutOf(parts: readonly Part[], { shares, maxTurns = Number.POSITIVE_INFINITY, trigger }: PlanOptions): number {
  let cut = parts.length;
  let tokens = 0;
  let turns = 0;
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at];
    if (part === undefined || isBoundary(part)) break;
    tokens += tokensOf([part]);
    // The newest step, or the input that nobody has answered, stays whatever it costs; on demand nothing has to.
    if (tokens > shares.tail && (cut < parts.length || trigger === "command")) break;
    if (!beginsHere(part)) continue;
    cut = at;
    if (isStep(part) || part.input.length === 0) continue;
    turns += 1;
    if (turns >= maxTurns) break;
  }
  // Without a place to begin there is nothing to part.
  return cut < parts.length ? cut : 0;
}

/** The largest first, until so many tokens are saved. */
function prunedFromTail(tail: readonly Part[], tooMany: number): readonly PrunedResult[] {
  const all = tail.flatMap((part) => prunable(part)).toSorted((a, b) => b.tokens - a.tokens);
  const chosen: PrunedResult[] = [];
  let left = tooMany;
  for (const result of all) {
    if (left <= 0) break;
    chosen.push(result);
    left -= result.tokens;
  }
  return chosen;
}

function prunable(part: Part): readonly PrunedResult[] {
  if (!isStep(part)) return [];
  return [...part.resultIds].flatMap(([callId, result]) => {
    const block = part.results.get(callId);
    const tokens = block === undefined ? 0 : Math.round(blocksTokens([block]) - REFERENCE_TOKENS);
    return tokens < MIN_PRUNED_TOKENS ? [] : [{ call_id: callId, name: nameOf(part, callId), result, tokens }];
  });
}

function nameOf({ blocks }: Step, callId: CallId): string {
  for (const block of blocks.values()) if (block.type === "tool_use" && block.id === callId) return block.name;
  return "";
}

function saved(pruned: readonly PrunedResult[]): number {
  return pruned.reduce((sum, { tokens }) => sum + tokens, 0);
}

export function tokensOf(parts: readonly Part[]): number {
  let tokens = 0;
  for (const part of parts) {
    if (!isStep(part)) tokens += blocksTokens(part.input);
    else {
      tokens += blocksTokens([...part.blocks.values()]);
      for (const result of part.results.values()) if (result !== undefined) tokens += blocksTokens([result]);
    }
  }
  return tokens;
}

/** Turns with an input that are not behind the boundary. */
export function turnsOf(parts: readonly Part[]): number {
  return parts.filter((part) => !isStep(part) && part.said?.beginsTurn === true && part.input.length > 0).length;
}

export function isStep(part: Part): part is Step {
  return !("input" in part);
}

export function isBoundary(part: Part): part is Said & Required<Pick<Said, "compaction">> {
  return !isStep(part) && part.compaction !== undefined;
}

/** All events of what is before it are before it in the log, too. */
function beginsHere(part: Part): boolean {
  return isStep(part) || part.said?.beginsTurn === true;
}

function isEmpty(part: Part): boolean {
  return isStep(part) ? part.blocks.size === 0 : part.input.length === 0;
}
