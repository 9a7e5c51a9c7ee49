/** A file that a client sends: to the model it is content from outside, as a file of the workspace that an input mentions is. */
import { hasMarker } from "#base";
import type { ContextBlock, FileBlock, ImageBlock, InputBlock, TextBlock } from "#protocol";

const FROM = "file ";

/** What the conversation holds of a block of an input. */
export function conversationBlock(block: InputBlock): TextBlock | ImageBlock | ContextBlock {
  return block.type === "file" ? { type: "text", text: block.text, from: `${FROM}${block.name}` } : block;
}

/** The reverse. For blocks of an input alone: other content from outside was never a file of a client. */
export function inputBlockOf(block: TextBlock | ImageBlock | ContextBlock): InputBlock {
  if (!("from" in block)) return block;
  const { from, text } = block;
  return { type: "file", name: from.slice(FROM.length), text } satisfies FileBlock;
}

/** One of a recorded input in which secrets were redacted: the session is private from then on. */
export function redactedFile(content: readonly InputBlock[]): FileBlock | undefined {
  return content.filter((block) => block.type === "file").find(({ text }) => hasMarker(text));
}
