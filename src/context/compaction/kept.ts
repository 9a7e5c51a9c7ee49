/** What stays word for word when a conversation is compacted: what people said, and what others have pinned. Bounded and pure. */
import { cutMiddleBytes } from "#base";
import { blocksTokens, bytesOf, inputBlockOf, type Part, textTokens } from "#engine";
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
    const blocks = part.input.flatMap((block): InputBlock[] => {
      if (block.type !== "text" || "from" in block) return [inputBlockOf(block)];
      // Blanks say nothing, and would stay when what stood beside them no longer fits.
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
    });
    return [{ event: part.firstId, blocks }];
  });
  const kept: InputBlock[][] = [];
  let room = roomTokens;
  const newestFirst = inputs.toReversed();
  for (const [at, input] of newestFirst.entries()) {
    const olderTokens = roomTokens * OLDER_INPUT_PART;
    // The newest may only supplement the one before it, which then has to be there as well.
    const before = at > 0 ? 0 : blocksTokens(newestFirst[1]?.blocks ?? []);
    const fitting = fitInput(input, at > 0 ? Math.min(room, olderTokens) : room - Math.min(before, olderTokens));
    room -= blocksTokens(fitting);
    if (fitting.length > 0) kept.push(fitting);
  }
  return kept.toReversed().flat();
}

/** Each whole where there is room; a block that is too large is cut in the middle and says so. */
export function fittingPins(blocks: readonly PinnedBlock[], roomTokens: number): PinnedBlock[] {
  let room = roomTokens;
  const pins: PinnedBlock[] = [];
  for (const pin of blocks) {
    const text = cutMiddleBytes(pin.text, bytesOf(room));
    if (text === "") break;
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

/** Words take their room before files, and those before images; the order stays. */
function fitInput({ event, blocks }: Input, roomTokens: number): InputBlock[] {
  const fitting = new Map<InputBlock, InputBlock>();
  let room = roomTokens;
  for (const block of [...blocks].sort((a, b) => ROOM_ORDER.indexOf(a.type) - ROOM_ORDER.indexOf(b.type))) {
    const fitted = fitInto(block, room, event);
    if (fitted === undefined) continue;
    room -= blocksTokens([fitted]);
    fitting.set(block, fitted);
  }
  return blocks.flatMap((block) => fitting.get(block) ?? []);
}

function fitInto(block: InputBlock, roomTokens: number, event: number | undefined): InputBlock | undefined {
  if (blocksTokens([block]) <= roomTokens) return block;
  const bytes = bytesOf(roomTokens) - MARK_BYTES;
  // An image cannot be cut, and a few characters say nothing.
  if (block.type === "image" || bytes < MIN_CUT_BYTES) return undefined;
  const mark =
    event === undefined
      ? ""
      : `\n[harness: The middle of this input was removed. Read it whole with reread {"event": ${event}}.]`;
  return { ...block, text: `${cutMiddleBytes(block.text, bytes)}${mark}` };
}

const ROOM_ORDER: readonly InputBlock["type"][] = ["text", "file", "image"];
const MIN_CUT_BYTES = 200;
const MARK_BYTES = 120;
