/** What stays word for word when a conversation is compacted: what people said, and what others have pinned. Bounded and pure. */
import { cutMiddle } from "#base";
import { blocksTokens, charsOf, type Part, textTokens } from "#engine";
import type { EventPayload, InputBlock } from "#protocol";
import { isBoundary, isStep } from "./plan.ts";

type Compaction = EventPayload<"CompactionTriggered">;
export type PinnedBlock = NonNullable<Compaction["pinned"]>[number];

/** An input that is not the newest may take this part of the room for all of them. */
const OLDER_INPUT_PART = 0.25;

/** The newest first as long as there is room; given back oldest first. */
export function keptInputs(replaced: readonly Part[], roomTokens: number): InputBlock[] {
  const inputs = replaced.flatMap((part): Input[] => {
    if (isBoundary(part)) return (part.compaction.kept ?? []).map((block) => ({ blocks: [block] }));
    if (isStep(part) || part.said === undefined) return [];
    const { firstId: event } = part;
    return [
      {
        event,
        blocks: part.input.map((block) => (block.type === "text" ? { type: "text", text: block.text } : block)),
      },
    ];
  });
  const kept: InputBlock[][] = [];
  let room = roomTokens;
  for (const { event, blocks } of inputs.toReversed()) {
    const own = kept.length === 0 ? room : Math.min(room, roomTokens * OLDER_INPUT_PART);
    const fitting = blocks.flatMap((block) => fitInto(block, own, event));
    const tokens = blocksTokens(fitting);
    if (fitting.length === 0) continue;
    if (tokens > room) break;
    room -= tokens;
    kept.push(fitting);
  }
  return kept.toReversed().flat();
}

/** Each whole where there is room; a block that is too large is cut in the middle and says so. */
export function fittingPins(blocks: readonly PinnedBlock[], roomTokens: number): PinnedBlock[] {
  let room = roomTokens;
  const pins: PinnedBlock[] = [];
  for (const pin of blocks) {
    const chars = charsOf(room);
    if (chars <= 0) break;
    const text = textTokens(pin.text) <= room ? pin.text : cutMiddle(pin.text, chars);
    room -= textTokens(text);
    pins.push({ ...pin, text });
  }
  return pins;
}

interface Input {
  /** Absent for what an earlier compaction has kept. */
  readonly event?: number;
  readonly blocks: readonly InputBlock[];
}

function fitInto(block: InputBlock, roomTokens: number, event: number | undefined): InputBlock[] {
  if (blocksTokens([block]) <= roomTokens) return [block];
  const chars = charsOf(roomTokens) - MARK_CHARS;
  // An image cannot be cut, and a few characters say nothing.
  if (block.type === "image" || chars < MIN_CUT_CHARS) return [];
  const mark =
    event === undefined
      ? ""
      : `\n[harness: The middle of this input was removed. Read it whole with reread {"event": ${event}}.]`;
  return [{ type: "text", text: `${cutMiddle(block.text, chars)}${mark}` }];
}

const MIN_CUT_CHARS = 200;
const MARK_CHARS = 120;
