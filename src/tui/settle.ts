/** Which rows of the conversation are final. Finished blocks are, in their order; so are the finished parts of an answer that streams. */
import { answerRows, blockRows, type RowStyle } from "./block-rows.ts";
import { isFinished, type Transcript } from "./transcript.ts";

export interface Settled {
  readonly rows: readonly string[];
  readonly transcript: Transcript;
}

/** Takes what is final out of the transcript. */
export function settle(transcript: Transcript, style: RowStyle): Settled {
  const { blocks } = transcript;
  const unfinished = blocks.findIndex((block) => !isFinished(block));
  const count = unfinished < 0 ? blocks.length : unfinished;
  const rows = blocks.slice(0, count).flatMap((block) => blockRows(block, style));
  const [first, ...rest] = blocks.slice(count);
  if (first?.kind !== "answer") return { rows, transcript: { ...transcript, blocks: blocks.slice(count) } };
  const { done, tail } = finishedMarkdown(first.text, style);
  const open = { ...first, text: tail };
  return { rows: [...rows, ...answerRows(done, style)], transcript: { ...transcript, blocks: [open, ...rest] } };
}

/** All blocks of Markdown but the last one: nothing that follows can change them. */
function finishedMarkdown(text: string, { widgets }: RowStyle): { readonly done: string; readonly tail: string } {
  // One line cannot hold two blocks.
  if (!text.includes("\n")) return { done: "", tail: text };
  const tokens = widgets.lexer(text);
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  // A link definition at the end would change what stands before it; the rendering of finished blocks does not wait for that.
  const done = tokens
    .slice(0, Math.max(0, last))
    .map(({ raw }) => raw)
    .join("");
  return text.startsWith(done) ? { done, tail: text.slice(done.length) } : { done: "", tail: text };
}
