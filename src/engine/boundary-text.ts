/**
 * What the model reads where the conversation was compacted: what people said as they said it, and everything else as data. Bounded by
 * the event that it is made from, and pure.
 */
import type { ContextBlock, EventPayload, ImageBlock, TextBlock, ToolResultBlock } from "#protocol";
import { conversationBlock } from "./sent-file.ts";

type Compaction = EventPayload<"CompactionTriggered">;

/** The message that stands for everything up to the boundary. */
export function boundaryBlocks(compaction: Compaction): readonly (TextBlock | ImageBlock | ContextBlock)[] {
  const { summary, kept = [], pinned = [], files = [] } = compaction;
  const said =
    kept.length === 0
      ? []
      : [note("What people said before this point, word for word, oldest first:"), ...kept.map(conversationBlock)];
  return [
    note(
      "The conversation before this point was compacted. Continue the work. What follows is all that is left of it. A result that is named by a number can be read again with reread.",
    ),
    ...said,
    ...pinned.map(({ text, from }) => (from === undefined ? ({ type: "text", text } as const) : data(from, text))),
    ...(files.length === 0 ? [] : [data("files", fileLines(files))]),
    data("summary", summary),
  ];
}

/** In the place of a result; small, so that it is never worth removing again. */
export function prunedBlock(
  { tool_use_id, is_error }: ToolResultBlock,
  { result, tokens }: NonNullable<Compaction["pruned"]>[number],
): ToolResultBlock {
  const text = `[harness: This result of about ${tokens} tokens was removed to save room. Read it again with reread {"event": ${result}} if you need it.]`;
  return { type: "tool_result", tool_use_id, content: [{ type: "text", text }], is_error, refused: true };
}

function note(text: string): TextBlock {
  return { type: "text", text: `[harness: ${text}]` };
}

function data(from: string, text: string): ContextBlock {
  return { type: "text", text, from };
}

function fileLines(files: NonNullable<Compaction["files"]>): string {
  const lines = files.map(
    ({ path, changed, sha256 }) => `${changed ? "changed" : "read"} ${path}${sha256 === undefined ? "" : ` ${sha256}`}`,
  );
  return ["Files that calls have read or changed, with their hash when the conversation was compacted:", ...lines].join(
    "\n",
  );
}
