/** Which rows of the conversation are final. Finished blocks are, in their order; so are the finished parts of an answer that streams. */

import { entriesFrom } from "./block-log.ts";
import { answerRows, blockRows, type RowStyle } from "./block-rows.ts";
import { type Transcript, withFinished } from "./transcript.ts";

export interface Settled {
  readonly rows: readonly string[];
  readonly transcript: Transcript;
}

/** The rows that are final and not printed yet, and the transcript in which they are. */
export function settle(before: Transcript, style: RowStyle): Settled {
  const moved = withFinished(before);
  const rows = entriesFrom(moved.finished, moved.printed).flatMap((block) => blockRows(block, style));
  const transcript = { ...moved, printed: moved.finished.to };
  const [first, ...rest] = transcript.blocks;
  if (first?.kind !== "answer") return { rows, transcript };
  const done = finishedMarkdown(first.text.slice(first.printed), style);
  const open = { ...first, printed: first.printed + done.length };
  return { rows: [...rows, ...answerRows(done, style)], transcript: { ...transcript, blocks: [open, ...rest] } };
}

/** All blocks of Markdown but the last one: nothing that follows can change them. */
function finishedMarkdown(text: string, { widgets }: RowStyle): string {
  // One line cannot hold two blocks.
  if (!text.includes("\n")) return "";
  const tokens = widgets.lexer(text);
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  // A link definition at the end would change what stands before it; the rendering of finished blocks does not wait for that.
  const done = tokens
    .slice(0, Math.max(0, last))
    .map(({ raw }) => raw)
    .join("");
  return text.startsWith(done) ? done : "";
}
