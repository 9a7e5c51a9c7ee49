/** A compaction on one line, for every interface. */
import type { EventPayload } from "./events.ts";

/** `compacted 182k to 31k tokens`. */
export function compactionLine({
  tokens_before: before = 0,
  tokens_after: after = 0,
  strategy,
}: EventPayload<"CompactionTriggered">): string {
  const how = strategy === "prune" ? " (old results became references)" : "";
  return `compacted ${inThousands(before)} to ${inThousands(after)} tokens${how}`;
}

function inThousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}
